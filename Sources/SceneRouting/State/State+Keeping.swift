package import SceneModel

extension State {
  /// The sessions beyond the number that an application keeps: those without a scene that were activated longest ago.
  ///
  /// The state must know all sessions of the application.
  ///
  /// - Parameters:
  ///   - limit: The most sessions to return.
  ///   - onTheirWay: Sessions that will soon have a scene. They are kept, and do not count.
  package func sessionsToGiveUp(
    of identifier: Text, atMost limit: Int, unless onTheirWay: () -> Set<UniqueIdentifier>
  ) -> [UniqueIdentifier] {
    guard let number = application(identifier), let manifest = applications[number].manifest else { return [] }
    let rankings = applications[number].index.ofConfiguration
    let excess = rankings.reduce(-manifest.keptSessions) { $0 + $1.countWithoutScene }
    if excess <= 0 { return [] }
    let kept = onTheirWay()
    let wanted = min(limit, excess - kept.count)
    if wanted <= 0 { return [] }
    // For each configuration as many as may be needed of all.
    var oldest: [Int32] = []
    for ranking in rankings {
      var found = 0
      for place in ranking.places.backwards {
        if place.state != .unattached || found == wanted { break }
        if kept.contains(entries[Int(place.slot)].identifier) { continue }
        oldest.append(place.slot)
        found += 1
      }
    }
    let ordered = oldest.sorted { entries[Int($1)].rank < entries[Int($0)].rank }
    return ordered.prefix(wanted).map { entries[Int($0)].identifier }
  }
}
