internal import CDBus
internal import Glibc

/// Takes values out of a message, one after the other.
///
/// You meet it only where you write a ``BusValue`` by hand; see ``MessageWriter`` for an example. It is good only
/// while its message is.
///
/// ```swift
/// func readPair(from reader: inout MessageReader) throws(CodingError) -> (String, UInt32) {
///   (try String.read(from: &reader), try UInt32.read(from: &reader))
/// }
/// ```
public struct MessageReader: ~Copyable {
  private var iterator = DBusMessageIter()
  /// How many values may be taken: each costs time and memory, however few bytes it has.
  private let limit: Int
  private var left: Int
  /// A value names a descriptor in four bytes and costs a number of this process, so one that came may not be taken without end. The kernel
  /// passes as many at once.
  static let maximumFileDescriptors = 253
  private var descriptorsLeft = MessageReader.maximumFileDescriptors

  /// `message` outlives the reader.
  init(_ message: OpaquePointer, limit: Int = .max) {
    self.limit = limit
    left = limit
    // False says that there are no arguments, and leaves an iterator that is at its end.
    _ = dbus_message_iter_init(message, &iterator)
  }

  /// For what is inside a container.
  private init(limit: Int, left: Int, descriptorsLeft: Int) {
    self.limit = limit
    self.left = left
    self.descriptorsLeft = descriptorsLeft
  }

  /// Counts a value before it is taken. An array of numbers that is taken in one step is one.
  private mutating func count() throws(CodingError) {
    if left == 0 { throw .tooManyValues(limit: limit) }
    left -= 1
  }

  /// Whether no value is left in the message, or in the container that is being read.
  public var isAtEnd: Bool {
    mutating get { dbus_message_iter_get_arg_type(&iterator) == 0 }
  }

  /// The type of the next value; empty at the end.
  public var nextSignature: Signature {
    mutating get {
      guard !isAtEnd, let text = dbus_message_iter_get_signature(&iterator) else { return .empty }
      defer { dbus_free(text) }
      return Signature(unchecked: String(cString: text))
    }
  }

  /// Takes an array, whose elements `body` takes until it is at the end.
  public mutating func array(
    _ body: (inout MessageReader) throws(CodingError) -> Void
  ) throws(CodingError) {
    try container(.array, expected: Signature(unchecked: "a"), body)
  }

  /// Takes a structure, whose members `body` takes.
  public mutating func structure(
    _ body: (inout MessageReader) throws(CodingError) -> Void
  ) throws(CodingError) {
    try container(.structure, expected: Signature(unchecked: "("), body)
  }

  /// Takes a variant, whose one value `body` takes.
  public mutating func variant(
    _ body: (inout MessageReader) throws(CodingError) -> Void
  ) throws(CodingError) {
    try container(.variant, expected: "v", body)
  }

  mutating func entry(_ body: (inout MessageReader) throws(CodingError) -> Void) throws(CodingError) {
    try container(.dictionaryEntry, expected: Signature(unchecked: "{"), body)
  }

  private mutating func container(
    _ type: WireType, expected: @autoclosure () -> Signature,
    _ body: (inout MessageReader) throws(CodingError) -> Void
  ) throws(CodingError) {
    guard dbus_message_iter_get_arg_type(&iterator) == type.code else { throw mismatch(expected: expected()) }
    try count()
    var child = MessageReader(limit: limit, left: left, descriptorsLeft: descriptorsLeft)
    dbus_message_iter_recurse(&iterator, &child.iterator)
    try body(&child)
    left = child.left
    descriptorsLeft = child.descriptorsLeft
    dbus_message_iter_next(&iterator)
  }

  mutating func basic<Value: BitwiseCopyable>(_ type: WireType, zero: Value) throws(CodingError) -> Value {
    guard dbus_message_iter_get_arg_type(&iterator) == type.code else { throw mismatch(expected: type) }
    try count()
    var value = zero
    dbus_message_iter_get_basic(&iterator, &value)
    dbus_message_iter_next(&iterator)
    return value
  }

  /// What came over the bus has been validated by libdbus, so the text is what was sent.
  mutating func string(_ type: WireType) throws(CodingError) -> String {
    let start: UnsafePointer<CChar>? = try basic(type, zero: nil)
    return start.map { String(cString: $0) } ?? ""
  }

  mutating func fileDescriptor() throws(CodingError) -> Int32 {
    if descriptorsLeft == 0 { throw .tooManyFileDescriptors }
    descriptorsLeft -= 1
    errno = 0
    let descriptor: Int32 = try basic(.fileDescriptor, zero: -1)
    // Where the message names a descriptor that did not come with it, nothing was duplicated.
    if descriptor < 0 { throw errno == 0 ? .missingFileDescriptor : .fileDescriptorUnavailable(errno) }
    return descriptor
  }

  /// Takes an array of a type of fixed size in one step. The bytes are good only inside `body`.
  mutating func fixedArray<Element: BitwiseCopyable, Result>(
    of type: WireType, _ body: (UnsafeBufferPointer<Element>) -> Result
  ) throws(CodingError) -> Result {
    guard dbus_message_iter_get_arg_type(&iterator) == WireType.array.code,
      dbus_message_iter_get_element_type(&iterator) == type.code
    else {
      let element = Signature(unchecked: String(UnicodeScalar(type.rawValue)))
      throw mismatch(expected: Signature(unchecked: "a\(element)"))
    }
    try count()
    var elements = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &elements)
    var start: UnsafePointer<Element>?
    var count: Int32 = 0
    // An empty array leaves both as they are.
    dbus_message_iter_get_fixed_array(&elements, &start, &count)
    let result = body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count)))
    dbus_message_iter_next(&iterator)
    return result
  }

  /// Takes bytes in one step. They are good only inside `body`.
  package mutating func bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) throws(CodingError) -> Result {
    try fixedArray(of: .byte, body)
  }

  /// Passes over the next value, if there is one.
  mutating func skip() { dbus_message_iter_next(&iterator) }

  /// The letter of the next value, for reading a variant.
  var nextType: WireType {
    mutating get {
      WireType(rawValue: UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(&iterator))) ?? .invalid
    }
  }

  /// The letter of the next array's elements.
  var nextElementType: WireType {
    mutating get {
      WireType(rawValue: UInt8(truncatingIfNeeded: dbus_message_iter_get_element_type(&iterator))) ?? .invalid
    }
  }

  private mutating func mismatch(expected type: WireType) -> CodingError {
    mismatch(expected: Signature(unchecked: String(UnicodeScalar(type.rawValue))))
  }

  private mutating func mismatch(expected: Signature) -> CodingError {
    isAtEnd ? .endOfValues(expected: expected) : .typeMismatch(expected: expected, found: nextSignature)
  }
}
