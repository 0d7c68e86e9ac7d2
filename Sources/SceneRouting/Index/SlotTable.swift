/// A hash table of numbers: the index of the thing with a given hash in some array.
///
/// The things themselves stay in the array. A lookup reads one cell of eight bytes and then the thing, so it costs hardly more among a million than
/// among ten; a dictionary would read its keys, its values and a map of the used places.
struct SlotTable: Sendable {
  /// 0 for an empty cell; otherwise the upper half of the hash with its lowest bit set, and the number.
  private var cells: [Cell] = []
  private var taken = 0

  private struct Cell {
    var tag: UInt32
    var slot: Int32
  }

  private static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) | 1 }

  /// The number under `hash` that `isIt` accepts.
  @inline(__always)
  func find(_ hash: UInt64, _ isIt: (Int32) -> Bool) -> Int32? {
    if cells.isEmpty { return nil }
    let mask = cells.count &- 1
    let tag = Self.tag(hash)
    var index = Int(truncatingIfNeeded: hash) & mask
    while cells[index].tag != 0 {
      if cells[index].tag == tag, isIt(cells[index].slot) { return cells[index].slot }
      index = (index &+ 1) & mask
    }
    return nil
  }

  /// Adds a number that is not in the table. `hashOf` returns the hashes of the others when the table must grow.
  mutating func insert(_ slot: Int32, _ hash: UInt64, hashOf: (Int32) -> UInt64) {
    // At most three quarters full, so that a cell is near its place.
    if (taken + 1) * 4 > cells.count * 3 { grow(hashOf) }
    place(slot, hash)
    taken += 1
  }

  private mutating func place(_ slot: Int32, _ hash: UInt64) {
    let mask = cells.count &- 1
    var index = Int(truncatingIfNeeded: hash) & mask
    while cells[index].tag != 0 { index = (index &+ 1) & mask }
    cells[index] = Cell(tag: Self.tag(hash), slot: slot)
  }

  private mutating func grow(_ hashOf: (Int32) -> UInt64) {
    let old = cells
    cells = Array(repeating: Cell(tag: 0, slot: 0), count: max(16, old.count * 2))
    for cell in old where cell.tag != 0 { place(cell.slot, hashOf(cell.slot)) }
  }

  mutating func remove(_ slot: Int32, _ hash: UInt64, hashOf: (Int32) -> UInt64) {
    if cells.isEmpty { return }
    let mask = cells.count &- 1
    var hole = Int(truncatingIfNeeded: hash) & mask
    while cells[hole].tag == 0 || cells[hole].slot != slot {
      if cells[hole].tag == 0 { return }
      hole = (hole &+ 1) & mask
    }
    taken -= 1
    // Cells behind the hole move up, unless they are at their place, or their place is between the hole and them.
    var index = (hole &+ 1) & mask
    while cells[index].tag != 0 {
      let home = Int(truncatingIfNeeded: hashOf(cells[index].slot)) & mask
      if (index &- home) & mask >= (index &- hole) & mask {
        cells[hole] = cells[index]
        hole = index
      }
      index = (index &+ 1) & mask
    }
    cells[hole] = Cell(tag: 0, slot: 0)
  }
}
