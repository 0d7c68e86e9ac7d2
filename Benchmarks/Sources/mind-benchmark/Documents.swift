import Glibc
import SceneModel

/// What it costs to read a payload, from the bytes of a message to what the rest of the house works with.
enum Documents {
  static func measure(file: String, count: Int) {
    let bytes = read(file)
    let rules = ReadingRules(types: TypeCatalog())
    /// Into a tree, as the libraries do, except that tags are dates and data already.
    func value() -> Bool { (try? JSON.value(Text(String(decoding: bytes, as: UTF8.self)))) != nil }
    /// Into a payload, with all that is asked of one.
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
