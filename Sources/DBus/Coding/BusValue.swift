/// A Swift type whose values go over the bus.
///
/// The basic types, arrays, dictionaries, ``Variant``, ``Structure`` and ``OwnedFileDescriptor`` are bus values already, and with `import
/// DBusFoundation` so is `Data`. A structure of your own becomes one through ``BusStructure``. An enumeration whose raw value is a bus value only has
/// to declare its conformance:
///
/// ```swift
/// enum Mood: String, BusValue { case calm, merry }
///
/// let message = try Message.signal(from: "/org/example", "org.example.Mood", "Changed", Mood.merry)
/// let mood = try message.values(as: Mood.self)
/// print(mood)
/// ```
public protocol BusValue: Sendable {
  /// The signature of this type: one complete type.
  static var signature: Signature { get }

  /// Reads the next value from `reader`.
  static func read(from reader: inout MessageReader) throws(CodingError) -> Self

  /// Appends this value to `writer`.
  func write(to writer: inout MessageWriter) throws(CodingError)

  /// Makes the value from the content of a variant.
  init(_ variant: Variant) throws(CodingError)

  /// This value as the content of a variant.
  var variant: Variant { get }

  /// Reads an array of values from `reader`. Types of a fixed size do this in one step.
  static func readArray(from reader: inout MessageReader) throws(CodingError) -> [Self]

  /// Appends an array of values to `writer`. Types of a fixed size do this in one step.
  static func writeArray(_ values: [Self], to writer: inout MessageWriter) throws(CodingError)

  /// Makes the array from the content of a variant.
  static func array(from variant: Variant) throws(CodingError) -> [Self]

  /// An array as the content of a variant.
  static func variant(of values: [Self]) -> Variant
}

/// A bus value that may be the key of a dictionary: one of D-Bus's basic types.
///
/// ```swift
/// func describe<Key: BasicBusValue>(_ key: Key.Type) -> String { "a{\(key.signature)v}" }
/// print(describe(UInt32.self))  // a{uv}
/// ```
public protocol BasicBusValue: BusValue, Hashable {}

extension BusValue {
  /// Reads the elements one by one.
  public static func readArray(from reader: inout MessageReader) throws(CodingError) -> [Self] {
    try reader.array { (elements) throws(CodingError) in
      var values: [Self] = []
      while !elements.isAtEnd { values.append(try Self.read(from: &elements)) }
      return values
    }
  }

  /// Appends the elements one by one.
  public static func writeArray(_ values: [Self], to writer: inout MessageWriter) throws(CodingError) {
    try writer.array(of: signature) { (elements) throws(CodingError) in
      for value in values { try value.write(to: &elements) }
    }
  }

  /// Converts the elements one by one.
  public static func array(from variant: Variant) throws(CodingError) -> [Self] {
    let values: [Variant]
    switch variant {
    case .array(let element, let elements) where element == signature: values = elements
    case .bytes(let bytes) where signature == "y": values = bytes.map(Variant.byte)
    default: throw .typeMismatch(expected: Signature(unchecked: "a\(signature)"), found: variant.contentSignature)
    }
    return try values.map { (value) throws(CodingError) in try Self(value) }
  }

  /// Converts the elements one by one.
  public static func variant(of values: [Self]) -> Variant {
    let elements = values.map(\.variant)
    let array = Variant.array(of: signature, elements)
    return signature == "y" ? array.heldBytes.map(Variant.bytes) ?? array : array
  }
}

extension BusValue where Self: RawRepresentable, RawValue: BusValue {
  /// The signature of the raw value.
  public static var signature: Signature { RawValue.signature }

  /// Reads a raw value, and refuses one that no case has.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Self {
    try Self(checking: try RawValue.read(from: &reader))
  }

  /// Appends the raw value.
  public func write(to writer: inout MessageWriter) throws(CodingError) { try rawValue.write(to: &writer) }

  /// The value whose raw value the variant holds.
  public init(_ variant: Variant) throws(CodingError) { self = try Self(checking: try RawValue(variant)) }

  /// The raw value as the content of a variant.
  public var variant: Variant { rawValue.variant }

  /// Reads the raw values, and refuses one that no case has.
  public static func readArray(from reader: inout MessageReader) throws(CodingError) -> [Self] {
    try RawValue.readArray(from: &reader).map { (raw) throws(CodingError) in try Self(checking: raw) }
  }

  /// Appends the raw values.
  public static func writeArray(_ values: [Self], to writer: inout MessageWriter) throws(CodingError) {
    try RawValue.writeArray(values.map(\.rawValue), to: &writer)
  }

  /// The values whose raw values the variant holds.
  public static func array(from variant: Variant) throws(CodingError) -> [Self] {
    try RawValue.array(from: variant).map { (raw) throws(CodingError) in try Self(checking: raw) }
  }

  /// The raw values as the content of a variant.
  public static func variant(of values: [Self]) -> Variant { RawValue.variant(of: values.map(\.rawValue)) }

  private init(checking raw: RawValue) throws(CodingError) {
    // No case has a name that would be slow to compare with those of the cases.
    let isSlow = (raw as? String).map(DictionaryKeys.isSlow) ?? false
    guard !isSlow, let value = Self(rawValue: raw) else {
      // A text may be as long as a message.
      let shown = (raw as? any TextBusValue).map { quoted($0.rawValue) } ?? "\(raw)"
      throw .invalidValue("\(shown) is no \(Self.self)")
    }
    self = value
  }
}
