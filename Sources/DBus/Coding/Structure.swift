/// A D-Bus structure that is put together on the spot. If it deserves a name, use ``BusStructure`` instead.
///
/// ```swift
/// let jobs = [Structure("compile", UInt32(7)), Structure("link", UInt32(9))]
/// let (name, identifier) = jobs[0].members
/// print(name, identifier, type(of: jobs).signature)  // compile 7 a(su)
/// ```
public struct Structure<each Member: BusValue>: BusValue {
  /// The members, in order.
  public let members: (repeat each Member)

  /// Puts members together. A D-Bus structure has at least one.
  public init(_ members: repeat each Member) { self.members = (repeat each members) }

  /// The members' signatures in parentheses.
  public static var signature: Signature {
    var text = "("
    for type in repeat (each Member).self { text += type.signature.rawValue }
    precondition(text != "(", "a D-Bus structure has at least one member")
    return Signature(unchecked: text + ")")
  }

  /// Reads a structure.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Structure {
    try reader.structure { (members) throws(CodingError) in
      Structure(repeat try (each Member).read(from: &members))
    }
  }

  /// Appends a structure.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try writer.structure { (structure) throws(CodingError) in
      repeat try (each members).write(to: &structure)
    }
  }

  /// The structure that a variant holds.
  public init(_ variant: Variant) throws(CodingError) {
    guard case .structure(let values) = variant, variant.contentSignature == Self.signature else {
      throw .typeMismatch(expected: Self.signature, found: variant.contentSignature)
    }
    var index = values.startIndex
    func next<Value: BusValue>(_ type: Value.Type) throws(CodingError) -> Value {
      defer { index += 1 }
      return try Value(values[index])
    }
    self.init(repeat try next((each Member).self))
  }

  /// This structure as the content of a variant.
  public var variant: Variant {
    var values: [Variant] = []
    for member in repeat each members { values.append(member.variant) }
    return .structure(values)
  }
}

extension Structure: Equatable where repeat each Member: Equatable {
  /// Whether all members are equal.
  public static func == (left: Structure, right: Structure) -> Bool {
    for (left, right) in repeat (each left.members, each right.members) {
      if left != right { return false }
    }
    return true
  }
}

extension Structure: Hashable where repeat each Member: Hashable {
  /// Hashes all members.
  public func hash(into hasher: inout Hasher) {
    for member in repeat each members { hasher.combine(member) }
  }
}
