// What a session is found by among many: the key of what it shows, and the keys that its host's conditions are about. Stores are filed by
// them, so a change of what they say is a change of `Schema` too.
extension Session {
  /// The key of what it shows; "" where it shows nothing, or nothing with a key.
  package var shownKey: Text { shownActivity.map { $0.key ?? .empty } ?? openedContent }

  /// The keys that its own conditions may hold for, where they are a few; "" where they may hold for any, or do not parse. None where its host
  /// set none.
  package var conditionKeys: [Text] {
    do throws(PredicateError) {
      let can = try Session.cover(canActivatePredicate)
      // Who prefers a key and cannot take it is not concerned with it.
      let prefers = try Session.cover(prefersToActivatePredicate).map { Cover.narrowest([can ?? .everything, $0]) }
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

  /// Each of them is a row on the disk. A window waits for one thing, or for a few.
  private static let maximumKeys = 16
}
