import Glibc
import ServiceSupport

/// The pages of code of the program and its libraries that are mapped because they were executed.
enum CodePages {
  /// Unmaps these pages. They stay in the kernel's cache as long as it has memory, and are mapped again, a few dozen at a time, when they are
  /// executed. The start executes most of the code, and later work only a part.
  static func letGo() {
    guard let maps = SmallFile.read("/proc/self/maps", limit: 1 << 20) else { return }
    // Read all ranges first: reading executes code.
    let lines = maps.split(separator: UInt8(ascii: "\n"))
    for pages in lines.compactMap({ Range(ofCode: String(decoding: $0, as: UTF8.self)) }) {
      // Nothing was ever written to these pages, so the same content comes back.
      madvise(UnsafeMutableRawPointer(bitPattern: pages.lowerBound), pages.count, MADV_DONTNEED)
    }
  }
}

extension Range<UInt> {
  /// The range of a line such as `55d0c8a00000-55d0c98ae000 r-xp 00000000 08:01 1234  /usr/bin/stagedoord`, if it is code of a file.
  fileprivate init?(ofCode line: String) {
    let words = line.split(separator: " ")
    guard words.count == 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
    let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard ends.count == 2, ends[0] < ends[1] else { return nil }
    self = ends[0]..<ends[1]
  }
}
