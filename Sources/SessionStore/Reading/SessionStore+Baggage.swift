package import SceneModel

extension SessionStore {
  /// The contents of a delivery; `nil` if it has none, or if the row does not parse, which is reported.
  package func baggage(_ delivery: UniqueIdentifier) throws(StoreError) -> Baggage? {
    if let change = tail.baggage[delivery] { return change?.baggage }
    var query = try database().query("SELECT \(Baggage.columns) FROM baggage WHERE delivery = ?")
    query.put(delivery)
    guard try query.step() else { return nil }
    do throws(Malformed) {
      return try Baggage(from: &query, rules)
    } catch {
      passOver("the baggage of the delivery \(delivery)", error)
      return nil
    }
  }

  /// The size and the owner of the contents of each delivery, in the order in which they came. This reads no document.
  package func baggageSummaries() throws(StoreError) -> [BaggageSummary] {
    var summaries: [BaggageSummary] = []
    var query = try database().query(SessionStore.findingBaggage)
    while try query.step() {
      do throws(Malformed) {
        let (delivery, bytes) = (try query.identifier(), Int(try query.count(atMost: 1 << 44)))
        var (session, isOpen) = (try query.optionalIdentifier(), try query.optionalInteger().map { $0 != 0 })
        // The log has other contents, or the release.
        if tail.baggage[delivery] != nil { continue }
        let change = tail.deliveries[delivery]
        // Changes of a forgotten delivery have no effect.
        if let progress = change?.progress, isOpen != nil || change?.isWhole == true {
          (session, isOpen) = (progress.session, progress.isOpen)
        }
        summaries.append(BaggageSummary(delivery: delivery, session: session, bytes: bytes, isOpen: isOpen ?? false))
      } catch {
        passOver("the baggage of a delivery", error)
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

  /// For a forgotten delivery this returns neither a session nor whether it is open.
  private static let findingBaggage = """
    SELECT baggage.delivery, baggage.bytes, delivery.session, delivery.is_open
      FROM baggage LEFT JOIN delivery ON delivery.identifier = baggage.delivery ORDER BY baggage.number
    """
}
