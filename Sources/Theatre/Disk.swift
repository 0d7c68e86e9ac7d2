import Glibc
import StoreTestSupport

/// The disk of a play: the files are real, in memory, and all of SQLite's calls pass through here.
///
/// It refuses or fails calls as the play says. It remembers the writes since the last sync, so that a power cut can keep the synced bytes and a torn
/// part of the others.
final class Disk: FileWatcher {
  typealias Call = WatchedFile.Call

  /// Has a folder for each life of the service.
  private let root = TemporaryDirectory()
  private var current = 0
  private var count = 0
  var directory: String { "\(root.path)/\(current)" }
  /// The calls that fail, with the error and the number of times.
  private var faults: [(call: Call, error: Int32, times: Int, after: Int)] = []
  /// Whether the theatre is looking at the files, and not the service.
  private var isUndisturbed = false
  /// The time of a crash: after this many writes and syncs. The contents of the disk at that time are set aside.
  private var crashAfter: (calls: Int, isPowerCut: Bool, chance: Chance)?
  private var keptAside: Int?
  private var unsynced: [String: [Write]] = [:]
  /// Whether unsynced writes are remembered. This costs a read for each write.
  var remembersUnsynced = false

  private struct Write {
    let offset: Int
    let bytes: [UInt8]
    /// The bytes before the write.
    let before: [UInt8]
    let sizeBefore: Int
  }

  init() {
    mkdir(directory, 0o700)
    WatchedFile.show(to: self)
  }

  // MARK: Faults

  func injectFault(_ call: Call, error: Int32, times: Int, after: Int = 0) {
    faults.append((call, error, times, after))
  }

  /// The theatre's own reads do not fail.
  func undisturbed<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let before = isUndisturbed
    isUndisturbed = true
    defer { isUndisturbed = before }
    return try body()
  }

  func heal() { faults = [] }
  var isWell: Bool { faults.isEmpty }

  func crash(after calls: Int, isPowerCut: Bool, _ chance: Chance) { crashAfter = (calls, isPowerCut, chance) }
  var hasCrashed: Bool { keptAside != nil }

  /// Prepares the disk for the next service: with the files at the time of the crash, or as they are.
  func restart(isPowerCut: Bool, _ chance: Chance) {
    let next = keptAside ?? setAside(isPowerCut: isPowerCut, chance)
    for file in TemporaryDirectory.names(in: directory) { unlink("\(directory)/\(file)") }
    rmdir(directory)
    (current, keptAside, crashAfter, unsynced) = (next, nil, nil, [:])
  }

  private func setAside(isPowerCut: Bool, _ chance: Chance) -> Int {
    var chance = chance
    count += 1
    mkdir("\(root.path)/\(count)", 0o700)
    for name in TemporaryDirectory.names(in: directory) where name != "lock" {
      var bytes = root.bytes(of: "\(current)/\(name)")
      if isPowerCut { lose(unsynced["\(directory)/\(name)"] ?? [], of: &bytes, &chance) }
      root.write(bytes, to: "\(count)/\(name)")
    }
    return count
  }

  /// Each unsynced write is kept, lost, or kept in part: disks write in any order.
  private func lose(_ writes: [Write], of bytes: inout [UInt8], _ chance: inout Chance) {
    for write in writes.reversed() {
      Disk.put(write.before, at: write.offset, into: &bytes)
      if bytes.count > write.sizeBefore { bytes.removeLast(bytes.count - write.sizeBefore) }
    }
    for write in writes {
      switch chance.below(3) {
      case 0: break
      case 1: Disk.put(write.bytes, at: write.offset, into: &bytes)
      default:
        Disk.put(
          Array(write.bytes.prefix(chance.below(write.bytes.count / 512 + 1) * 512)), at: write.offset, into: &bytes)
      }
    }
  }

  private static func put(_ new: [UInt8], at offset: Int, into bytes: inout [UInt8]) {
    if new.isEmpty { return }
    if bytes.count < offset + new.count { bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count) }
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
  }

  // MARK: SQLite's calls

  func error(of call: Call, _ path: String) -> Int32 {
    if call == .open { return 0 }
    if call != .read, let crash = crashAfter, keptAside == nil {
      if crash.calls == 0 {
        keptAside = setAside(isPowerCut: crash.isPowerCut, crash.chance)
        crashAfter = nil
      } else {
        crashAfter?.calls -= 1
      }
    }
    guard !isUndisturbed, let place = faults.firstIndex(where: { $0.call == call }) else { return 0 }
    if faults[place].after > 0 {
      faults[place].after -= 1
      return 0
    }
    faults[place].times -= 1
    let error = faults[place].error
    if faults[place].times <= 0 { faults.remove(at: place) }
    return error
  }

  /// The store has repaired a log that is opened again: it has written and synced the log without SQLite.
  func didOpen(_ path: String) { if path.hasSuffix("-wal") { didSync(path) } }

  func willWrite(_ bytes: UnsafeRawBufferPointer, at offset: Int, to file: WatchedFile) {
    guard remembersUnsynced else { return }
    let before = file.bytes(bytes.count, at: offset)
    unsynced[file.path, default: []].append(
      Write(offset: offset, bytes: Array(bytes), before: before, sizeBefore: file.size))
  }

  func didSync(_ path: String) { unsynced[path] = nil }
}

/// The theatre itself could not go on.
package struct TheatreFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
