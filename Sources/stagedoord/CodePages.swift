import Glibc

/// The pages of programs and libraries that are mapped because they were run.
enum CodePages {
  /// Lets go of them. They stay in the kernel's cache for as long as it has room, and are mapped again, a few dozen at a time, where they are run:
  /// beginning takes most of the code that there is, and what comes after it a part.
  static func letGo() {
    guard let maps = SmallFile.read("/proc/self/maps", limit: 1 << 20) else { return }
    // All of them first: reading runs code.
    let lines = maps.split(separator: UInt8(ascii: "\n"))
    for pages in lines.compactMap({ Range(ofCode: String(decoding: $0, as: UTF8.self)) }) {
      // Nothing was ever written there, so what comes back is the same.
      madvise(UnsafeMutableRawPointer(bitPattern: pages.lowerBound), pages.count, MADV_DONTNEED)
    }
  }
}

extension Range<UInt> {
  /// Of a line as `55d0c8a00000-55d0c98ae000 r-xp 00000000 08:01 1234  /usr/bin/stagedoord`, where that is code of a file.
  fileprivate init?(ofCode line: String) {
    let words = line.split(separator: " ")
    guard words.count == 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
    let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard ends.count == 2, ends[0] < ends[1] else { return nil }
    self = ends[0]..<ends[1]
  }
}
