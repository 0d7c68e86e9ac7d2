import DBus
import Dispatch
import Glibc
import Testing

/// Small messages leave together, past libdbus: that they do, and that a peer that does not read finds everything in order.
@Suite struct MailTests {
  private static let log: InterfaceName = "org.example.Log"

  /// The address of a listener that hands each of its peers to `welcome`.
  private func withListener(
    welcome: @escaping @Sendable (Connection) -> Void, _ body: @Sendable (RawPeer) async throws -> Void
  ) async throws {
    let loop = try EventLoop()
    let listener = try await Listener.listen(at: "unix:tmpdir=/tmp", on: loop, welcome: welcome)
    let field = try #require(await listener.address.rawValue.split(separator: ",").first.map(String.init))
    let peer = try RawPeer(field)
    try peer.authenticate()
    try await body(peer)
    await listener.close()
    await loop.stop()
  }

  @Test func `a signal and the reply behind it are read at once`() async throws {
    try await withListener { connection in
      var log = Interface(Self.log)
      let noted = log.signal("Noted", "text", of: String.self)
      log.method("Note", in: "text", out: "length") { (call: Call, text: String) throws -> UInt32 in
        try call.connection.emit(noted, from: "/", text)
        return UInt32(text.utf8.count)
      }
      connection.export(log, at: "/")
    } _: { peer in
      for number: UInt32 in 1...200 {
        let call = try Message.methodCall(at: "/", Self.log, "Note", "the curtain rises")
        peer.write(try call.bytes(serial: number))
        let bytes = peer.read()
        let first = try #require(Message.length(ofMessageBeginningWith: bytes))
        try #require(first < bytes.count, "call \(number): the signal came by itself")
        #expect(try Message(bytes: Array(bytes.prefix(first))).kind == .signal)
        let reply = try Message(bytes: Array(bytes.dropFirst(first)))
        #expect(reply.replySerial == number)
        #expect(try reply.values(as: UInt32.self) == 17)
      }
    }
  }

  @Test func `who reads late finds each message once and in order, small and large`() async throws {
    let count: UInt32 = 20_000
    try await withListener { connection in
      for number in 0..<count {
        let text = String(repeating: "x", count: number % 100 == 7 ? 9000 : Int(number % 50))
        // None of them can fail to be made.
        try? connection.emit(from: "/", Self.log, "Noted", number, text)
      }
    } _: { peer in
      var bytes: [UInt8] = []
      var next: UInt32 = 0
      var serials: Set<UInt32> = []
      while next < count {
        let more = peer.read()
        try #require(!more.isEmpty, "it hung up after \(next) messages")
        bytes += more
        var start = 0
        while let length = Message.length(ofMessageBeginningWith: Array(bytes[start...].prefix(16))),
          start + length <= bytes.count
        {
          let message = try Message(bytes: Array(bytes[start..<(start + length)]))
          let (number, text) = try message.values(as: UInt32.self, String.self)
          try #require(number == next)
          #expect(text.utf8.count == (number % 100 == 7 ? 9000 : Int(number % 50)))
          serials.insert(message.serial)
          next += 1
          start += length
        }
        bytes.removeFirst(start)
      }
      #expect(serials.count == Int(count))
    }
  }

  /// libdbus closes the socket as soon as it reads that the peer has gone, and the next who comes gets its number.
  @Test func `what is said to a peer that has gone is not said to the next`() async throws {
    let loop = try EventLoop()
    let listener = try await Listener.listen(at: "unix:tmpdir=/tmp", on: loop) { connection in
      var log = Interface(Self.log)
      log.method("Note", in: "text", out: "length") { (text: String) -> UInt32 in UInt32(text.utf8.count) }
      connection.export(log, at: "/")
    }
    let field = try #require(await listener.address.rawValue.split(separator: ",").first.map(String.init))
    for _ in 0..<20 {
      let gone = try RawPeer(field)
      try gone.authenticate()
      let call = try Message.methodCall(at: "/", Self.log, "Note", "the curtain falls")
      gone.write(try call.bytes(serial: 1))
      #expect(!gone.read().isEmpty)
      // The loop finds all three at once: a call, that its caller has gone, and somebody new.
      let (hasStopped, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      loop.execute {
        hasStopped.signal()
        mayGoOn.wait()
      }
      await Task.detached { hasStopped.wait() }.value
      gone.write(try call.bytes(serial: 2))
      gone.socket.withRawValue { _ = shutdown($0, Int32(SHUT_RDWR)) }
      let next = try RawPeer(field)
      mayGoOn.signal()
      next.write(Array("\0AUTH EXTERNAL\r\n".utf8))
      #expect(String(decoding: next.read().prefix(4), as: UTF8.self) == "DATA")
    }
    await listener.close()
    await loop.stop()
  }
}
