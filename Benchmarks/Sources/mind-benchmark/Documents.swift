import Glibc
import SceneModel

/// The cost of reading a payload, from the bytes of a message to the values that the other modules use.
enum Documents {
  static func measure(file: String, count: Int) {
    let bytes = read(file)
    let rules = ReadingRules(types: TypeCatalog())
    /// Reads the document into a tree, like the libraries. Unlike there, tags become dates and data at once.
    func value() -> Bool { (try? JSON.value(Text(String(decoding: bytes, as: UTF8.self)))) != nil }
    /// Reads the document into a payload, with all checks.
    func payload() -> Bool { (try? Payload(json: Text(String(decoding: bytes, as: UTF8.self)), rules)) != nil }
    for (name, body) in [("value", value), ("payload", payload)] {
      _ = time(count / 10, body)
      report(name, bytes.count, time(count, body))
    }
  }

  private static func time(_ count: Int, _ body: () -> Bool) -> Double {
    var wasRead = true
    let time = nanoseconds(count) {
      for _ in 0..<count where !body() { wasRead = false }
    }
    precondition(wasRead, "the document was refused")
    return time
  }

  private static func read(_ name: String) -> [UInt8] {
    guard let file = fopen(name, "r") else { preconditionFailure("cannot read \(name)") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }
}

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
