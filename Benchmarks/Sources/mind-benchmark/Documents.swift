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
