import SceneModel

/// What routing has to know of a session, and no more: there may be a million.
struct SessionEntry: Sendable {
  let identifier: UniqueIdentifier
  /// Its number; -1 where the session is gone and its place is free.
  var application: Int32
  /// Its role and the name of its configuration, as a number of its application's `kinds`.
  var kind: Int32
  /// Its configuration's place in the manifest; -1 where there is none of that name any more, or no manifest.
  var configuration: Int16 = -1
  var state: SceneState
  var flags: Flags
  /// What counts: set by its host, else by its manifest; `nil` where neither did. They stand here because a decision most often reads
  /// what is above and these, and all of that is 64 bytes.
  var can: Requirement?
  var prefers: Requirement?
  let created: Instant
  var lastActivated: Instant
  /// What it shows; "" where it shows nothing, or nothing with a key.
  var shownType: Text
  var shownKey: Text

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let isConnected = Flags(rawValue: 1)
    static let hasBeenConnected = Flags(rawValue: 2)
    static let hasRestorationActivity = Flags(rawValue: 4)
    /// Its host set the condition, so that a new manifest changes nothing about it.
    static let canIsOwn = Flags(rawValue: 8)
    static let prefersIsOwn = Flags(rawValue: 16)
    /// A stored predicate of it does not parse: it is never guessed at.
    static let isUnreadable = Flags(rawValue: 32)
  }
}

/// Step 9 of the rules, without the requesting session: who comes first among equals.
struct Rank: Comparable, Sendable {
  let state: SceneState
  let lastActivated: Instant
  let created: Instant
  let identifier: UniqueIdentifier

  static func < (one: Rank, other: Rank) -> Bool {
    if one.state != other.state { return one.state < other.state }
    if one.lastActivated != other.lastActivated { return one.lastActivated > other.lastActivated }
    if one.created != other.created { return one.created < other.created }
    return one.identifier < other.identifier
  }
}

extension SessionEntry {
  var rank: Rank { Rank(state: state, lastActivated: lastActivated, created: created, identifier: identifier) }
}
