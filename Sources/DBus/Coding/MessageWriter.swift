internal import CDBus
internal import Glibc

/// Appends values to a message that is being built.
///
/// You need it only to write a ``BusValue`` by hand.
///
/// ```swift
/// struct Celsius: BusValue {
///   var degrees: Double
///   static var signature: Signature { "d" }
///   static func read(from reader: inout MessageReader) throws(CodingError) -> Celsius {
///     Celsius(degrees: try Double.read(from: &reader))
///   }
///   func write(to writer: inout MessageWriter) throws(CodingError) { try degrees.write(to: &writer) }
///   init(degrees: Double) { self.degrees = degrees }
///   init(_ variant: Variant) throws(CodingError) { degrees = try Double(variant) }
///   var variant: Variant { degrees.variant }
/// }
/// print(Celsius.signature, Celsius(degrees: 21.5).variant)
/// ```
public struct MessageWriter: ~Copyable {
  /// The longest array, in bytes, as the specification allows.
  public static let maximumArrayLength = 1 << 26
  /// The longest path that a message is sent to or from. D-Bus limits only the message; no sensible path comes near.
  public static let maximumPathLength = 1 << 16
  /// The most that the values of a message may take together, in bytes: the specification's 128 MiB, less a header with the longest path and names,
  /// and the sender's name that the bus adds.
  public static let maximumBodyLength = (1 << 27) - maximumPathLength - 4096
  /// The depth to which containers may nest in all, variants included, as the specification allows.
  public static let maximumDepth = 64
  /// The most file descriptors that a message may carry: every libdbus peer accepts this many.
  public static let maximumFileDescriptors = 16

  /// The destination of the values: plain bytes if the message is written in one piece; otherwise the message, through the iterator.
  private let bytes: MessageBytes?
  private var iterator = DBusMessageIter()
  /// The position of the next byte, counted from the start of the body.
  private(set) var position = 0
  private var depth = 0
  private var limit = 0
  private(set) var fileDescriptors = 0
  private var expected: ExpectedTypes
  /// The first failure. After it the message can only be discarded.
  private var failure: CodingError?

  /// `signature` is the signature that the message will have. `message` is the message with this body; it outlives the writer.
  init(appendingTo message: OpaquePointer, signature: Signature) {
    self.init(nil, signature)
    dbus_message_iter_init_append(message, &iterator)
  }

  /// Writes into `bytes` until these are given up. The checks continue to the end.
  init(into bytes: MessageBytes, signature: Signature) { self.init(bytes, signature) }

  private init(_ bytes: MessageBytes?, _ signature: Signature) {
    self.bytes = bytes
    limit = Self.maximumBodyLength
    expected = ExpectedTypes(of: signature, repeats: false)
  }

  /// Throws the first failure, even if the value that was being written ignored it; and throws if a value is missing.
  func finish() throws(CodingError) {
    if let failure { throw failure }
    try expected.checkEnd()
  }

  private init(inside parent: borrowing MessageWriter, expecting expected: ExpectedTypes) {
    bytes = parent.bytes
    depth = parent.depth + 1
    position = parent.position
    limit = parent.limit
    fileDescriptors = parent.fileDescriptors
    self.expected = expected
  }

  /// Appends an array with elements of the type `element`. `body` appends the elements.
  public mutating func array(
    of element: Signature, _ body: (inout MessageWriter) throws(CodingError) -> Void
  ) throws(CodingError) {
    var start = 0
    try container(.array, contents: element) { (elements) throws(CodingError) in
      try elements.advance(4, alignment: 4)
      let lengthPlace = elements.position - 4
      elements.bytes?.append(0 as UInt32)
      // The padding before the first element is written even if the array is empty.
      try elements.advance(0, alignment: WireType.alignment(of: element))
      start = elements.position
      try body(&elements)
      let length = elements.position - start
      if length > Self.maximumArrayLength { throw .arrayTooLong(length) }
      elements.bytes?.put(length, at: lengthPlace)
    }
  }

  /// Appends a structure. `body` appends its members.
  public mutating func structure(
    _ body: (inout MessageWriter) throws(CodingError) -> Void
  ) throws(CodingError) {
    try container(.structure, contents: nil) { (members) throws(CodingError) in
      try members.advance(0, alignment: 8)
      try body(&members)
    }
  }

  /// Appends one entry of a dictionary, which is written as an array.
  mutating func entry(_ body: (inout MessageWriter) throws(CodingError) -> Void) throws(CodingError) {
    try container(.dictionaryEntry, contents: nil) { (pair) throws(CodingError) in
      try pair.advance(0, alignment: 8)
      try body(&pair)
    }
  }

  /// Appends a variant with one value of the type `content`. `body` appends the value.
  public mutating func variant(
    of content: Signature, _ body: (inout MessageWriter) throws(CodingError) -> Void
  ) throws(CodingError) {
    try container(.variant, contents: content) { (value) throws(CodingError) in
      try value.advance(content.rawValue.utf8.count + 2, alignment: 1)
      value.bytes?.append(UInt8(truncatingIfNeeded: content.rawValue.utf8.count))
      value.bytes?.append(content.rawValue)
      try body(&value)
    }
  }

  /// The one place where containers open and close. After an error the message can only be discarded.
  private mutating func container(
    _ type: WireType, contents: Signature?, _ body: (inout MessageWriter) throws(CodingError) -> Void
  ) throws(CodingError) {
    if depth == Self.maximumDepth { throw .nestedTooDeep }
    if let contents { try Self.check(contents, inArray: type == .array) }
    let members = try expect(type, contents: contents)
    var child = MessageWriter(
      inside: self, expecting: contents.map { ExpectedTypes(of: $0, repeats: type == .array) } ?? members)
    if bytes == nil, dbus_message_iter_open_container(&iterator, type.code, contents?.rawValue, &child.iterator) == 0 {
      throw .outOfMemory
    }
    do throws(CodingError) {
      try body(&child)
      try child.finish()
    } catch {
      failure = error
      if bytes == nil { dbus_message_iter_abandon_container(&iterator, &child.iterator) }
      throw error
    }
    if bytes == nil, dbus_message_iter_close_container(&iterator, &child.iterator) == 0 { throw .outOfMemory }
    position = child.position
    fileDescriptors = child.fileDescriptors
  }

  /// Returns the types that a structure or an entry may hold.
  @discardableResult
  private mutating func expect(_ type: WireType, contents: Signature? = nil) throws(CodingError) -> ExpectedTypes {
    if let failure { throw failure }
    return try expected.take(type, contents: contents)
  }

  /// libdbus ends the process when a container is opened with anything but one valid type.
  private static func check(_ contents: Signature, inArray: Bool) throws(CodingError) {
    let letters = contents.rawValue.utf8
    if letters.count == 1, let letter = letters.first, SignatureParser.isBasic(letter) || letter == UInt8(ascii: "v") {
      return
    }
    // A dictionary entry is a type only inside its array.
    let whole = Signature(unchecked: inArray ? "a\(contents)" : contents.rawValue)
    let fault = Signature.fault(in: whole.rawValue) ?? (whole.isSingleCompleteType ? nil : "it is not one type")
    if let fault { throw .invalidSignature(InvalidName(text: contents.rawValue, kind: Signature.kind, fault: fault)) }
  }

  mutating func basic<Value: BitwiseCopyable>(_ value: Value, as type: WireType) throws(CodingError) {
    try expect(type)
    try advance(MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.size)
    if let bytes { return withUnsafeBytes(of: value) { bytes.append($0) } }
    let appended = withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type.code, $0) }
    if appended == 0 { throw .outOfMemory }
  }

  mutating func string(_ text: String, as type: WireType) throws(CodingError) {
    try expect(type)
    let length = text.utf8.count
    if type == .signature {
      try advance(length + 2, alignment: 1)
    } else {
      try advance(4 + length + 1, alignment: 4)
    }
    if let bytes {
      if type == .signature { bytes.append(UInt8(truncatingIfNeeded: length)) } else { bytes.append(UInt32(length)) }
      if !bytes.append(text) { throw .containsNUL }
      return
    }
    let outcome: CodingError? = text.withCString { start in
      if strlen(start) != length { return .containsNUL }
      return withUnsafePointer(to: start) { dbus_message_iter_append_basic(&iterator, type.code, $0) } == 0
        ? .outOfMemory : nil
    }
    if let outcome { throw outcome }
  }

  mutating func fileDescriptor(_ descriptor: Int32) throws(CodingError) {
    try expect(.fileDescriptor)
    fileDescriptors += 1
    if fileDescriptors > Self.maximumFileDescriptors { throw .tooManyFileDescriptors }
    try advance(4, alignment: 4)
    if fcntl(descriptor, F_GETFD) < 0 { throw .fileDescriptorUnavailable(errno) }
    if let bytes { return bytes.giveUp() }
    let appended = withUnsafePointer(to: descriptor) {
      dbus_message_iter_append_basic(&iterator, WireType.fileDescriptor.code, $0)
    }
    if appended == 0 { throw .fileDescriptorUnavailable(errno) }
  }

  mutating func fixedArray<Element: BitwiseCopyable>(
    _ elements: UnsafeBufferPointer<Element>, of type: WireType, signature: Signature
  ) throws(CodingError) {
    let length = elements.count * MemoryLayout<Element>.size
    if length > Self.maximumArrayLength { throw .arrayTooLong(length) }
    try array(of: signature) { (writer) throws(CodingError) in
      try writer.advance(length, alignment: MemoryLayout<Element>.size)
      if let bytes = writer.bytes { return bytes.append(UnsafeRawBufferPointer(elements)) }
      // libdbus needs a pointer even if there are no elements.
      var start = elements.baseAddress ?? UnsafePointer(bitPattern: MemoryLayout<Element>.alignment)
      if dbus_message_iter_append_fixed_array(&writer.iterator, type.code, &start, Int32(elements.count)) == 0 {
        throw .outOfMemory
      }
    }
  }

  /// Appends bytes in one step.
  package mutating func bytes(_ bytes: UnsafeRawBufferPointer) throws(CodingError) {
    try fixedArray(bytes.assumingMemoryBound(to: UInt8.self), of: .byte, signature: UInt8.signature)
  }

  private mutating func advance(_ size: Int, alignment: Int) throws(CodingError) {
    position = (position + alignment - 1) & ~(alignment - 1)
    position += size
    if position > limit { throw .messageTooLong }
    bytes?.align(to: alignment)
  }
}
