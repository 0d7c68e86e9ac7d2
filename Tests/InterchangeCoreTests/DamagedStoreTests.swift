import DamagedStores
import Testing

/// Whole stores with numbers that no service would write. A trap ends the tests.
@Suite(.serialized) struct DamagedStoreTests {
  private static let numbers: [Int64] = [.min, -1, 1 << 40, 1 << 62, .max]

  @Test(arguments: DamagedStore.numbers)
  func `whatever number stands in a column, a service starts and works`(column: String) throws {
    let store = try DamagedStore(in: "/tmp", number: 1)
    for number in Self.numbers {
      try store.fill()
      try store.set(column, to: number)
      // A ledger that does not add up is set aside, and the service begins a new store.
      #expect(store.use(), "\(column) = \(number)")
    }
  }

  @Test func `whatever number stands in an entry of the log, a service starts and works`() throws {
    let store = try DamagedStore(in: "/tmp", number: 2)
    // An integer in an entry is a byte 1 and up to ten bytes, of which all but the last have the highest bit.
    for length in 2...9 {
      for place in 20..<220 where place % 5 == length % 5 {
        try store.fill()
        try store.change(
          "UPDATE log SET body = CAST(substr(body, 1, \(place)) || x'01\(String(repeating: "FF", count: length - 1))7F' "
            + "|| substr(body, \(place + length + 2)) AS BLOB) WHERE length(body) > \(place + length + 2)")
        #expect(store.use(), "\(length) bytes at \(place)")
      }
    }
  }
}
