import CDBus
import DBusTestSupport
import Dispatch
import Glibc
import SceneTestSupport
import Testing

@testable import DBus

/// Small messages leave together, without libdbus. These tests show that they do, and that a peer that reads late finds everything in order.
@Suite struct MailTests {
  private static let log: InterfaceName = "org.example.Log"

  /// Runs `body` with a peer of a listener, which passes the other end to `welcome`.
  private func withPeer(
    welcome: @escaping @Sendable (Connection) -> Void, _ body: (RawPeer) async throws -> Void
  ) async throws {
    try await withListener(welcome: welcome) { address, _ in try await body(RawPeer.authenticated(at: address)) }
  }

  /// A method that answers with the length of its text.
  private static var lengths: Interface {
    var log = Interface(Self.log)
    log.method("Note", in: "text", out: "length") { (text: String) -> UInt32 in UInt32(text.utf8.count) }
    return log
  }

  @Test func `a signal and the reply behind it are read at once`() async throws {
    try await withPeer { connection in
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
    try await withPeer { connection in
      for number in 0..<count {
        let text = String(repeating: "x", count: number % 100 == 7 ? 9000 : Int(number % 50))
        // Making these messages cannot fail.
        try? connection.emit(from: "/", Self.log, "Noted", number, text)
      }
    } _: { peer in
      var (incoming, next, serials) = (IncomingMessages(), UInt32(0), Set<UInt32>())
      while next < count {
        let more = peer.read()
        try #require(!more.isEmpty, "it hung up after \(next) messages")
        try incoming.take(more) { message in
          let (number, text) = try message.values(as: UInt32.self, String.self)
          try #require(number == next)
          #expect(text.utf8.count == (number % 100 == 7 ? 9000 : Int(number % 50)))
          serials.insert(message.serial)
          next += 1
        }
      }
      #expect(serials.count == Int(count))
    }
  }

  /// The socket is full and has room by turns, so libdbus and the mail take turns in sending. Neither may overtake the other.
  @Test func `who reads a little now and then finds each message once and in order`() async throws {
    let (bursts, next) = (400 as UInt32, Lock<UInt32>(0))
    @Sendable func text(_ number: UInt32) -> String {
      String(repeating: "x", count: number % 37 == 5 ? 4000 + Int(number % 8000) : Int(number % 60))
    }
    try await withPeer { connection in
      var log = Interface(Self.log)
      log.method("Say", in: "messages", out: "last") { (call: Call, messages: UInt32) throws -> UInt32 in
        for _ in 0..<messages {
          let number = next.withLock { next in
            next += 1
            return next
          }
          try call.connection.emit(from: "/", Self.log, "Noted", number, text(number))
        }
        return next.withLock { $0 }
      }
      connection.export(log, at: "/")
    } _: { peer in
      var random = SeededRandom(seed: 11)
      var (incoming, last, replies) = (IncomingMessages(), UInt32(0), UInt32(0))
      func take(_ more: [UInt8]) throws {
        try incoming.take(more) { message in
          if message.kind == .signal {
            last += 1
            let (number, said) = try message.values(as: UInt32.self, String.self)
            try #require(number == last)
            #expect(said == text(number))
          } else {
            replies += 1
            try #require(message.replySerial == replies)
            #expect(try message.values(as: UInt32.self) == last)
          }
        }
      }
      for serial in 1...bursts {
        let call = try Message.methodCall(at: "/", Self.log, "Say", UInt32.random(in: 1...40, using: &random))
        peer.write(try call.bytes(serial: serial))
        // The peer waits for a long time, and then reads about as much as has come since, in pieces of any size.
        if serial % 100 < 40 { continue }
        for _ in 0..<6 { try take(peer.readNow(atMost: .random(in: 1...9000, using: &random))) }
      }
      while replies < bursts {
        let more = peer.read()
        try #require(!more.isEmpty, "it hung up after \(last) messages and \(replies) replies")
        try take(more)
      }
      #expect(last == next.withLock { $0 })
    }
  }

  /// When the socket is full, calls wait for room. What libdbus still has then leaves with the next message, and epoll does not report that.
  @Test func `a call that waits for room is carried out, also where another message has used it`() async throws {
    let served = Lock<Connection?>(nil)
    try await withPeer { connection in
      connection.export(Self.lengths, at: "/")
      served.withLock { $0 = connection }
    } _: { peer in
      peer.write(try Message.methodCall(at: "/", "org.freedesktop.DBus.Peer", "Ping").bytes(serial: 1))
      #expect(!peer.read().isEmpty)
      let connection = try #require(served.withLock { $0 })
      @Sendable func isTrue(_ question: @escaping @Sendable (isolated Connection) -> Bool) async -> Bool {
        await question(connection)
      }
      let text = String(repeating: "x", count: 9000)
      while await !isTrue({ $0.hasUnsent }) { try connection.emit(from: "/", Self.log, "Noted", text) }
      peer.write(try Message.methodCall(at: "/", Self.log, "Note", "the lights go out").bytes(serial: 2))
      try await eventually("the call to wait") { await isTrue { $0.callers.queue.isReady } }
      // Between two looks at the socket the peer reads everything, and another message is sent.
      let read = await Task {
        await withCheckedContinuation { (done: CheckedContinuation<[UInt8], Never>) in
          connection.loop.execute {
            var bytes: [UInt8] = []
            while case let more = peer.readNow(atMost: 1 << 20), !more.isEmpty { bytes += more }
            try? connection.emit(from: "/", Self.log, "Noted", text)
            done.resume(returning: bytes)
          }
        }
      }.value
      let state = Lock((incoming: IncomingMessages(), length: UInt32(0)))
      @Sendable func take(_ more: [UInt8]) throws -> UInt32 {
        try state.withLock { state in
          try state.incoming.take(more) { message in
            if message.replySerial == 2 { state.length = try message.values(as: UInt32.self) }
          }
          return state.length
        }
      }
      _ = try take(read)
      try await eventually("the answer") { try take(peer.readNow(atMost: 1 << 20)) == 17 }
    }
  }

  /// The kernel accepts this little in one piece, unless the socket's buffer is too small. If it accepted only a part, nothing may follow.
  @Test(arguments: [300, 700, 1100, 1900, 2600, 3300])
  func `a socket that takes less than all of the mail never says half a message and goes on`(length: Int) async throws {
    let count: UInt32 = 60
    try await withPeer { connection in
      var log = Interface(Self.log)
      log.method("Say", in: "messages") { (call: Call, messages: UInt32) throws -> Void in
        // The mail has found the buffer large enough.
        call.connection.assumeIsolated { connection in
          var (descriptor, buffer) = (Int32(-1), Int32(1))
          if let raw = connection.raw { dbus_connection_get_unix_fd(raw, &descriptor) }
          setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        }
        for number in 0..<messages {
          try call.connection.emit(from: "/", Self.log, "Noted", number, String(repeating: "x", count: length))
        }
      }
      connection.export(log, at: "/")
    } _: { peer in
      peer.write(try Message.methodCall(at: "/", "org.freedesktop.DBus.Peer", "Ping").bytes(serial: 1))
      peer.write(try Message.methodCall(at: "/", Self.log, "Say", count).bytes(serial: 2))
      var (incoming, next) = (IncomingMessages(), UInt32(0))
      // Until all messages are here, or the other side has closed.
      while next < count, case let more = peer.read(), !more.isEmpty {
        try incoming.take(more) { message in
          guard message.kind == .signal else { return }
          try #require(try message.values(as: UInt32.self, String.self).0 == next)
          next += 1
        }
      }
    }
  }

  /// libdbus closes the socket as soon as it reads that the peer has left, and the next peer gets its number.
  @Test func `what is said to a peer that has gone is not said to the next`() async throws {
    try await withListener { connection in
      connection.export(Self.lengths, at: "/")
    } _: { address, loop in
      for _ in 0..<20 {
        let gone = try RawPeer.authenticated(at: address)
        let call = try Message.methodCall(at: "/", Self.log, "Note", "the curtain falls")
        gone.write(try call.bytes(serial: 1))
        #expect(!gone.read().isEmpty)
        // The loop finds three things at once: a call, the end of its caller, and a new peer.
        let gate = await loop.stand()
        gone.write(try call.bytes(serial: 2))
        gone.socket.withRawValue { _ = shutdown($0, Int32(SHUT_RDWR)) }
        let next = try RawPeer(address)
        gate.signal()
        next.write(Array("\0AUTH EXTERNAL\r\n".utf8))
        #expect(String(decoding: next.read().prefix(4), as: UTF8.self) == "DATA")
      }
    }
  }
}
