internal import CDBus
internal import Glibc

/// A small message that is written by us and handed to libdbus in one piece.
///
/// libdbus writes the signature into the header anew for each value that is appended, which for a signal of eight texts is most of what
/// it takes to make one. Reading a message that is whole is a fourth of that, and checks it again.
///
/// What carries descriptors has to be appended, and of a large message this would only be another copy: it is given up then.
final class MessageBytes {
  /// Beyond this many bytes the copies cost more than what they save.
  private static let limit = 4096

  // One writer at a time, on one thread, never across a call out.
  @exclusivity(unchecked) private var body: [UInt8] = []
  @exclusivity(unchecked) private(set) var isGivenUp = false

  init(capacity: Int = 1024) { body.reserveCapacity(capacity) }

  func giveUp() {
    isGivenUp = true
    body = []
  }

  func align(to alignment: Int) {
    if isGivenUp { return }
    while body.count & (alignment - 1) != 0 { body.append(0) }
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    if isGivenUp { return }
    if body.count + bytes.count > MessageBytes.limit { return giveUp() }
    body.append(contentsOf: bytes)
  }

  func append(_ byte: UInt8) {
    if isGivenUp { return }
    body.append(byte)
  }

  func append(_ number: UInt32) { withUnsafeBytes(of: number) { append($0) } }

  /// `text` and the zero behind it.
  func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    append(0 as UInt8)
  }

  /// A length that is known now, where four bytes were left for it.
  func put(_ number: Int, at offset: Int) {
    if isGivenUp { return }
    withUnsafeBytes(of: UInt32(number)) { body.replaceSubrange(offset..<(offset + 4), with: $0) }
  }

  /// The message with what `header` has in its header, and this as its body; `nil` where libdbus does not take it.
  func message(like header: OpaquePointer, signature: Signature) -> OpaquePointer? {
    let whole = MessageBytes(capacity: body.count + 512)
    whole.putHeader(header, signature, bodyLength: body.count)
    body.withUnsafeBytes { whole.body.append(contentsOf: $0) }
    let message = whole.body.withUnsafeBytes {
      dbus_message_demarshal($0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), nil)
    }
    // It has one when it is sent.
    if let message { dbus_message_set_serial(message, 0) }
    return message
  }

  // MARK: The header

  private func putHeader(_ message: OpaquePointer, _ signature: Signature, bodyLength: Int) {
    append(UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B"))
    append(UInt8(truncatingIfNeeded: dbus_message_get_type(message)))
    let isUnanswered: UInt8 = dbus_message_get_no_reply(message) != 0 ? 1 : 0
    let startsNobody: UInt8 = dbus_message_get_auto_start(message) != 0 ? 0 : 2
    append(isUnanswered | startsNobody)
    append(1 as UInt8)
    append(UInt32(bodyLength))
    append(1 as UInt32)
    append(0 as UInt32)
    // In the order in which libdbus has them.
    putField(1, "o", dbus_message_get_path(message))
    putField(6, "s", dbus_message_get_destination(message))
    putField(2, "s", dbus_message_get_interface(message))
    putField(3, "s", dbus_message_get_member(message))
    putField(4, "s", dbus_message_get_error_name(message))
    let replySerial = dbus_message_get_reply_serial(message)
    if replySerial != 0 {
      beginField(5, "u")
      align(to: 4)
      append(replySerial)
    }
    beginField(8, "g")
    append(UInt8(signature.rawValue.utf8.count))
    append(signature.rawValue)
    put(body.count - 16, at: 12)
    align(to: 8)
  }

  private func beginField(_ code: UInt8, _ type: Unicode.Scalar) {
    align(to: 8)
    append(code)
    append(1 as UInt8)
    append(UInt8(ascii: type))
    append(0 as UInt8)
  }

  private func putField(_ code: UInt8, _ type: Unicode.Scalar, _ text: UnsafePointer<CChar>?) {
    guard let text else { return }
    let length = strlen(text)
    beginField(code, type)
    align(to: 4)
    append(UInt32(length))
    append(UnsafeRawBufferPointer(start: text, count: length + 1))
  }
}
