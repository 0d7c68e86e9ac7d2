/// The most that the baggage store keeps, and the longest time that it waits.
package enum BaggageLimits {
  /// Descriptors held for deliveries: half of the 1,024 that a process may have where it cannot raise its limit. Connections, the store, and files
  /// that are being copied or opened need the rest. Without a spool each memory file counts as one.
  package static let descriptors = 512

  /// The time for which a source may send nothing while it is copied, and a reader may take nothing. Both may be slow.
  package static let silence = Duration.seconds(60)

  /// The threads for files that the service did not make. A disk needs fewer, and each file system that does not answer may hold some for ever.
  package static let fileThreads = 8

  /// The time in which a file must open: callers wait 25 seconds for an answer by default.
  package static let fileTime = Duration.seconds(10)

  /// The contents that one sandboxed application reads at the same time. Each takes two descriptors and a pipe.
  package static let feeds = 64

  /// The bytes of a snapshot: a picture of a window, for a window switcher.
  package static let snapshot = 1 << 20

  /// The time in which the data of a snapshot must come: the picture should exist before the call.
  package static let snapshotTime = Duration.seconds(5)

  /// The bytes of all snapshots: those of 256 windows. The oldest go first.
  package static let snapshots = 256 << 20

  /// The least size that counts for a snapshot: a file takes a block and an entry of the directory.
  package static let smallestSnapshot = 4096

  /// The bytes that are copied in one go: a disk needs some milliseconds for them, and other work waits meanwhile.
  static let piece = 1 << 20

  /// The bytes after which a copy waits for the disk: what others store meanwhile may have to wait for these bytes.
  package static let synced: Int64 = 8 << 20

  /// The pause before an empty source that counts as readable is looked at again.
  static let lookAgain = Duration.milliseconds(20)

  /// The bytes that are read in one go where the kernel does not copy: what a pipe holds.
  static let buffer = 64 << 10
}
