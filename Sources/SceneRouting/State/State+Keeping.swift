package import SceneModel

extension State {
  /// How many sessions of a configuration are looked at, the oldest first. If deliveries are on their way to all of these, others are given up
  /// later.
  private static let lookedAtOnce = 1_024

  /// The sessions beyond the number that an application keeps: those without a scene that were activated longest ago.
  ///
  /// The state must know all sessions of the application.
  ///
  /// - Parameters:
  ///   - limit: The most sessions to return.
  ///   - isWaiting: Whether a delivery is on its way to a session, which will soon have a scene. Such a session is kept.
  package func sessionsToGiveUp(
    of identifier: Text, atMost limit: Int, unless isWaiting: (UniqueIdentifier) -> Bool
  ) -> [UniqueIdentifier] {
    guard let number = application(identifier), let manifest = applications[number].manifest else { return [] }
    let rankings = applications[number].index.ofConfiguration
    let count = rankings.reduce(0) { $0 + $1.countWithoutScene }
    let wanted = min(limit, count - manifest.keptSessions)
    if wanted <= 0 { return [] }
    // For each configuration as many as may be needed of all.
    var oldest: [Int32] = []
    for ranking in rankings {
      var (found, looked) = (0, 0)
      for place in ranking.places.backwards where found < wanted && looked < State.lookedAtOnce {
        looked += 1
        if place.state != .unattached { break }
        if isWaiting(entries[Int(place.slot)].identifier) { continue }
        oldest.append(place.slot)
        found += 1
      }
    }
    let ordered = oldest.sorted { entries[Int($1)].rank < entries[Int($0)].rank }
    return ordered.prefix(wanted).map { entries[Int($0)].identifier }
  }
}
