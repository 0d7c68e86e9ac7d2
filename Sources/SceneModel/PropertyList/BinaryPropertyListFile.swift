/// The bytes of a `bplist00`, and the positions of its objects. Everything is checked before it is used.
struct BinaryPropertyListFile {
  let bytes: [UInt8]
  /// The number of the object that is the whole document.
  let top: Int
  /// The position where the table of offsets begins, and all objects end.
  private let table: Int
  private let count: Int
  private let offsetSize: Int
  private let referenceSize: Int

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

  private static func fault(_ reason: String, at offset: Int) -> Fault { Fault(at: "byte \(offset)", reason) }
}

extension BinaryPropertyListFile {
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

// MARK: - Objects of each kind

extension BinaryPropertyListFile {
  struct Object {
    enum Kind {
      case null
      case bool(Bool)
      case integer(Int64)
      case real(Double)
      case date(Double)
      case data(Range<Int>)
      case ascii(Range<Int>)
      case utf16(Range<Int>)
      case array(References)
      case set(References)
      case dictionary(keys: References, values: References)
    }

    let kind: Kind
    let offset: Int

    func fault(_ reason: String, kind: Fault.Kind = .invalid) -> Fault { Fault(kind, at: "byte \(offset)", reason) }
    func expected(_ what: String) -> Fault { fault("expected \(what)") }
  }

  private func object(at offset: Int) throws(Fault) -> Object {
    let marker = bytes[offset]
    let low = Int(marker & 0xF)
    let kind: Object.Kind =
      switch marker >> 4 {
      case 0x0 where low == 0x0: .null
      case 0x0 where low == 0x8: .bool(false)
      case 0x0 where low == 0x9: .bool(true)
      case 0x1 where low <= 4: .integer(try integer(at: offset, size: 1 << low))
      case 0x2 where low == 2:
        .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try fixed(at: offset, size: 4)))))
      case 0x2 where low == 3: .real(Double(bitPattern: try fixed(at: offset, size: 8)))
      case 0x3 where low == 3: .date(Double(bitPattern: try fixed(at: offset, size: 8)))
      case 0x4: .data(try range(at: offset, unit: 1))
      case 0x5: .ascii(try range(at: offset, unit: 1))
      case 0x6: .utf16(try range(at: offset, unit: 2))
      case 0x8:
        throw BinaryPropertyListFile.fault("expected a value, got a UID, as keyed archives have them", at: offset)
      case 0xA: .array(try references(at: offset))
      case 0xC: .set(try references(at: offset))
      case 0xD: try dictionary(at: offset)
      default:
        throw BinaryPropertyListFile.fault(
          "expected an object, got the unknown kind 0x\(String(marker, radix: 16, uppercase: true))", at: offset)
      }
    return Object(kind: kind, offset: offset)
  }

  private func fixed(at offset: Int, size: Int) throws(Fault) -> UInt64 {
    guard size < table - offset else { throw tooLong(at: offset) }
    return bytes.number(at: offset + 1, size: size)
  }

  /// An integer of up to four bytes is unsigned. Other writers use sixteen bytes for an unsigned number that needs all eight.
  private func integer(at offset: Int, size: Int) throws(Fault) -> Int64 {
    if size < 8 { return Int64(truncatingIfNeeded: try fixed(at: offset, size: size)) }
    if size == 8 { return Int64(bitPattern: try fixed(at: offset, size: size)) }
    guard size < table - offset else { throw tooLong(at: offset) }
    let high = bytes.number(at: offset + 1, size: 8)
    let low = Int64(bitPattern: bytes.number(at: offset + 9, size: 8))
    guard high == (low < 0 ? .max : 0) else {
      throw BinaryPropertyListFile.fault("expected an integer from -2^63 to 2^63-1", at: offset)
    }
    return low
  }

  private func references(at offset: Int) throws(Fault) -> References {
    let range = try range(at: offset, unit: referenceSize)
    return References(offset: range.lowerBound, count: range.count / referenceSize)
  }

  private func dictionary(at offset: Int) throws(Fault) -> Object.Kind {
    let range = try range(at: offset, unit: 2 * referenceSize)
    let count = range.count / (2 * referenceSize)
    return .dictionary(
      keys: References(offset: range.lowerBound, count: count),
      values: References(offset: range.lowerBound + count * referenceSize, count: count))
  }

  /// The content of an object with a count of units: in its marker or, from fifteen on, in an integer after it.
  private func range(at offset: Int, unit: Int) throws(Fault) -> Range<Int> {
    var start = offset + 1
    var count = Int(bytes[offset] & 0xF)
    if count == 0xF {
      guard start < table, bytes[start] & 0xF0 == 0x10, bytes[start] & 0xF <= 3 else {
        throw BinaryPropertyListFile.fault("expected a count", at: start)
      }
      let size = 1 << Int(bytes[start] & 0xF)
      count = Int(exactly: try fixed(at: start, size: size)) ?? .max
      start += 1 + size
    }
    guard count <= (table - start) / unit else { throw tooLong(at: offset) }
    return start..<(start + count * unit)
  }

  private func tooLong(at offset: Int) -> Fault {
    BinaryPropertyListFile.fault("expected an object that ends before the offset table", at: offset)
  }
}

extension [UInt8] {
  /// The number at an offset, its highest byte first. The bytes must exist.
  fileprivate func number(at offset: Int, size: Int) -> UInt64 {
    self[offset..<(offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
