package import SceneModel

extension SessionStore {
  /// What a delivery carries. `nil` where it carries nothing, or where the row does not parse, which is reported.
  package func baggage(_ delivery: UniqueIdentifier) throws(StoreError) -> Baggage? {
    if let change = tail.baggage[delivery] { return change?.baggage }
    let database = try database()
    var query = try database.query("SELECT \(Baggage.columns) FROM baggage WHERE delivery = ?")
    query.put(delivery)
    guard try query.step() else { return nil }
    do throws(Malformed) {
      return try Baggage(from: &query, rules)
    } catch {
      report("\(database.name): the baggage of the delivery \(delivery) is passed over: \(error.reason)")
      return nil
    }
  }

  /// Of everything that deliveries carry, how much it is and who waits for it, in the order in which it came. No document is read.
  package func baggageSummaries() throws(StoreError) -> [BaggageSummary] {
    let database = try database()
    var summaries: [BaggageSummary] = []
    var query = try database.query(SessionStore.findingBaggage)
    while try query.step() {
      do throws(Malformed) {
        let (delivery, bytes) = (try query.identifier(), Int(clamping: try query.integer()))
        var (session, isOpen) = (try query.optionalIdentifier(), try query.optionalInteger().map { $0 != 0 })
        // The log has other baggage, or the release.
        if tail.baggage[delivery] != nil { continue }
        let change = tail.deliveries[delivery]
        // What happened to a delivery that is forgotten changes nothing.
        if let progress = change?.progress, isOpen != nil || change?.isWhole == true {
          (session, isOpen) = (progress.session, progress.isOpen)
        }
        summaries.append(BaggageSummary(delivery: delivery, session: session, bytes: bytes, isOpen: isOpen ?? false))
      } catch {
        report("\(database.name): the baggage of a delivery is passed over: \(error.reason)")
      }
    }
    let added = tail.baggage.values.compactMap { $0 }.sorted { $0.number < $1.number }
    for baggage in added.map(\.baggage) {
      let progress = try numbered(baggage.delivery)?.summary.progress
      summaries.append(
        BaggageSummary(
          delivery: baggage.delivery, session: progress?.session, bytes: baggage.keptBytes,
          isOpen: progress?.isOpen ?? false))
    }
    return summaries
  }

  /// A delivery that is forgotten answers neither a session nor whether it is open.
  private static let findingBaggage = """
    SELECT baggage.delivery, baggage.bytes, delivery.session, delivery.is_open
      FROM baggage LEFT JOIN delivery ON delivery.identifier = baggage.delivery ORDER BY baggage.number
    """
}
