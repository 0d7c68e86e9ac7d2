import DBus
import Testing

/// What a message says about itself, and which messages cannot be made.
@Suite struct MessageTests {
  private func call() throws -> Message {
    try Message.methodCall(
      to: "org.example.Greeter", at: "/org/example", "org.example.Greeter", "Greet", "Ann", UInt8(3))
  }

  /// A call as its receiver sees it.
  private func received(serial: UInt32 = 7) throws -> Message { try Message(bytes: call().bytes(serial: serial)) }

  @Test func `a call`() throws {
    let message = try call()
    #expect(message.kind == .methodCall)
    #expect(message.destination == "org.example.Greeter" && message.path == "/org/example")
    #expect(message.interface == "org.example.Greeter" && message.member == "Greet")
    #expect(message.sender == nil && message.errorName == nil)
    #expect(message.serial == 0 && message.replySerial == 0)
    #expect(message.signature == "sy")
    #expect(message.expectsReply == true)
  }

  @Test func `a call without destination and interface`() throws {
    let message = try Message(bytes: Message.methodCall(at: "/", nil, "Greet").bytes(serial: 1))
    #expect(message.destination == nil && message.interface == nil)
    #expect(message.path == "/" && message.member == "Greet" && message.signature == "")
  }

  @Test func `a signal, to all and to one`() throws {
    let toAll = try Message.signal(from: "/a", "a.b", "C", true)
    #expect(toAll.kind == .signal && toAll.destination == nil && !toAll.expectsReply)
    #expect(toAll.path == "/a" && toAll.interface == "a.b" && toAll.member == "C")
    let toOne = try Message.signal(from: "/a", "a.b", "C", to: ":1.7", true)
    #expect(toOne.destination == ":1.7")
    #expect(try Message(bytes: toOne.bytes(serial: 2)).destination == ":1.7")
  }

  @Test func `an error's text loses what cannot be carried`() throws {
    let message = try Message.error(to: received(), .failed, "one\0two\0\u{301}\0")
    #expect(try message.values(as: String.self) == "onetwo\u{301}")
    #expect(try Message.error(to: received(), .failed, "").values(as: String.self) == "")
  }

  @Test func `the serial number is the one it was given`() throws {
    #expect(try received(serial: .max).serial == .max)
    #expect(try received(serial: 0).serial == 1)
    let message = try call()
    _ = try message.bytes(serial: 9)
    #expect(message.serial == 0)
  }

  /// libdbus would end the process here.
  @Test func `a call that was never sent has no reply`() throws {
    let message = try call()
    let expected = CodingError.invalidValue("a message that was never sent cannot be answered")
    #expect(codingError { try Message.methodReturn(to: message) } == expected)
    #expect(codingError { try Message.error(to: message, .failed, "") } == expected)
  }

  // MARK: Reserved by libdbus

  /// libdbus compares only the beginnings of these names, and closes a connection on which it reads one.
  @Test func `the path and the interface of libdbus itself are refused, and what begins like them`() throws {
    for (path, interface) in [
      ("/a", "org.freedesktop.DBus.Local"), ("/a", "org.freedesktop.DBus.Locals"),
      ("/org/freedesktop/DBus/Local", "a.b"), ("/org/freedesktop/DBus/Local/x", "a.b"),
    ] as [(ObjectPath, InterfaceName)] {
      let reserved = CodingError.reserved(path == "/a" ? "org.freedesktop.DBus.Local" : "/org/freedesktop/DBus/Local")
      #expect(codingError { try Message.signal(from: path, interface, "Disconnected") } == reserved)
      #expect(codingError { try Message.methodCall(at: path, interface, "Disconnected") } == reserved)
    }
    _ = try Message.signal(from: "/org/freedesktop/DBus/Loca", "org.freedesktop.DBus.Loca", "C")
    #expect("\(CodingError.reserved("a.b"))" == "\"a.b\" is reserved for libdbus itself")
  }

  @Test func `bytes that use the reserved names are no message`() throws {
    var bytes = try Message.signal(from: "/a", "org.freedesktop.DBus.Lokal", "C").bytes(serial: 1)
    #expect(try Message(bytes: bytes).member == "C")
    let name = try #require(bytes.firstRange(of: Array("Lokal".utf8)))
    bytes.replaceSubrange(name, with: Array("Local".utf8))
    #expect(codingError { try Message(bytes: bytes) } == Self.noMessage)
  }

  // MARK: Bytes

  static let noMessage = CodingError.invalidValue("these bytes are not a whole D-Bus message")

  @Test func `only a whole message is one`() throws {
    let bytes = try call().bytes(serial: 1)
    for length in 0..<bytes.count {
      let part = Array(bytes.prefix(length))
      #expect(codingError { try Message(bytes: part) } == Self.noMessage)
      #expect(Message.length(ofMessageBeginningWith: part) == (length < 16 ? nil : bytes.count))
    }
    #expect(try Message(bytes: bytes).member == "Greet")
    let garbage = Array("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8)
    #expect(codingError { try Message(bytes: garbage) } == Self.noMessage)
    #expect(Message.length(ofMessageBeginningWith: garbage) == nil)
  }

  @Test func `bytes behind a message are no part of it`() throws {
    let bytes = try call().bytes(serial: 1)
    for rest in [[0], Array("l".utf8), bytes, [UInt8](repeating: 0, count: 100)] as [[UInt8]] {
      #expect(codingError { try Message(bytes: bytes + rest) } == Self.noMessage)
      #expect(Message.length(ofMessageBeginningWith: bytes + rest) == bytes.count)
    }
  }

  // MARK: Embedded NULs

  private static let texts = ["\0", "a\0", "\0a", "one\0two", "é\0\u{301}", "\0\0\0"]

  @Test(arguments: texts) func `a string with a NUL is refused wherever it stands`(text: String) {
    #expect(codingError(of: text) == .containsNUL)
    #expect(codingError(of: ["a", text]) == .containsNUL)
    #expect(codingError(of: [text: "a"]) == .containsNUL)
    #expect(codingError(of: ["a": text]) == .containsNUL)
    #expect(codingError(of: Structure(UInt8(1), text)) == .containsNUL)
    #expect(codingError(of: Variant(text)) == .containsNUL)
    #expect(codingError(of: Variant([[text: Variant(Structure(text))]])) == .containsNUL)
    #expect(codingError(of: Variant.dictionary(key: "s", value: "y", [.string(text): .byte(1)])) == .containsNUL)
    #expect(codingError(of: [[["a": Structure(Variant.variant(.string(text)))]]]) == .containsNUL)
    #expect(
      codingError { try Message.methodCall(at: "/", nil, "M", "a", text) } == .containsNUL)
  }
}
