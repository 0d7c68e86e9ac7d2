import CDBus
import DBusTestSupport
import Dispatch
import Glibc
import Testing

@testable import DBus

/// A bus that a test plays for one client: the test sees each message of the client, and decides what comes with one read.
final class PlayedBus: Sendable {
  private struct State {
    var seen: [String] = []
    var departed: Set<String> = []
    var leaving: Set<String> = []
    var peer: RawPeer?
  }

  let address: BusAddress
  /// The process of all callers.
  private let process: pid_t
  private let listening: OwnedFileDescriptor
  private let state = Lock(State())
  private let pauses = DispatchGroup()

  /// - Parameter process: The number that the bus gives for the process of each caller.
  init(process: pid_t) throws {
    self.process = process
    let listening = OwnedFileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    self.listening = listening
    let name = "played-bus-\(UInt64.random(in: .min ... .max))"
    let isListening = try withSocketAddress("\0\(name)") { name, length in
      listening.withRawValue { bind($0, name, length) == 0 && listen($0, 1) == 0 }
    }
    try #require(isListening)
    address = BusAddress("unix:abstract=\(name)")
    DispatchQueue(label: "played bus").async { self.serve() }
  }

  /// What the client has sent: `AddMatch`, `GetConnectionCredentials :1.7`, `error :1.7`.
  var seen: [String] { state.withLock { $0.seen } }

  /// From now on the bus knows no owner of this name. It said before who the owner was.
  func ownersLeave(_ name: String) { _ = state.withLock { $0.departed.insert(name) } }

  /// The owner of this name leaves as soon as the bus has said who it is. As every bus, this one tells a client that has sent a rule, and no other.
  func leavesOnceKnown(_ name: String) { _ = state.withLock { $0.leaving.insert(name) } }

  /// Sends messages in one piece.
  func send(_ messages: [UInt8]...) { state.withLock { $0.peer }?.write(messages.flatMap(\.self)) }

  /// Whether the client has read everything that was sent.
  var isRead: Bool {
    var count: Int32 = 0
    let socket = state.withLock { $0.peer?.socket }
    return socket?.withRawValue { ioctl($0, UInt(TIOCOUTQ), &count) == 0 && count == 0 } ?? true
  }

  /// While the bus does not read, the client's messages stay in the socket.
  func reads(_ reads: Bool) { if reads { pauses.leave() } else { pauses.enter() } }

  func close() { state.withLock { $0.peer?.socket }?.withRawValue { _ = shutdown($0, Int32(SHUT_RDWR)) } }

  // MARK: Messages

  /// A message as the bus passes it on: with its sender.
  static func message(_ message: consuming Message, from sender: String, _ serial: UInt32) throws -> [UInt8] {
    try #require(dbus_message_set_sender(message.raw, sender) != 0)
    return try message.bytes(serial: serial)
  }

  /// A call of a method without arguments.
  static func call(_ member: MemberName, from sender: String, _ serial: UInt32) throws -> [UInt8] {
    try message(.methodCall(to: ":1.1", at: "/", "org.example.Log", member), from: sender, serial)
  }

  static func departure(of name: String) throws -> [UInt8] {
    try message(.signal(from: .bus, .bus, "NameOwnerChanged", name, name, ""), from: "org.freedesktop.DBus", 1)
  }

  // MARK: Serving

  private func serve() {
    let number = listening.withRawValue { accept($0, nil, nil) }
    if number < 0 { return }
    let peer = RawPeer(owning: OwnedFileDescriptor(owning: number))
    do {
      try greet(peer)
      // A descriptor of its own for those who send: reading holds this one.
      let sending = try OwnedFileDescriptor(duplicating: number)
      state.withLock { $0.peer = RawPeer(owning: sending) }
      var (messages, serial) = (IncomingMessages(), 1 as UInt32)
      while case let bytes = read(peer), !bytes.isEmpty {
        try messages.take(bytes) { message in
          serial += 1
          try take(message, serial)
        }
      }
    } catch {
      Issue.record(error)
    }
  }

  private func read(_ peer: RawPeer) -> [UInt8] {
    pauses.wait()
    return peer.read()
  }

  private func greet(_ peer: RawPeer) throws {
    while case let line = try line(from: peer.socket), !line.hasPrefix("BEGIN") {
      let answer =
        line.contains("AUTH")
        ? "OK 0123456789abcdef0123456789abcdef\r\n" : line.contains("NEGOTIATE") ? "AGREE_UNIX_FD\r\n" : ""
      peer.write(Array(answer.utf8))
    }
  }

  private func line(from socket: OwnedFileDescriptor) throws -> String {
    var line = ""
    repeat {
      // A byte at a time: messages follow right behind the last line.
      var byte: UInt8 = 0
      try #require(socket.withRawValue { recv($0, &byte, 1, 0) } == 1)
      line.unicodeScalars.append(Unicode.Scalar(byte))
    } while !line.hasSuffix("\r\n")
    return line
  }

  private func take(_ message: borrowing Message, _ serial: UInt32) throws {
    let argument = (try? message.variants().first).flatMap { try? String($0) } ?? ""
    let member = message.member?.rawValue ?? ""
    guard message.kind == .methodCall else {
      let word = message.kind == .error ? "error" : message.kind == .signal ? "signal" : "reply"
      return state.withLock { $0.seen.append("\(word) \(message.destination?.rawValue ?? member)") }
    }
    let isUnknown = state.withLock { state in
      state.seen.append(member.hasPrefix("Get") ? "\(member) \(argument)" : member)
      return state.departed.contains(argument)
    }
    let answer: Message
    switch member {
    case "GetNameOwner" where isUnknown:
      answer = try Message.error(to: message, .nameHasNoOwner, "no such name")
    case "Hello": answer = try Message.methodReturn(to: message, ":1.1")
    case "GetNameOwner": answer = try Message.methodReturn(to: message, argument)
    case "GetConnectionCredentials":
      let known: [String: Variant] = ["UnixUserID": getuid().variant, "ProcessID": UInt32(process).variant]
      answer = try Message.methodReturn(to: message, known)
    default: answer = try Message.methodReturn(to: message)
    }
    send(try answer.bytes(serial: serial))
    if member == "GetConnectionCredentials" { try tellDeparture(of: argument) }
  }

  private func tellDeparture(of name: String) throws {
    let isTold = state.withLock { state in
      guard state.leaving.contains(name) else { return false }
      state.departed.insert(name)
      return state.seen.contains("AddMatch")
    }
    if isTold { send(try Self.departure(of: name)) }
  }
}
