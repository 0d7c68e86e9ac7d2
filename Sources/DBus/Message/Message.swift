internal import CDBus
internal import Glibc

/// One D-Bus message: a call, a reply, an error or a signal.
///
/// A message cannot be copied: it has one owner, and is destroyed with its owner. A message does not change after it was made.
///
/// ```swift
/// let call = try Message.methodCall(
///   to: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", "org.example.Greeter")
/// print(call.kind, call.signature)  // methodCall s
/// let name = try call.values(as: String.self)
/// print(name)
/// ```
public struct Message: ~Copyable {
  /// The kind of a message.
  ///
  /// ```swift
  /// let signal = try Message.signal(from: "/", "org.example.Log", "Said")
  /// print(signal.kind == .signal)  // true
  /// ```
  public enum Kind: Sendable, Hashable {
    /// A call of a method.
    case methodCall
    /// The reply to a call.
    case methodReturn
    /// The reply to a call that failed.
    case error
    /// A signal.
    case signal
    /// A kind that this version of the specification does not define. Receivers ignore it.
    case unknown
  }

  private enum Content {
    /// A message that came in, is large, or carries descriptors.
    case library(OpaquePointer)
    /// A message that this module has written.
    case bytes(MessageBytes)
  }

  private let content: Content

  /// libdbus's pointer to the message.
  var raw: OpaquePointer {
    switch content {
    case .library(let raw): raw
    case .bytes(let bytes): bytes.raw
    }
  }

  /// The same; `nil` if libdbus has no memory for it.
  var rawWithMemory: OpaquePointer? {
    switch content {
    case .library(let raw): raw
    case .bytes(let bytes): bytes.rawWithMemory
    }
  }

  /// The bytes of the message, if this module has written it.
  var bytes: MessageBytes? { if case .bytes(let bytes) = content { bytes } else { nil } }

  package var carriesDescriptors: Bool {
    if case .library(let raw) = content { dbus_message_contains_unix_fds(raw) != 0 } else { false }
  }

  /// Takes over the caller's reference.
  init(owning raw: OpaquePointer) { content = .library(raw) }

  /// Takes a reference of its own.
  init(retaining raw: OpaquePointer) {
    dbus_message_ref(raw)
    content = .library(raw)
  }

  /// A second owner of the same message.
  init(sharing message: borrowing Message) {
    if case .library(let raw) = message.content { dbus_message_ref(raw) }
    content = message.content
  }

  init(_ bytes: MessageBytes) { content = .bytes(bytes) }

  deinit { if case .library(let raw) = content { dbus_message_unref(raw) } }
}

// A message does not change after it was made or received, except for its serial: the loop that sends it sets the serial, once. libdbus counts the
// references atomically.
extension Message: @unchecked Sendable {}

// MARK: - Making messages

extension Message {
  /// A call of `member` with `arguments`.
  public static func methodCall<each Argument: BusValue>(
    to destination: BusName? = nil, at path: ObjectPath, _ interface: InterfaceName? = nil, _ member: MemberName,
    _ arguments: repeat each Argument
  ) throws(CodingError) -> Message {
    var draft = try Draft(
      DBUS_MESSAGE_TYPE_METHOD_CALL, to: destination, about: path, interface, member,
      .checked(of: repeat (each Argument).self))
    repeat try (each arguments).write(to: &draft.writer)
    if try draft.mustBeginAgain() { repeat try (each arguments).write(to: &draft.writer) }
    return try draft.finish()
  }

  /// A signal with `arguments`; to all subscribers, or with `destination` to one connection.
  public static func signal<each Argument: BusValue>(
    from path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, to destination: BusName? = nil,
    _ arguments: repeat each Argument
  ) throws(CodingError) -> Message {
    var draft = try Draft(
      DBUS_MESSAGE_TYPE_SIGNAL, to: destination, about: path, interface, member,
      .checked(of: repeat (each Argument).self))
    repeat try (each arguments).write(to: &draft.writer)
    if try draft.mustBeginAgain() { repeat try (each arguments).write(to: &draft.writer) }
    return try draft.finish()
  }

  /// The reply to `call`.
  public static func methodReturn<each Value: BusValue>(
    to call: borrowing Message, _ values: repeat each Value
  ) throws(CodingError) -> Message {
    var draft = try Draft(replyTo: call, .checked(of: repeat (each Value).self))
    repeat try (each values).write(to: &draft.writer)
    if try draft.mustBeginAgain() { repeat try (each values).write(to: &draft.writer) }
    return try draft.finish()
  }

  /// The error reply to `call`. Characters that D-Bus cannot carry are left out of `text`.
  public static func error(
    to call: borrowing Message, _ name: ErrorName, _ text: String
  ) throws(CodingError) -> Message {
    try checkSent(call)
    return try error(to: call.sender, call.serial, ErrorReply(name, text))
  }

  /// The error that answers the call `serial` of `destination`.
  static func error(
    to destination: BusName?, _ serial: UInt32, _ reply: ErrorReply
  ) throws(CodingError) -> Message {
    let text = reply.text.utf8.contains(0) ? String(reply.text.filter { $0 != "\0" }) : reply.text
    var draft = Draft(
      .init(
        kind: DBUS_MESSAGE_TYPE_ERROR, destination: destination?.rawValue, errorName: reply.name.rawValue,
        replySerial: serial), String.signature)
    try text.write(to: &draft.writer)
    if try draft.mustBeginAgain() { try text.write(to: &draft.writer) }
    return try draft.finish()
  }

  /// A message whose values are being written. Functions that take values as a pack write them where they got them: each function that passes a pack on
  /// copies all of its values.
  struct Draft: ~Copyable {
    private let header: MessageBytes.Header
    private let signature: Signature
    private let bytes: MessageBytes
    /// The message of libdbus, if the values do not fit into bytes.
    private var message: Message?
    var writer: MessageWriter

    init(_ header: MessageBytes.Header, _ signature: Signature) {
      (self.header, self.signature) = (header, signature)
      bytes = MessageBytes(header, signature: signature)
      writer = MessageWriter(into: bytes, signature: signature)
    }

    /// A call or a signal.
    init(
      _ kind: Int32, to destination: BusName?, about path: ObjectPath, _ interface: InterfaceName?,
      _ member: MemberName, _ signature: Signature
    ) throws(CodingError) {
      try check(path: path, interface: interface)
      self.init(
        .init(
          kind: kind, path: path.rawValue, destination: destination?.rawValue, interface: interface?.rawValue,
          member: member.rawValue), signature)
    }

    init(replyTo call: borrowing Message, _ signature: Signature) throws(CodingError) {
      try checkSent(call)
      self.init(
        .init(kind: DBUS_MESSAGE_TYPE_METHOD_RETURN, destination: call.sender?.rawValue, replySerial: call.serial),
        signature)
    }

    /// Whether all values must be written once more, into a message of libdbus.
    mutating func mustBeginAgain() throws(CodingError) -> Bool {
      if !bytes.isGivenUp { return false }
      try writer.finish()
      let message = try Message.empty(headedBy: header)
      writer = MessageWriter(appendingTo: message.raw, signature: signature)
      self.message = consume message
      return true
    }

    consuming func finish() throws(CodingError) -> Message {
      try writer.finish()
      if let message = message.take() { return message }
      bytes.finish()
      if bytes.isSmall {
        // Every test thus checks that libdbus accepts the bytes.
        assert(!bytes.isRefusedByLibrary)
        return Message(bytes)
      }
      guard let raw = bytes.makeRaw() else { throw .outOfMemory }
      dbus_message_set_serial(raw, 0)
      return Message(owning: raw)
    }
  }

  /// The same call without its arguments, for an answer to it.
  static func head(of call: borrowing Message) throws(CodingError) -> Message {
    let names = MessageBytes.Header(
      kind: dbus_message_get_type(call.raw), path: call.path?.rawValue, destination: call.destination?.rawValue,
      interface: call.interface?.rawValue, member: call.member?.rawValue)
    let head = try empty(headedBy: names)
    guard call.sender.map({ dbus_message_set_sender(head.raw, $0.rawValue) }) ?? 1 != 0 else { throw .outOfMemory }
    dbus_message_set_serial(head.raw, call.serial)
    dbus_message_set_no_reply(head.raw, dbus_message_get_no_reply(call.raw))
    return head
  }

  private static func empty(headedBy header: MessageBytes.Header) throws(CodingError) -> Message {
    guard let raw = dbus_message_new(header.kind) else { throw .outOfMemory }
    let message = Message(owning: raw)
    guard header.path.map({ dbus_message_set_path(raw, $0) }) ?? 1 != 0,
      header.destination.map({ dbus_message_set_destination(raw, $0) }) ?? 1 != 0,
      header.interface.map({ dbus_message_set_interface(raw, $0) }) ?? 1 != 0,
      header.member.map({ dbus_message_set_member(raw, $0) }) ?? 1 != 0,
      header.errorName.map({ dbus_message_set_error_name(raw, $0) }) ?? 1 != 0,
      header.replySerial == 0 || dbus_message_set_reply_serial(raw, header.replySerial) != 0
    else { throw .outOfMemory }
    // Only calls have replies.
    if header.kind != DBUS_MESSAGE_TYPE_METHOD_CALL { dbus_message_set_no_reply(raw, 1) }
    return message
  }

  /// A reply names its call by the call's serial.
  private static func checkSent(_ call: borrowing Message) throws(CodingError) {
    if call.serial == 0 { throw .invalidValue("a message that was never sent cannot be answered") }
  }

  private static func check(path: ObjectPath, interface: InterfaceName?) throws(CodingError) {
    let length = path.rawValue.utf8.count
    if length > MessageWriter.maximumPathLength { throw .pathTooLong(length) }
    // libdbus at the other side hangs up on a message with such a path or interface.
    if path.rawValue.hasPrefix(DBUS_PATH_LOCAL) { throw .reserved(DBUS_PATH_LOCAL) }
    if let interface, interface.rawValue.hasPrefix(DBUS_INTERFACE_LOCAL) {
      throw .reserved(DBUS_INTERFACE_LOCAL)
    }
  }

  /// Marks the message as a call without a reply.
  mutating func setNoReply() {
    if let bytes { bytes.setNoReply() } else { dbus_message_set_no_reply(raw, 1) }
  }
}

// MARK: - Reading messages

extension Message {
  /// The kind of the message.
  public var kind: Kind {
    switch dbus_message_get_type(raw) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
    case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
    case DBUS_MESSAGE_TYPE_ERROR: .error
    case DBUS_MESSAGE_TYPE_SIGNAL: .signal
    default: .unknown
    }
  }

  /// The unique name of the sender. The bus fills it in; between two peers there is none.
  public var sender: BusName? { Self.name(dbus_message_get_sender(raw)) }
  /// The receiver.
  public var destination: BusName? {
    if let bytes { return bytes.destination.map(BusName.init(unchecked:)) }
    return Self.name(dbus_message_get_destination(raw))
  }
  /// The object that is called, or that emits the signal.
  public var path: ObjectPath? { Self.name(dbus_message_get_path(raw)) }
  /// The interface of the method or signal. A call may leave it out.
  public var interface: InterfaceName? { Self.name(dbus_message_get_interface(raw)) }
  /// The name of the method or signal.
  public var member: MemberName? { Self.name(dbus_message_get_member(raw)) }
  /// The name of the error.
  public var errorName: ErrorName? { Self.name(dbus_message_get_error_name(raw)) }
  /// The number that the sender gave to the message; 0 before it is sent.
  public var serial: UInt32 { dbus_message_get_serial(raw) }
  /// The serial of the call that this message answers; 0 for other messages.
  public var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
  /// Whether the sender of this call waits for its reply.
  public var expectsReply: Bool { kind == .methodCall && dbus_message_get_no_reply(raw) == 0 }

  /// The types of the message's values.
  public var signature: Signature {
    guard let text = dbus_message_get_signature(raw) else { return .empty }
    return Signature(unchecked: String(cString: text))
  }

  private static func name<Name: ValidatedName>(_ text: UnsafePointer<CChar>?) -> Name? {
    text.map { Name(unchecked: String(cString: $0)) }
  }

  /// Roughly the number of bytes of the message, without looking at each value.
  var size: Int {
    var size = dbus_message_get_path(raw).map { strlen($0) } ?? 0
    var iterator = DBusMessageIter()
    if dbus_message_iter_init(raw, &iterator) != 0 { size += Self.size(of: &iterator) }
    return size
  }

  /// libdbus bounds the depth of containers, and a signature bounds the number of values side by side outside arrays.
  private static func size(of iterator: inout DBusMessageIter) -> Int {
    var size = 0
    while true {
      switch WireType(code: dbus_message_iter_get_arg_type(&iterator)) {
      case .invalid: return size
      case .string, .objectPath, .signature:
        var text: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &text)
        size += text.map { strlen($0) } ?? 0
      case .array:
        // libdbus knows the length only where the elements are read; of the array itself it reads other memory.
        var elements = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &elements)
        size += Int(dbus_message_iter_get_array_len(&elements))
      case .structure, .variant:
        var members = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &members)
        size += Self.size(of: &members)
      default: size += 8
      }
      dbus_message_iter_next(&iterator)
    }
  }

  /// All values of the message, as Swift types.
  public func values<each Value: BusValue>(
    as types: repeat (each Value).Type
  ) throws(CodingError) -> (repeat each Value) {
    let expected = Signature.of(repeat each types)
    if !hasSignature(expected) { throw .typeMismatch(expected: expected, found: signature) }
    return try decodeValues()
  }

  /// The values of the message, after its signature was checked.
  func decodeValues<each Value: BusValue>(limit: Int = .max) throws(CodingError) -> (repeat each Value) {
    var reader = MessageReader(raw, limit: limit)
    return (repeat try (each Value).read(from: &reader))
  }

  /// The values of the message, of any types.
  ///
  /// ```swift
  /// let signal = try Message.signal(from: "/", "org.example.Log", "Said", "hello", UInt32(3))
  /// print(try signal.variants().map(\.contentSignature))  // [s, u]
  /// ```
  public func variants() throws(CodingError) -> [Variant] {
    var reader = MessageReader(raw)
    return try Variant.readAll(from: &reader)
  }

  /// Compares the signature without making a string.
  func hasSignature(_ expected: Signature) -> Bool {
    dbus_message_has_signature(raw, expected.rawValue) != 0
  }

  var errorReply: ErrorReply? {
    guard kind == .error else { return nil }
    var reader = MessageReader(raw)
    let text = (try? String.read(from: &reader)) ?? ""
    var reply = ErrorReply(errorName ?? .failed, text)
    reply.isFromBus = sender == .bus
    return reply
  }
}

// MARK: - Bytes

extension Message {
  /// The bytes of the message, in this machine's byte order. They do not include file descriptors.
  ///
  /// ```swift
  /// let signal = try Message.signal(from: "/", "org.example.Log", "Said", "hello")
  /// let again = try Message(bytes: signal.bytes(serial: 1))
  /// print(again.member ?? "none", again.serial)
  /// ```
  public func bytes(serial: UInt32) throws(CodingError) -> [UInt8] {
    errno = 0
    guard let copy = dbus_message_copy(raw) else {
      // The copy has its own descriptors.
      throw errno == 0 || errno == ENOMEM ? .outOfMemory : .fileDescriptorUnavailable(errno)
    }
    defer { dbus_message_unref(copy) }
    dbus_message_set_serial(copy, max(serial, 1))
    var start: UnsafeMutablePointer<CChar>?
    var length: Int32 = 0
    guard dbus_message_marshal(copy, &start, &length) != 0, let start else { throw .outOfMemory }
    defer { dbus_free(start) }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(length)))
  }

  /// Reads one message, of either byte order, from exactly these bytes.
  public init(bytes: [UInt8]) throws(CodingError) {
    let isWhole = Message.length(ofMessageBeginningWith: bytes) == bytes.count
    let raw =
      !isWhole
      ? nil
      : bytes.withUnsafeBytes { buffer -> OpaquePointer? in
        dbus_message_demarshal(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), nil)
      }
    guard let raw else { throw .invalidValue("these bytes are not a whole D-Bus message") }
    self.init(owning: raw)
  }

  /// The length of the message that begins with `bytes`: `nil` if fewer than 16 bytes have come, or if they begin no message.
  public static func length(ofMessageBeginningWith bytes: [UInt8]) -> Int? {
    // libdbus needs the start of the header, and a pointer to it.
    let header = bytes.prefix(16)
    if header.count < 16 { return nil }
    let length = header.withUnsafeBytes {
      dbus_message_demarshal_bytes_needed($0.baseAddress?.assumingMemoryBound(to: CChar.self), 16)
    }
    return length > 0 ? Int(length) : nil
  }
}

/// A message with several owners, or on its way through code that takes only copyable values.
final class MessageBox: Sendable {
  let message: Message

  init(_ message: borrowing Message) { self.message = Message(sharing: message) }
}
