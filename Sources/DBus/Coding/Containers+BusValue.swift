extension Array: BusValue where Element: BusValue {
  /// "a" and the element's signature.
  public static var signature: Signature { Signature(unchecked: "a\(Element.signature.rawValue)") }

  /// Reads an array.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> [Element] {
    try Element.readArray(from: &reader)
  }

  /// Appends an array.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try Element.writeArray(self, to: &writer)
  }

  /// The array that a variant holds.
  public init(_ variant: Variant) throws(CodingError) { self = try Element.array(from: variant) }

  /// This array as the content of a variant.
  public var variant: Variant { Element.variant(of: self) }
}

extension Dictionary: BusValue where Key: BasicBusValue, Value: BusValue {
  /// "a{", the key's and the value's signature, and "}".
  public static var signature: Signature { Signature(unchecked: "a\(entrySignature.rawValue)") }

  private static var entrySignature: Signature {
    Signature(unchecked: "{\(Key.signature.rawValue)\(Value.signature.rawValue)}")
  }

  /// Reads a dictionary. If a key occurs twice, the later value counts.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> [Key: Value] {
    // A literal would look up the type of a pair each time.
    var dictionary = [Key: Value]()
    try reader.array { (entries) throws(CodingError) in
      while !entries.isAtEnd {
        try entries.entry { (entry) throws(CodingError) in
          let key = try Key.read(from: &entry)
          try DictionaryKeys.check(key.variant)
          dictionary[key] = try Value.read(from: &entry)
        }
      }
    }
    return dictionary
  }

  /// Appends a dictionary, in no particular order.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.array(of: Self.entrySignature) { (entries) throws(CodingError) in
      for (key, value) in self {
        try entries.entry { (entry) throws(CodingError) in
          try key.write(to: &entry)
          try value.write(to: &entry)
        }
      }
    }
  }

  /// The dictionary that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .dictionary(let key, let value, let entries) = variant, key == Key.signature, value == Value.signature
    else { throw .typeMismatch(expected: Self.signature, found: variant.contentSignature) }
    self.init(minimumCapacity: entries.count)
    for (key, value) in entries { self[try Key(key)] = try Value(value) }
  }

  /// This dictionary as the content of a variant.
  public var variant: Variant {
    var entries: [Variant: Variant] = [:]
    for (key, value) in self { entries[key.variant] = value.variant }
    return .dictionary(key: Key.signature, value: Value.signature, entries)
  }
}
