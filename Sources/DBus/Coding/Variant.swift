/// A value that carries its type with it: D-Bus's `v`.
///
/// ```swift
/// let hints: [String: Variant] = ["urgency": .byte(2), "category": "email.arrived", "resident": true]
/// let urgency = try UInt8(hints["urgency"] ?? .byte(1))
/// print(urgency, hints["category"]?.contentSignature ?? .empty)
///
/// let anything = Variant([1.5, 2.5])
/// print(try [Double](anything))
/// ```
public indirect enum Variant: Sendable, Hashable {
  /// `y`
  case byte(UInt8)
  /// `b`
  case boolean(Bool)
  /// `n`
  case int16(Int16)
  /// `q`
  case uint16(UInt16)
  /// `i`
  case int32(Int32)
  /// `u`
  case uint32(UInt32)
  /// `x`
  case int64(Int64)
  /// `t`
  case uint64(UInt64)
  /// `d`
  case double(Double)
  /// `s`
  case string(String)
  /// `o`
  case objectPath(ObjectPath)
  /// `g`
  case signature(Signature)
  /// `h`
  case fileDescriptor(OwnedFileDescriptor)
  /// `ay`. An array of bytes is always this case, never ``array(of:_:)``.
  case bytes([UInt8])
  /// An array, with the type of its elements.
  case array(of: Signature, [Variant])
  /// A dictionary, with the types of its keys and values.
  case dictionary(key: Signature, value: Signature, [Variant: Variant])
  /// A structure of one or more members.
  case structure([Variant])
  /// A variant inside a variant.
  case variant(Variant)

  /// Any bus value as a variant.
  public init<Value: BusValue>(_ value: Value) { self = value.variant }
}

extension Variant {
  /// The type of the content.
  public var contentSignature: Signature {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .fileDescriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): Signature(unchecked: "a\(element.rawValue)")
    case .dictionary(let key, let value, _): Signature(unchecked: "a{\(key.rawValue)\(value.rawValue)}")
    case .structure(let members):
      Signature(unchecked: "(\(members.map(\.contentSignature.rawValue).joined()))")
    case .variant: "v"
    }
  }
}

extension Variant {
  /// Roughly the number of bytes that it takes in a message.
  package var size: Int {
    switch self {
    case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .fileDescriptor: 8
    case .string(let text): 8 + text.utf8.count
    case .objectPath(let path): 8 + path.rawValue.utf8.count
    case .signature(let signature): 8 + signature.rawValue.utf8.count
    case .bytes(let bytes): 8 + bytes.count
    case .array(_, let elements), .structure(let elements): elements.reduce(8) { $0 + $1.size }
    case .dictionary(_, _, let entries): entries.reduce(8) { $0 + $1.key.size + $1.value.size }
    case .variant(let content): 8 + content.size
    }
  }

  /// The bytes, also if they were put together as an array of bytes.
  package var heldBytes: [UInt8]? {
    switch self {
    case .bytes(let bytes): return bytes
    case .array(of: "y", let elements):
      var bytes: [UInt8] = []
      for case .byte(let byte) in elements { bytes.append(byte) }
      return bytes.count == elements.count ? bytes : nil
    default: return nil
    }
  }
}

extension Variant: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral {
  /// A string.
  public init(stringLiteral text: String) { self = .string(text) }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// A double. Integers have no literal form: you must state their width, as in `.int32(5)`.
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension Variant: BusValue {
  /// "v"
  public static var signature: Signature { Signature(unchecked: "v") }

  /// Reads a variant.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Variant {
    try reader.variant { (value) throws(CodingError) in try readContent(from: &value) }
  }

  /// Appends a variant.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    let content = contentSignature
    // Swift types compose valid values only. The cases of this enumeration can be put together wrongly.
    if let fault = faultOfShape(of: content) { throw .invalidSignature(fault) }
    try writer.variant(of: content) { (value) throws(CodingError) in try writeContent(to: &value) }
  }

  /// The content of the inner variant.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .variant(let content) = variant else {
      throw .typeMismatch(expected: "v", found: variant.contentSignature)
    }
    self = content
  }

  /// This variant as the content of another.
  public var variant: Variant { .variant(self) }
}

extension Variant {
  /// libdbus has validated the message and bounds its depth: the recursion is at most 64 deep.
  static func readContent(from reader: inout MessageReader) throws(CodingError) -> Variant {
    switch reader.nextType {
    case .byte: .byte(try UInt8.read(from: &reader))
    case .boolean: .boolean(try Bool.read(from: &reader))
    case .int16: .int16(try Int16.read(from: &reader))
    case .uint16: .uint16(try UInt16.read(from: &reader))
    case .int32: .int32(try Int32.read(from: &reader))
    case .uint32: .uint32(try UInt32.read(from: &reader))
    case .int64: .int64(try Int64.read(from: &reader))
    case .uint64: .uint64(try UInt64.read(from: &reader))
    case .double: .double(try Double.read(from: &reader))
    case .string: .string(try String.read(from: &reader))
    case .objectPath: .objectPath(try ObjectPath.read(from: &reader))
    case .signature: .signature(try Signature.read(from: &reader))
    case .fileDescriptor: .fileDescriptor(try OwnedFileDescriptor.read(from: &reader))
    case .variant: .variant(try Variant.read(from: &reader))
    case .structure: .structure(try reader.structure(readAll))
    case .array where reader.nextElementType == .byte: .bytes(try UInt8.readArray(from: &reader))
    case .array where reader.nextElementType == .dictionaryEntry: try readDictionary(from: &reader)
    case .array: .array(of: reader.nextSignature.contents.first ?? .empty, try reader.array(readAll))
    case .dictionaryEntry, .invalid: throw CodingError.endOfValues(expected: .empty)
    }
  }

  /// The values of the message, or of the container that is being read.
  static func readAll(from reader: inout MessageReader) throws(CodingError) -> [Variant] {
    var values: [Variant] = []
    while !reader.isAtEnd { values.append(try readContent(from: &reader)) }
    return values
  }

  private static func readDictionary(from reader: inout MessageReader) throws(CodingError) -> Variant {
    let types = reader.nextSignature.contents.first?.contents ?? []
    var entries: [Variant: Variant] = [:]
    try reader.array { (array) throws(CodingError) in
      while !array.isAtEnd {
        try array.entry { (entry) throws(CodingError) in
          let key = try readContent(from: &entry)
          try DictionaryKeys.check(key)
          entries[key] = try readContent(from: &entry)
        }
      }
    }
    return .dictionary(key: types.first ?? .empty, value: types.last ?? .empty, entries)
  }

  private func writeContent(to writer: inout MessageWriter) throws(CodingError) {
    switch self {
    case .byte(let value): try value.write(to: &writer)
    case .boolean(let value): try value.write(to: &writer)
    case .int16(let value): try value.write(to: &writer)
    case .uint16(let value): try value.write(to: &writer)
    case .int32(let value): try value.write(to: &writer)
    case .uint32(let value): try value.write(to: &writer)
    case .int64(let value): try value.write(to: &writer)
    case .uint64(let value): try value.write(to: &writer)
    case .double(let value): try value.write(to: &writer)
    case .string(let value): try value.write(to: &writer)
    case .objectPath(let value): try value.write(to: &writer)
    case .signature(let value): try value.write(to: &writer)
    case .fileDescriptor(let value): try value.write(to: &writer)
    case .bytes(let value): try value.write(to: &writer)
    case .variant(let value): try value.write(to: &writer)
    case .structure(let members):
      try writer.structure { (structure) throws(CodingError) in
        for member in members { try member.writeContent(to: &structure) }
      }
    case .array(let element, let values):
      try writer.array(of: element) { (elements) throws(CodingError) in
        for value in values { try value.writeContent(to: &elements) }
      }
    case .dictionary(let key, let value, let entries):
      try writer.array(of: Signature(unchecked: "{\(key.rawValue)\(value.rawValue)}")) { (array) throws(CodingError) in
        for (key, value) in entries {
          try array.entry { (entry) throws(CodingError) in
            try key.writeContent(to: &entry)
            try value.writeContent(to: &entry)
          }
        }
      }
    }
  }

  /// Whether the containers hold the types that they declare. If not, libdbus would end the process.
  private func faultOfShape(of content: Signature) -> InvalidName? {
    switch self {
    case .array, .dictionary, .structure:
      if let fault = Signature.fault(in: content.rawValue) {
        return InvalidName(text: content.rawValue, kind: Signature.kind, fault: fault)
      }
      if fits(content) { return nil }
      return InvalidName(text: content.rawValue, kind: Signature.kind, fault: "the values inside are of other types")
    default: return nil
    }
  }

  /// Nested variants check themselves when they are written, so the walk stops at each.
  private func fits(_ type: Signature) -> Bool {
    switch self {
    case .array(let element, let values):
      // A dictionary entry is an element only inside a dictionary.
      guard type.rawValue == "a\(element.rawValue)", element.isSingleCompleteType,
        element.rawValue.utf8.first != UInt8(ascii: "{")
      else { return false }
      return values.allSatisfy { $0.fits(element) }
    case .dictionary(let key, let value, let entries):
      guard type.rawValue == "a{\(key.rawValue)\(value.rawValue)}", key.rawValue.utf8.count == 1 else { return false }
      return entries.allSatisfy { $0.key.fits(key) && $0.value.fits(value) }
    case .structure(let members):
      // Arrays have contents as well.
      guard type.rawValue.utf8.first == UInt8(ascii: "(") else { return false }
      let types = type.contents
      return members.count == types.count && zip(members, types).allSatisfy { $0.fits($1) }
    default: return contentSignature == type
    }
  }
}
