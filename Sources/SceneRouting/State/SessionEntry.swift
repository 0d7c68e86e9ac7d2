import SceneModel

/// The data of a session that routing needs, and no more: there may be a million sessions.
struct SessionEntry: Sendable {
  let identifier: UniqueIdentifier
  /// The number of its application; -1 if the session is gone and the entry is free.
  var application: Int32
  /// Its role and the name of its configuration, as an index into its application's `kinds`.
  var kind: Int32
  /// The index of its configuration in the manifest; -1 if the manifest has no configuration of that name, or there is no manifest.
  var configuration: Int16 = -1
  var state: SceneState
  var flags: Flags
  /// The effective conditions: set by the host, or else by the manifest; `nil` if neither has set one. They stand here because most decisions read
  /// only the fields above and these, which fit into 64 bytes.
  var can: Requirement?
  var prefers: Requirement?
  let created: Instant
  var lastActivated: Instant
  /// The content that the session shows; "" if it shows nothing, or nothing with a key.
  var shownType: Text
  var shownKey: Text

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let isConnected = Flags(rawValue: 1)
    static let hasBeenConnected = Flags(rawValue: 2)
    static let hasRestorationActivity = Flags(rawValue: 4)
    /// The host has set the condition, so a new manifest does not change it.
    static let canIsOwn = Flags(rawValue: 8)
    static let prefersIsOwn = Flags(rawValue: 16)
    /// A stored predicate of the session does not parse. Its meaning is never guessed.
    static let isUnreadable = Flags(rawValue: 32)
  }
}

/// Step 9 of the rules, without the requesting session: the order among equals.
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
