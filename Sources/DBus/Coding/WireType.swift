/// The letters of the type system. libdbus has them as C macros, which Swift cannot import.
enum WireType: UInt8 {
  case invalid = 0
  case byte = 0x79  // y
  case boolean = 0x62  // b
  case int16 = 0x6E  // n
  case uint16 = 0x71  // q
  case int32 = 0x69  // i
  case uint32 = 0x75  // u
  case int64 = 0x78  // x
  case uint64 = 0x74  // t
  case double = 0x64  // d
  case string = 0x73  // s
  case objectPath = 0x6F  // o
  case signature = 0x67  // g
  case fileDescriptor = 0x68  // h
  case array = 0x61  // a
  case variant = 0x76  // v
  case structure = 0x72  // r, which no signature contains
  case dictionaryEntry = 0x65  // e, which no signature contains

  /// The letter that libdbus names by this number.
  init(code: Int32) { self = WireType(rawValue: UInt8(truncatingIfNeeded: code)) ?? .invalid }

  var code: Int32 { Int32(rawValue) }
  /// The signature of a basic type.
  var signature: Signature { Signature(unchecked: String(UnicodeScalar(rawValue))) }

  /// The alignment of a value whose type begins with `signature`'s first letter.
  static func alignment(of signature: Signature) -> Int {
    switch signature.rawValue.utf8.first {
    case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
    case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
    case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("), UInt8(ascii: "{"): 8
    default: 4
    }
  }
}
