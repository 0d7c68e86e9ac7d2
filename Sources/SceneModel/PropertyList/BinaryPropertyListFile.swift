/// The bytes of a `bplist00`, and the positions of its objects. Everything is checked before it is used.
struct BinaryPropertyListFile {
  let bytes: [UInt8]
  /// The number of the object that is the whole document.
  let top: Int
  /// The position where the table of offsets begins, and all objects end.
  let table: Int
  private let count: Int
  private let offsetSize: Int
  let referenceSize: Int

  private static let magic = Array("bplist00".utf8)
  private static let trailerSize = 32

  init(_ bytes: [UInt8]) throws(Fault) {
    guard bytes.starts(with: BinaryPropertyListFile.magic) else {
      throw BinaryPropertyListFile.fault("expected version 00 of the binary form", at: 6)
    }
    guard bytes.count >= BinaryPropertyListFile.magic.count + BinaryPropertyListFile.trailerSize else {
      throw BinaryPropertyListFile.fault("expected a trailer of 32 bytes", at: bytes.count)
    }
    let trailer = bytes.count - BinaryPropertyListFile.trailerSize
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw BinaryPropertyListFile.fault("expected offsets and references of 1 to 8 bytes", at: trailer + 6)
    }
    func number(at offset: Int) -> Int { Int(exactly: bytes.number(at: offset, size: 8)) ?? .max }
    count = number(at: trailer + 8)
    top = number(at: trailer + 16)
    table = number(at: trailer + 24)
    guard table >= BinaryPropertyListFile.magic.count, table <= trailer else {
      throw BinaryPropertyListFile.fault("expected the offset table within the file", at: trailer + 24)
    }
    guard count <= (trailer - table) / offsetSize else {
      throw BinaryPropertyListFile.fault("expected an offset for each object", at: trailer + 8)
    }
    guard top < count else {
      throw BinaryPropertyListFile.fault("expected the number of an object", at: trailer + 16)
    }
    self.bytes = bytes
  }

  static func fault(_ reason: String, at offset: Int) -> Fault { Fault(at: "byte \(offset)", reason) }
}

extension BinaryPropertyListFile {
  /// A sequence of references.
  struct References {
    let offset: Int
    let count: Int
  }

  /// The object number of one reference. The kind of that object is checked when it is read.
  func number(_ index: Int, of references: References) throws(Fault) -> Int {
    let offset = references.offset + index * referenceSize
    let number = bytes.number(at: offset, size: referenceSize)
    guard number < UInt64(count) else {
      throw BinaryPropertyListFile.fault("expected the number of an object, got \(number)", at: offset)
    }
    return Int(number)
  }

  func object(_ number: Int) throws(Fault) -> Object {
    let place = table + number * offsetSize
    guard let offset = Int(exactly: bytes.number(at: place, size: offsetSize)),
      offset >= BinaryPropertyListFile.magic.count, offset < table
    else { throw BinaryPropertyListFile.fault("expected the offset of an object", at: place) }
    return try object(at: offset)
  }
}

extension [UInt8] {
  /// The number at an offset, its highest byte first. The bytes must exist.
  func number(at offset: Int, size: Int) -> UInt64 {
    self[offset..<(offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
