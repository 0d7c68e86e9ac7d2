/// Numbers about all rows together, so that nobody has to count the rows.
struct Ledger {
  /// The rows agree with the log up to this position.
  var settled: Int64
  /// The oldest event that is kept, and the newest one so far. If none is kept, the first number comes after the last.
  var firstEvent: Int64
  var lastEvent: Int64

  /// No position and no event number comes near this: at a million a second that would take a hundred thousand years. So counting up needs no check,
  /// whatever somebody wrote into the file.
  static let end: Int64 = 1 << 62

  private static let reading = "SELECT settled, first_event, last_event FROM ledger"

  init(_ database: Database) throws(StoreError) {
    var query = try database.query(Ledger.reading)
    guard try query.step() else { throw StoreError(.corrupt, "\(database.name): its ledger is empty") }
    settled = query.number(at: 0)
    firstEvent = query.number(at: 1)
    lastEvent = query.number(at: 2)
    let numbers = 0..<Ledger.end
    guard numbers.contains(settled), numbers.contains(lastEvent), firstEvent >= 1, firstEvent <= lastEvent + 1 else {
      throw StoreError(.corrupt, "\(database.name): its ledger does not add up")
    }
  }

  func write(_ database: Database) throws(StoreError) {
    var query = try database.query("UPDATE ledger SET settled = ?, first_event = ?, last_event = ?")
    for number in [settled, firstEvent, lastEvent] { query.put(number) }
    try query.run()
  }
}
