/// How much is kept of what is over. What somebody is still owed is no history, and is kept.
package struct HistoryLimits: Sendable {
  /// Deliveries that are over, and their tokens with them: a day of one every ten seconds, some 10 MB.
  package let deliveries: Int64
  /// Of each sender the newest of these that have a token are kept beside them: a flood of one takes no other's token away.
  package let tokens: Int64
  /// Events: as many as go with those deliveries, so that a watcher that can still ask about one can also read how it
  /// went.
  package let events: Int64
  /// Microseconds. A week, so that whoever was away for a weekend or on a short leave can go on where he was.
  package let age: Int64

  package init(deliveries: Int64 = 10_000, events: Int64 = 50_000, age: Int64 = 7 * 86_400_000_000) {
    self.deliveries = max(0, deliveries)
    tokens = self.deliveries / 10
    self.events = max(0, events)
    self.age = max(0, age)
  }
}
