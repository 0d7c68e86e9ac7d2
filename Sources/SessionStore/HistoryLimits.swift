/// The length of the history. Everything that somebody still waits for is not history, and is kept.
package struct HistoryLimits: Sendable {
  /// Deliveries that are over, with their tokens: a day with one delivery every ten seconds, some 10 MB.
  package let deliveries: Int64
  /// The newest deliveries of each sender with a token are kept in addition: a flood from one sender removes no token of another.
  package let tokens: Int64
  /// Events: as many as those deliveries have, so that a watcher that can still ask about a delivery can also read its events.
  package let events: Int64
  /// Microseconds. A week, so that somebody who was away for a weekend or a short leave can continue.
  package let age: Int64

  package init(deliveries: Int64 = 10_000, events: Int64 = 50_000, age: Int64 = 7 * 86_400_000_000) {
    self.deliveries = max(0, deliveries)
    tokens = self.deliveries / 10
    self.events = max(0, events)
    self.age = max(0, age)
  }
}
