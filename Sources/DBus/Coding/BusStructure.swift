/// A structure of your own that is a D-Bus structure on the bus.
///
/// The layout is declared once: how to make the structure, and its members in the order of the wire.
///
/// ```swift
/// struct Job: BusStructure {
///   var name: String
///   var identifier: UInt32
///   static let layout = StructureLayout(Job.init(name:identifier:), \.name, \.identifier)
/// }
///
/// let message = try Message.signal(from: "/jobs", "org.example.Jobs", "Added", Job(name: "link", identifier: 9))
/// print(message.signature)  // (su)
/// let job = try message.values(as: Job.self)
/// print(job.name)
/// ```
public protocol BusStructure: BusValue {
  /// How this type and its D-Bus structure are made from each other.
  static var layout: StructureLayout<Self> { get }
}

/// How a Swift structure and a D-Bus structure are made from each other. See ``BusStructure``.
///
/// ```swift
/// struct Point: BusStructure {
///   var x: Int32
///   var y: Int32
///   static let layout = StructureLayout(Point.init(x:y:), \.x, \.y)
/// }
/// print(Point.layout.signature)  // (ii)
/// ```
public struct StructureLayout<Root: Sendable>: Sendable {
  /// The members' signatures in parentheses.
  public let signature: Signature
  let read: @Sendable (inout MessageReader) throws(CodingError) -> Root
  let write: @Sendable (Root, inout MessageWriter) throws(CodingError) -> Void
  let decode: @Sendable (Variant) throws(CodingError) -> Root
  let encode: @Sendable (Root) -> Variant

  /// `make` builds a value from its members; the key paths name the members in the order of the wire.
  public init<each Member: BusValue>(
    _ make: @escaping @Sendable (repeat each Member) -> Root,
    _ members: repeat any KeyPath<Root, each Member> & Sendable
  ) {
    signature = Structure<repeat each Member>.signature
    read = { (reader) throws(CodingError) in
      let structure = try Structure<repeat each Member>.read(from: &reader)
      return make(repeat each structure.members)
    }
    write = { (root, writer) throws(CodingError) in
      try writer.structure { (structure) throws(CodingError) in
        repeat try root[keyPath: each members].write(to: &structure)
      }
    }
    decode = { (variant) throws(CodingError) in
      let structure = try Structure<repeat each Member>(variant)
      return make(repeat each structure.members)
    }
    encode = { root in Structure(repeat root[keyPath: each members]).variant }
  }
}

extension BusStructure {
  /// The members' signatures in parentheses.
  public static var signature: Signature { layout.signature }

  /// Reads a structure.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> Self {
    try layout.read(&reader)
  }

  /// Appends a structure.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try Self.layout.write(self, &writer)
  }

  /// The structure that a variant holds.
  public init(_ variant: Variant) throws(CodingError) { self = try Self.layout.decode(variant) }

  /// This structure as the content of a variant.
  public var variant: Variant { Self.layout.encode(self) }
}
