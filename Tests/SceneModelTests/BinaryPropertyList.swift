/// Assembles a binary property list from objects in file order, for tests of lists that no writer would write.
enum BinaryPropertyList {
  static func file(_ objects: [[UInt8]], top: Int = 0, offsetSize: Int = 1, referenceSize: Int = 1) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var table: [UInt8] = []
    for object in objects {
      table += number(bytes.count, size: offsetSize)
      bytes += object
    }
    let start = bytes.count
    bytes += table + [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for field in [objects.count, top, start] { bytes += number(field, size: 8) }
    return bytes
  }

  /// The number with its highest byte first.
  static func number(_ number: Int, size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : 0) }
  }

  /// An array of the objects with these numbers.
  static func array(_ references: [Int], referenceSize: Int = 1) -> [UInt8] {
    [0xAF, 0x12] + number(references.count, size: 4) + references.flatMap { number($0, size: referenceSize) }
  }
}
