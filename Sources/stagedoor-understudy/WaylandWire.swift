import WindowEvidence

/// A message of the Wayland protocol: an event to us, or a request from us.
///
/// A head of two words is followed by arguments, each in whole words of the machine's byte order: the object; then the length in bytes, the head
/// included, above the number of the event or request.
struct WaylandMessage: Equatable {
  var object: UInt32
  var opcode: UInt16
  var body: Bytes

  init(_ object: UInt32, _ opcode: UInt16, _ body: Bytes = []) {
    (self.object, self.opcode, self.body) = (object, opcode, body)
  }

  private static let head = 8

  /// Takes the first whole message out of what has been received; `nil` if more has to come.
  init?(takenFrom received: inout ArraySlice<UInt8>) throws(WaylandFault) {
    var reader = WaylandArguments(received)
    guard received.count >= WaylandMessage.head else { return nil }
    let object = try reader.number()
    let word = try reader.number()
    let count = Int(word >> 16)
    guard count >= WaylandMessage.head, count % 4 == 0 else { throw WaylandFault() }
    guard received.count >= count else { return nil }
    let body = received.dropFirst(WaylandMessage.head).prefix(count - WaylandMessage.head)
    self.init(object, UInt16(truncatingIfNeeded: word), Bytes(body))
    received = received.dropFirst(count)
  }

  var bytes: Bytes {
    let count = UInt32(WaylandMessage.head + body.count)
    return WaylandMessage.word(object) + WaylandMessage.word(count << 16 | UInt32(opcode)) + body
  }

  static func word(_ number: UInt32) -> Bytes { withUnsafeBytes(of: number) { Bytes($0) } }

  /// A text as an argument: its length with a zero at the end, and the bytes.
  static func text(_ text: Bytes) -> Bytes {
    let count = text.count + 1
    return word(UInt32(count)) + text + Bytes(repeating: 0, count: 1 + (4 - count % 4) % 4)
  }
}

/// What was received is no Wayland.
struct WaylandFault: Error {}

/// The arguments of a message, one after the other.
struct WaylandArguments {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func number() throws(WaylandFault) -> UInt32 {
    guard rest.count >= 4 else { throw WaylandFault() }
    defer { rest = rest.dropFirst(4) }
    return rest.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
  }

  mutating func array() throws(WaylandFault) -> Bytes {
    let count = Int(try number())
    guard count <= rest.count else { throw WaylandFault() }
    defer { rest = rest.dropFirst((count + 3) / 4 * 4) }
    return Bytes(rest.prefix(count))
  }

  /// A text without the zero at its end.
  mutating func text() throws(WaylandFault) -> Bytes { Bytes(try array().prefix { $0 != 0 }) }

  mutating func numbers() throws(WaylandFault) -> [UInt32] {
    var numbers = WaylandArguments(try array()[...])
    var found: [UInt32] = []
    while !numbers.rest.isEmpty { found.append(try numbers.number()) }
    return found
  }
}
