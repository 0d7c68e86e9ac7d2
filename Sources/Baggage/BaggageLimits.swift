/// What the room keeps at most, and how long it waits.
package enum BaggageLimits {
  /// Descriptors that are held for deliveries: half of the 1,024 that a process may have where nobody raised the limit. The other half is for
  /// connections, the store, and what is being copied or opened. Without a spool each memory file counts as one.
  package static let descriptors = 512

  /// How long a source may be silent while it is copied. One that is slow goes on.
  package static let silence = Duration.seconds(30)

  /// Bytes of a snapshot: a picture of a window for a switcher, as the contract has it.
  package static let snapshot = 1 << 20

  /// How long the data of a snapshot may take: the picture is there before the call is made.
  package static let snapshotTime = Duration.seconds(5)

  /// Bytes of all snapshots: those of 256 windows. Older ones go first.
  package static let snapshots = 256 << 20

  /// What a snapshot counts for at least: a file takes a block and a place in the directory.
  package static let smallestSnapshot = 4096

  /// Bytes that are copied in one go: a disk takes some milliseconds for them, and other work waits meanwhile.
  static let piece = 1 << 20
}
