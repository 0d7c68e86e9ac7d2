internal import CDBus
internal import Glibc
internal import Synchronization

/// A message in its wire format, written by this module.
///
/// libdbus writes the signature into the header anew for each appended value, which for a signal of eight texts is most of the work. Small messages
/// can also leave together: see ``Mail``. A message becomes a message of libdbus if it is not small, if somebody reads it, or if it must wait behind
/// others.
///
/// libdbus must append descriptors, and a very large message would exist twice: in these cases the bytes are given up.
final class MessageBytes {
  /// The fields of a header. A field that is `nil` is absent.
  struct Header {
    var kind: Int32
    var path: String?
    var destination: String?
    var interface: String?
    var member: String?
    var errorName: String?
    var replySerial: UInt32 = 0
  }

  /// The greatest length of a message that leaves together with others.
  static let smallLimit = 4096
  /// The length beyond which the bytes are given up.
  private static let limit = 1 << 22

  private(set) var isGivenUp = false
  /// The receiver.
  let destination: String?

  private(set) var start: UnsafeMutableRawPointer
  private(set) var count = 0
  private var capacity = 512
  private var bodyStart = 0
  private let foreign = AtomicLazyReference<ForeignMessage>()

  var isSmall: Bool { count <= MessageBytes.smallLimit }

  /// Begins a message. The values are appended next, and ``finish()`` comes last.
  init(_ header: Header, signature: Signature) {
    start = .allocate(byteCount: capacity, alignment: 8)
    destination = header.destination
    put(header, signature)
    bodyStart = count
  }

  deinit { start.deallocate() }

  func giveUp() { isGivenUp = true }

  func align(to alignment: Int) {
    let gap = -count & (alignment - 1)
    guard gap > 0, makeSpace(for: 8) else { return }
    (start + count).storeBytes(of: 0, as: UInt64.self)
    count += gap
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, makeSpace(for: bytes.count) else { return }
    (start + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  func append<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    let size = MemoryLayout<Number>.size
    guard makeSpace(for: size) else { return }
    (start + count).storeBytes(of: number, as: Number.self)
    count += size
  }

  /// Appends `text` and a NUL. Returns whether this is the only NUL.
  @discardableResult
  func append(_ text: String) -> Bool {
    var text = text
    let isOnly = text.withUTF8 { bytes in
      append(UnsafeRawBufferPointer(bytes))
      return bytes.baseAddress.map { memchr($0, 0, bytes.count) == nil } ?? true
    }
    append(0 as UInt8)
    return isOnly
  }

  /// Writes a length, now that it is known, into the four bytes that were left for it in the body.
  func put(_ number: Int, at offset: Int) {
    if !isGivenUp { (start + bodyStart + offset).storeBytes(of: UInt32(number), as: UInt32.self) }
  }

  private func makeSpace(for size: Int) -> Bool {
    if isGivenUp { return false }
    if count + size <= capacity { return true }
    if count + size > MessageBytes.limit {
      giveUp()
      return false
    }
    capacity = min(max(2 * capacity, count + size), MessageBytes.limit)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    larger.copyMemory(from: start, byteCount: count)
    start.deallocate()
    start = larger
    return true
  }

  // MARK: The header

  /// The offsets of the numbers in a header.
  private enum Place {
    static let flags = 2
    static let bodyLength = 4
    static let serial = 8
    static let fieldsLength = 12
    static let fields = 16
  }

  func finish() { store(UInt32(count - bodyStart), at: Place.bodyLength) }

  func setNoReply() { (start + Place.flags).storeBytes(of: 1, as: UInt8.self) }

  func setSerial(_ serial: UInt32) { store(serial, at: Place.serial) }

  private func store(_ number: UInt32, at place: Int) {
    if !isGivenUp { (start + place).storeBytes(of: number, as: UInt32.self) }
  }

  private func put(_ header: Header, _ signature: Signature) {
    append(UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B"))
    append(UInt8(truncatingIfNeeded: header.kind))
    // Only calls have replies.
    append(header.kind == DBUS_MESSAGE_TYPE_METHOD_CALL ? 0 : 1 as UInt8)
    append(1 as UInt8)
    append(0 as UInt32)
    // libdbus reads no message without a serial.
    append(1 as UInt32)
    append(0 as UInt32)
    // In libdbus's order of the fields.
    putField(1, "o", header.path)
    putField(6, "s", header.destination)
    putField(2, "s", header.interface)
    putField(3, "s", header.member)
    putField(4, "s", header.errorName)
    if header.replySerial != 0 {
      beginField(5, "u")
      append(header.replySerial)
    }
    if signature != .empty {
      beginField(8, "g")
      append(UInt8(signature.rawValue.utf8.count))
      append(signature.rawValue)
    }
    store(UInt32(count - Place.fields), at: Place.fieldsLength)
    align(to: 8)
  }

  private func beginField(_ code: UInt8, _ type: Unicode.Scalar) {
    align(to: 8)
    append(code)
    append(1 as UInt8)
    append(UInt8(ascii: type))
    append(0 as UInt8)
  }

  private func putField(_ code: UInt8, _ type: Unicode.Scalar, _ text: String?) {
    guard let text else { return }
    beginField(code, type)
    append(UInt32(text.utf8.count))
    append(text)
  }
}

// After it is finished, its maker may mark it as a call without a reply. Then only its serial is written, by the connection that sends it.
extension MessageBytes: @unchecked Sendable {}

// MARK: - The message for libdbus

extension MessageBytes {
  /// The same message as libdbus's, made at the first use.
  var raw: OpaquePointer {
    guard let raw = rawWithMemory else { preconditionFailure("libdbus does not take a message that was written here") }
    return raw
  }

  /// The same, or `nil` where memory is short.
  var rawWithMemory: OpaquePointer? {
    if let made = foreign.load() { return made.raw }
    guard let raw = makeRaw() else { return nil }
    // It gets its serial when it is sent.
    dbus_message_set_serial(raw, 0)
    return foreign.storeIfNil(ForeignMessage(raw)).raw
  }

  /// Whether libdbus calls it no message. That it has no memory to look says nothing.
  var isRefusedByLibrary: Bool {
    var error = DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    if let raw = dbus_message_demarshal(start.assumingMemoryBound(to: CChar.self), Int32(count), &error) {
      dbus_message_unref(raw)
      return false
    }
    return dbus_error_has_name(&error, DBUS_ERROR_NO_MEMORY) == 0
  }

  /// The same message as libdbus's, with its serial; `nil` if memory is short.
  func makeRaw() -> OpaquePointer? {
    dbus_message_demarshal(start.assumingMemoryBound(to: CChar.self), Int32(count), nil)
  }

  /// Gives the message to libdbus. Returns whether libdbus had the memory for it.
  func send(on connection: OpaquePointer) -> Bool {
    guard let raw = makeRaw() else { return false }
    defer { dbus_message_unref(raw) }
    return dbus_connection_send(connection, raw, nil) != 0
  }
}

// Nobody changes the message, and libdbus counts references atomically.
private final class ForeignMessage: @unchecked Sendable {
  let raw: OpaquePointer

  init(_ raw: OpaquePointer) { self.raw = raw }

  deinit { dbus_message_unref(raw) }
}
