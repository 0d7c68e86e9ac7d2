internal import CDBus
internal import Glibc

/// Reads values from a message, one after another.
///
/// You need it only to write a ``BusValue`` by hand; see ``MessageWriter`` for an example. It is valid only as long as its message.
///
/// ```swift
/// func readPair(from reader: inout MessageReader) throws(CodingError) -> (String, UInt32) {
///   (try String.read(from: &reader), try UInt32.read(from: &reader))
/// }
/// ```
public struct MessageReader: ~Copyable {
  private var iterator = DBusMessageIter()
  /// The number of values that may be read. Each costs time and memory, however few bytes it has.
  private let limit: Int
  private var left: Int
  /// The number of descriptors that may be read. A value that names a descriptor takes four bytes in the message and a descriptor of this process, so
  /// one descriptor may not be read again and again. The kernel passes this many at once.
  static let maximumFileDescriptors = 253
  private var descriptorsLeft = MessageReader.maximumFileDescriptors

  /// `message` outlives the reader.
  init(_ message: OpaquePointer, limit: Int = .max) {
    self.limit = limit
    left = limit
    // False means that there are no arguments. The iterator is then at its end.
    _ = dbus_message_iter_init(message, &iterator)
  }

  /// A reader for the inside of a container.
  private init(limit: Int, left: Int, descriptorsLeft: Int) {
    self.limit = limit
    self.left = left
    self.descriptorsLeft = descriptorsLeft
  }

  /// Counts a value before it is read. An array of numbers that is read in one step counts as one.
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

  /// Reads an array. `body` reads its elements until the reader is at the end, and returns the result.
  public mutating func array<Result>(
    _ body: (inout MessageReader) throws(CodingError) -> Result
  ) throws(CodingError) -> Result {
    try container(.array, expected: Signature(unchecked: "a"), body)
  }

  /// Reads a structure. `body` reads its members.
  public mutating func structure<Result>(
    _ body: (inout MessageReader) throws(CodingError) -> Result
  ) throws(CodingError) -> Result {
    try container(.structure, expected: Signature(unchecked: "("), body)
  }

  /// Reads a variant. `body` reads its one value.
  public mutating func variant<Result>(
    _ body: (inout MessageReader) throws(CodingError) -> Result
  ) throws(CodingError) -> Result {
    try container(.variant, expected: "v", body)
  }

  mutating func entry(_ body: (inout MessageReader) throws(CodingError) -> Void) throws(CodingError) {
    try container(.dictionaryEntry, expected: Signature(unchecked: "{"), body)
  }

  private mutating func container<Result>(
    _ type: WireType, expected: @autoclosure () -> Signature,
    _ body: (inout MessageReader) throws(CodingError) -> Result
  ) throws(CodingError) -> Result {
    guard dbus_message_iter_get_arg_type(&iterator) == type.code else { throw mismatch(expected: expected()) }
    try count()
    var child = MessageReader(limit: limit, left: left, descriptorsLeft: descriptorsLeft)
    dbus_message_iter_recurse(&iterator, &child.iterator)
    let result = try body(&child)
    left = child.left
    descriptorsLeft = child.descriptorsLeft
    dbus_message_iter_next(&iterator)
    return result
  }

  mutating func basic<Value: BitwiseCopyable>(_ type: WireType, zero: Value) throws(CodingError) -> Value {
    guard dbus_message_iter_get_arg_type(&iterator) == type.code else { throw mismatch(expected: type.signature) }
    try count()
    var value = zero
    dbus_message_iter_get_basic(&iterator, &value)
    dbus_message_iter_next(&iterator)
    return value
  }

  /// libdbus has validated incoming text, so this is the text that was sent.
  mutating func string(_ type: WireType) throws(CodingError) -> String {
    let start: UnsafePointer<CChar>? = try basic(type, zero: nil)
    return start.map { String(cString: $0) } ?? ""
  }

  mutating func fileDescriptor() throws(CodingError) -> Int32 {
    if descriptorsLeft == 0 { throw .tooManyFileDescriptors }
    descriptorsLeft -= 1
    errno = 0
    let descriptor: Int32 = try basic(.fileDescriptor, zero: -1)
    // If the message names a descriptor that did not come with it, libdbus has duplicated nothing.
    if descriptor < 0 { throw errno == 0 ? .missingFileDescriptor : .fileDescriptorUnavailable(errno) }
    return descriptor
  }

  /// Reads an array of a type of fixed size in one step. The bytes are valid only inside `body`.
  mutating func fixedArray<Element: BitwiseCopyable, Result>(
    of type: WireType, _ body: (UnsafeBufferPointer<Element>) -> Result
  ) throws(CodingError) -> Result {
    guard dbus_message_iter_get_arg_type(&iterator) == WireType.array.code,
      dbus_message_iter_get_element_type(&iterator) == type.code
    else { throw mismatch(expected: Signature(unchecked: "a\(type.signature)")) }
    try count()
    var elements = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &elements)
    var start: UnsafePointer<Element>?
    var count: Int32 = 0
    // An empty array leaves both unchanged.
    dbus_message_iter_get_fixed_array(&elements, &start, &count)
    let result = body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count)))
    dbus_message_iter_next(&iterator)
    return result
  }

  /// Reads bytes in one step. They are valid only inside `body`.
  package mutating func bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) throws(CodingError) -> Result {
    try fixedArray(of: .byte, body)
  }

  mutating func skip() { dbus_message_iter_next(&iterator) }

  /// The letter of the next value, for reading a variant.
  var nextType: WireType {
    mutating get { WireType(code: dbus_message_iter_get_arg_type(&iterator)) }
  }

  /// The letter of the next array's elements.
  var nextElementType: WireType {
    mutating get { WireType(code: dbus_message_iter_get_element_type(&iterator)) }
  }

  private mutating func mismatch(expected: Signature) -> CodingError {
    isAtEnd ? .endOfValues(expected: expected) : .typeMismatch(expected: expected, found: nextSignature)
  }
}
