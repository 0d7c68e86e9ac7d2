// The keys by which a session is found among many: the key that it shows, and the keys of its host's conditions. Stores file sessions under them, so
// a change here requires a change of `Schema`.
extension Session {
  /// The key that the session shows; "" if it shows nothing, or nothing with a key.
  package var shownKey: Text { shownActivity.map { $0.key ?? .empty } ?? self.openedContent }

  /// The keys for which its own conditions may be true, if there are a few; "" if there may be any, or the conditions do not parse. Empty if its host
  /// has set none.
  package var conditionKeys: [Text] {
    do throws(PredicateError) {
      let can = try Session.cover(self.canActivatePredicate)
      // A session that prefers a key but cannot take it is not concerned with it.
      let prefers = try Session.cover(self.prefersToActivatePredicate).map {
        Cover.narrowest([can ?? .everything, $0])
      }
      var found: [Text] = []
      for cover in [can, prefers].compactMap(\.self) {
        guard case .keys(let keys) = cover else { return [.empty] }
        for key in keys where !found.contains(key) { found.append(key) }
        if found.count > Session.maximumKeys { return [.empty] }
      }
      return found
    } catch {
      return [.empty]
    }
  }

  private static func cover(_ predicate: Text) throws(PredicateError) -> Cover? {
    predicate.isEmpty ? nil : try Predicate(predicate).condition.cover
  }

  /// Each key is a row on the disk. A window waits for one thing, or for a few.
  private static let maximumKeys = 16
}
