import Glibc

/// The memory of an indexed session, from the kernel's figures for the process: the pages that it really has, and the memory that it
/// asked for. An array asks for more than it has filled.
enum Memory {
  static func measure(_ keys: Keys, size: Int) {
    // This makes everything that all sessions share, such as tables of types, before the measurement.
    let small = World(keys, size: 1)
    let before = (resident: bytes("VmRSS:"), asked: bytes("VmData:"))
    let world = World(keys, size: size)
    report("resident", size, Double(bytes("VmRSS:") - before.resident) / Double(size))
    report("asked for", size, Double(bytes("VmData:") - before.asked) / Double(size))
    withExtendedLifetime((small, world)) {}
  }

  private static func bytes(_ field: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { preconditionFailure("there is no /proc") }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 256)
    while line.withUnsafeMutableBytes({ fgets($0.baseAddress, 256, file) }) != nil {
      let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      if words.first == field[...], let kibibytes = Int(words[1]) { return kibibytes * 1024 }
    }
    preconditionFailure("the status says nothing of \(field)")
  }
}
