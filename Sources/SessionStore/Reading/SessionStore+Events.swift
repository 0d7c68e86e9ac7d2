package import SceneModel

extension SessionStore {
  /// The number of the oldest event that can still be read; without one, the number of the next event.
  package var firstEventSequence: UInt64 {
    max(UInt64(ledger.firstEvent), lastEventSequence + 1 - min(lastEventSequence, UInt64(history.events)))
  }

  /// The events after a number, oldest first, as far as they are kept.
  package func events(
    after sequence: UInt64, of application: Text? = nil, limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    let first = max(firstEventSequence, sequence == .max ? sequence : sequence + 1)
    var events: [StoredEvent] = []
    if first > lastEventSequence { return events }
    var query = try database().query(
      "SELECT \(StoredEvent.columns) FROM event WHERE sequence >= ? AND sequence <= ?"
        + (application == nil ? "" : " AND application = ?") + " ORDER BY sequence")
    query.put(Int64(clamping: first))
    query.put(ledger.lastEvent)
    if let application { query.put(application) }
    while events.count < limit, try query.step() {
      do throws(Malformed) {
        events.append(try StoredEvent(from: &query))
      } catch {
        passOver("event \(query.number(at: 0))", error)
      }
    }
    let newer = tail.events.lazy.filter {
      $0.sequence >= first && (application == nil || $0.application == application)
    }
    events += newer.prefix(max(0, limit - events.count))
    return events
  }
}
