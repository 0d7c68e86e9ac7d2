import SceneModel

/// Under what a session is found: a reason to be concerned with a key, and the conditions that must hold for it.
///
/// Who prefers a key and cannot take it is not concerned with it, so that both conditions count there, and the narrower of them is the
/// one to find it by: a window that would like everything and takes one photograph is found by that photograph.
struct Filing: Hashable, Sendable {
  let interest: Interest
  let can: Requirement?
  let prefers: Requirement?

  init(can: Requirement) { (interest, self.can, prefers) = (.can, can, nil) }
  init(can: Requirement?, prefers: Requirement) { (interest, self.can, self.prefers) = (.prefers, can, prefers) }

  func holds(for key: inout AskedKey) -> Bool { (can?.evaluate(&key) ?? true) && (prefers?.evaluate(&key) ?? true) }

  var cover: Cover { Cover.narrowest([can, prefers].compactMap { $0?.cover }) }
}

/// Why a session may be concerned with a key.
enum Interest: CaseIterable { case can, prefers, shown }
