import CSQLite
import SceneModel

/// One run of a prepared statement: first its parameters are put, then its rows are read. It returns the statement when it is destroyed.
struct Query: ~Copyable {
  private let database: Database
  private let statement: OpaquePointer
  private let sql: String
  private var parameter: Int32 = 0
  private var column: Int32 = 0
  /// The first parameter that could not be bound.
  private var failure = SQLITE_OK

  init(owning statement: OpaquePointer, _ sql: String, _ database: Database) {
    (self.statement, self.sql, self.database) = (statement, sql, database)
  }

  deinit { database.putBack(statement, sql) }

  /// Goes to the next row. Returns false if there is none.
  mutating func step() throws(StoreError) -> Bool {
    if failure != SQLITE_OK { throw database.error(failure) }
    column = 0
    forgetSystemError()
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw database.error(code)
    }
  }

  /// Runs the statement once, and makes it ready for other parameters.
  mutating func run() throws(StoreError) {
    defer {
      sqlite3_reset(statement)
      parameter = 0
    }
    while try step() {}
  }

  func number(at column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
}

extension Query: CellWriter {
  mutating func putNull() { bind { sqlite3_bind_null($0, $1) } }
  mutating func put(_ integer: Int64) { bind { sqlite3_bind_int64($0, $1, integer) } }

  mutating func put(_ text: Text) {
    bind { statement, index in
      text.withBytes { stagedoor_sqlite3_bind_text(statement, index, $0.baseAddress, UInt64($0.count)) }
    }
  }

  mutating func put(_ identifier: UniqueIdentifier) {
    bind { statement, index in
      identifier.withBytes { stagedoor_sqlite3_bind_blob(statement, index, $0.baseAddress, UInt64($0.count)) }
    }
  }

  mutating func put(bytes: [UInt8]) { bytes.withUnsafeBytes { put(bytes: $0) } }

  mutating func put(bytes: UnsafeRawBufferPointer) {
    bind { stagedoor_sqlite3_bind_blob($0, $1, bytes.baseAddress, UInt64(bytes.count)) }
  }

  private mutating func bind(_ body: (OpaquePointer, Int32) -> Int32) {
    parameter += 1
    let code = body(statement, parameter)
    if code != SQLITE_OK, failure == SQLITE_OK { failure = code }
  }
}

extension Query: CellReader {
  mutating func cell() throws(Malformed) -> Cell {
    defer { column += 1 }
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_TEXT:
      // The text before its length: asking for the text converts it to UTF-8.
      guard let start = sqlite3_column_text(statement, column) else { throw Malformed("expected memory for a text") }
      let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
      guard let text = Text(validating: bytes) else { throw Malformed("expected UTF-8") }
      return .text(text)
    case SQLITE_BLOB: return .identifier(UniqueIdentifier(stored: blob))
    default: throw Malformed("expected no real number")
    }
  }

  var isAtEnd: Bool { column >= sqlite3_column_count(statement) }

  /// Skips columns.
  mutating func skip(_ count: Int32) { column += count }

  mutating func bytes() throws(Malformed) -> [UInt8] {
    defer { column += 1 }
    guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { throw Malformed("expected bytes") }
    return [UInt8](blob)
  }

  private var blob: UnsafeRawBufferPointer {
    // The bytes before their number. An empty blob has no bytes.
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }
}
