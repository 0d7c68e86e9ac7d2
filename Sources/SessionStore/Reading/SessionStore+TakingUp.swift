package import SceneModel

extension SessionStore {
  /// What somebody still waits for, in the order in which it came, for a service that begins: with what the core keeps of each beside the summary.
  package func openDeliveriesToTakeUp() throws(StoreError) -> [DeliverySummary] {
    var open = try openDeliveries()
    for place in open.indices {
      let identifier = open[place].identifier
      if case .whole(let delivery, _) = tail.deliveries[identifier] {
        (open[place].isPrivate, open[place].previousBy) = (delivery.isPrivate, delivery.previous.shownBy)
        continue
      }
      var query = try database().query("SELECT is_private, previous_by FROM delivery WHERE identifier = ?")
      query.put(identifier)
      guard try query.step() else { continue }
      open[place].isPrivate = query.number(at: 0) != 0
      query.skip(1)
      open[place].previousBy = try? query.optionalIdentifier()
      if case .changed(_, let previous?) = tail.deliveries[identifier] { open[place].previousBy = previous.shownBy }
    }
    return open
  }
}
