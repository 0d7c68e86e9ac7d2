import SceneModel
import SessionStore
import Testing

struct RowTests {
  private let directory = TemporaryDirectory()

  @Test func `a session or a delivery that does not parse is passed over and reported, and stays in the file`() throws {
    try leave((1...5).map { .session(session($0)) } + (1...3).map { .delivery(delivery($0)) }, in: directory)
    tamper(directory, "UPDATE session SET user_activity = '{' WHERE title = 'Window 2'")
    tamper(directory, "UPDATE session SET state = 'upsideDown' WHERE title = 'Window 3'")
    tamper(directory, "UPDATE session SET identifier = x'00' WHERE title = 'Window 4'")
    tamper(directory, "UPDATE delivery SET state = 'lost' WHERE number = 7")
    let store = try open(directory)
    #expect(store.setAside == nil)
    #expect(try store.sessions(limit: 9)?.sessions == [session(1), session(5)])
    #expect(try store.sessions(limit: 2)?.sessions == [session(1), session(5)])
    #expect(try store.session(session(2).identifier) == nil)
    #expect(try store.session(session(1).identifier) == session(1))
    #expect(try store.deliveries(limit: 9)?.map(\.identifier) == [delivery(3).identifier, delivery(1).identifier])
    #expect(try store.delivery(delivery(2).identifier) == nil)
    #expect(store.problems.count == 5)
    #expect(
      store.problems.contains("\(directory.path)/stagedoor.db: a session is passed over: expected a scene's state"))
    try store.commit([.session(session(6))], at: noon)
    store.close()
    tamper(directory, "CREATE TABLE t (n CHECK (n = 6)); INSERT INTO t SELECT count(*) FROM session")
  }

  /// The rows are added several at a time.
  @Test(arguments: [1, 7, 8, 9, 20])
  func `a delivery that is stored again takes the place of its row`(count: UInt64) throws {
    var store = try open(directory)
    let again = (count + 1) / 2
    try store.commit([.delivery(delivery(again, .held, isOpen: true)), event(1)], at: noon)
    try store.writeRows()
    try store.commit((1...count).map { .delivery(delivery($0)) } + (2...(count + 1)).map { event($0) }, at: noon)
    store.close()
    store = try open(directory)
    let numbers = (1...count).reversed().map { delivery($0).identifier }
    #expect(try store.deliveries(limit: 99)?.map(\.identifier) == numbers)
    #expect(try store.delivery(delivery(again).identifier)?.progress.state == .handled)
    #expect(try store.events(after: 0, limit: 99).map(\.sequence) == Array(1...(count + 1)))
    #expect(store.problems == [])
  }

  @Test(arguments: [
    "x''", "x'01'", "x'02ff41'", "x'02ffffffffffffffffff0141'", "x'0210'", "x'09'", "x'0201ff'", "x'030141'",
  ])
  func `a log entry that does not parse is passed over and reported, and stays in the file`(body: String) throws {
    for kind in Array(1...12) + [77] {
      var directory = TemporaryDirectory()
      do {
        let writer = try open(directory)
        for number: UInt64 in 1...3 { try writer.commit([.session(session(number))], at: noon) }
      }
      tamper(directory, "UPDATE log SET kind = \(kind), body = \(body) WHERE position = 2")
      for _ in 0..<2 {
        let store = try open(directory)
        #expect(store.setAside == nil)
        #expect(try store.sessions(limit: 9)?.sessions == [session(1), session(3)])
        #expect(store.problems.count == 1, "\(store.problems)")
        #expect(store.lastEventSequence == (kind == 6 ? 1 : 0))
        directory = directory.copy()
      }
      let store = try open(directory)
      store.close()
      let next = try open(directory)
      #expect(try next.sessions(limit: 9)?.sessions == [session(1), session(3)])
      #expect(next.lastEventSequence == (kind == 6 ? 1 : 0))
      #expect(next.problems == [])
      try next.commit([.session(session(4))], at: noon)
      next.close()
      // The only entry that is left is the second one.
      tamper(directory, "CREATE TABLE t (n NOT NULL CHECK (n = 2))")
      tamper(directory, "INSERT INTO t SELECT count(*) + max(position) - 1 FROM log")
      #expect(try open(directory).sessions(limit: 9)?.sessions == [session(1), session(3), session(4)])
    }
  }

  private struct Row: Sendable {
    let body: String
    let sessions: [UInt64]
    let lastEvent: UInt64
    let problems: Int
    /// The entries that stay in the log.
    let kept: Int
  }

  /// The row has a session, an event and another session.
  @Test(arguments: [
    // The session does not parse, or is of no kind.
    Row(body: "substr(body, 1, 5) || x'09' || substr(body, 7)", sessions: [3], lastEvent: 1, problems: 1, kept: 1),
    Row(body: "x'4d' || substr(body, 2)", sessions: [3], lastEvent: 1, problems: 1, kept: 1),
    Row(body: "x'4d01000000004d01000000004d0100000000'", sessions: [], lastEvent: 3, problems: 3, kept: 3),
    // Nothing is there, or an entry that says that it is longer than the row.
    Row(body: "zeroblob(0)", sessions: [], lastEvent: 3, problems: 1, kept: 1),
    Row(body: "x'0100000001'", sessions: [], lastEvent: 3, problems: 1, kept: 1),
    // The last entry is cut, or bytes or a whole entry are too many.
    Row(body: "substr(body, 1, length(body) - 1)", sessions: [1], lastEvent: 2, problems: 1, kept: 1),
    Row(body: "body || x'01'", sessions: [1, 3], lastEvent: 1, problems: 1, kept: 0),
    Row(body: "body || x'060100000000'", sessions: [1, 3], lastEvent: 1, problems: 1, kept: 0),
    // An event that does not parse stands before the others; the last entry does not parse, and bytes are too many.
    Row(body: "x'0601000000ff' || body", sessions: [1], lastEvent: 1, problems: 2, kept: 1),
    Row(body: "x'01010000000001010000000001010000000001'", sessions: [], lastEvent: 0, problems: 4, kept: 3),
  ])
  private func `of a row with several entries, those that parse are read, and each other may have been an event`(
    _ row: Row
  ) throws {
    let writer = try open(directory)
    try writer.commit([.session(session(1)), event(1), .session(session(3))], at: noon)
    let killed = directory.copy()
    tamper(killed, "UPDATE log SET body = CAST(\(row.body) AS BLOB)")
    let store = try open(killed)
    #expect(try store.sessions(limit: 9)?.sessions == row.sessions.map { session($0) })
    #expect(store.lastEventSequence == row.lastEvent)
    #expect(store.problems.count == row.problems, "\(store.problems)")
    try store.commit([.session(session(4))], at: noon)
    #expect(try open(killed.copy()).session(session(4).identifier) == session(4))
    store.close()
    // What was read is in rows alone, and what was not stays without it.
    let next = try open(killed)
    #expect(try next.sessions(limit: 9)?.sessions == (row.sessions + [4]).map { session($0) })
    #expect(next.problems == [])
    next.close()
    tamper(
      killed,
      """
      CREATE TABLE t (n CHECK (n = \(row.kept))); INSERT INTO t SELECT count(*) FROM log;
      CREATE TABLE u (n CHECK (n = 0)); INSERT INTO u SELECT count(*) FROM log
        WHERE instr(body, CAST('Window 3' AS BLOB)) AND \(row.sessions.contains(3))
      """)
  }

  @Test func `a commit with an entry of more than a mebibyte is whole or not there`() throws {
    let store = try open(directory)
    try store.commit([.session(session(1)), event(1)], at: noon)
    var long = session(2)
    long.userInfo = ["x": .string(Text(String(repeating: "x", count: 1_200_000)))]
    try store.commit([.session(long), event(2)], at: noon)
    let whole = directory.size(of: "stagedoor.db-wal")
    let cut = try open(directory.copy(walLength: whole - 1))
    #expect(try cut.sessions(limit: 9)?.sessions == [session(1)])
    #expect(cut.lastEventSequence == 1)
    try store.commit([.session(session(3)), event(3)], at: noon)
    let next = try open(directory.copy())
    #expect(try next.sessions(limit: 9)?.sessions == [session(1), long, session(3)])
    #expect(next.lastEventSequence == 3)
    #expect(next.problems == [])
  }

  @Test func `a page of long sessions ends before it has read them all, and the list goes on`() throws {
    let store = try open(directory)
    var sessions = (1...9).map { session($0) }
    for place in 2..<8 { sessions[place].userInfo = ["x": .string(Text(String(repeating: "x", count: 400_000)))] }
    try store.commit(sessions.map { .session($0) }, at: noon)
    try store.writeRows()
    var (lengths, found, place) = ([] as [Int], [] as [Session], Optional(SessionAge.first))
    while let from = place {
      let page = try store.sessions(of: nil, from: from, limit: 8)
      lengths.append(page.sessions.count)
      found += page.sessions
      place = page.next
    }
    #expect(lengths == [5, 3, 1])
    #expect(found == sessions)
    // What the rows have no longer ends no page.
    for place in sessions.indices { sessions[place].userInfo = [:] }
    try store.commit(sessions.map { .session($0) }, at: noon)
    #expect(try store.sessions(of: nil, from: .first, limit: 8).sessions == Array(sessions.prefix(8)))
  }

  @Test func `a list goes on from a session that is there, and from no other`() throws {
    let store = try open(directory)
    try store.commit((1...4).map { .session(session($0)) }, at: noon)
    #expect(try store.sessions(after: session(2).identifier, limit: 1)?.sessions == [session(3)])
    #expect(try store.sessions(after: session(4).identifier, limit: 1)?.sessions == [])
    #expect(try store.sessions(after: session(9).identifier, limit: 1)?.sessions == nil)
    try store.commit([.sessionDiscarded(session(2).identifier)], at: noon)
    #expect(try store.sessions(after: session(2).identifier, limit: 1)?.sessions == nil)
    #expect(try store.sessions(after: session(1).identifier, limit: 1)?.sessions == [session(3)])
    #expect(try store.sessions(limit: 0)?.sessions == [])
    #expect(try store.sessions(limit: -1)?.sessions == [])
    #expect(try store.deliveries(limit: -1) == [])
    #expect(try store.events(after: 0, limit: -1) == [])
    #expect(try store.deliveries(after: session(1).identifier, limit: 1) == nil)
  }

  @Test func `where more are concerned with a key than are asked for, none are answered`() throws {
    let store = try open(directory)
    let sessions = (1...6).map { (number: UInt64) in
      var session = session(number)
      session.canActivatePredicate = number > 3 ? "SELF BEGINSWITH 'p'" : "SELF == 'page'"
      return session
    }
    try store.commit(sessions.map { .session($0) }, at: noon)
    try store.inLogAndRows { () throws in
      #expect(try store.sessions(of: "org.example.A", concernedWith: "page", limit: 5) == nil)
      #expect(try store.sessions(of: "org.example.A", concernedWith: "page", limit: 6).map(Set.init) == Set(sessions))
    }
  }

  @Test func `a document of sixteen megabytes is kept`() throws {
    // There may be little memory.
    let directory = TemporaryDirectory(in: "/tmp")
    let store = try open(directory)
    var large = delivery(1)
    large.payload = Text(String(repeating: "x", count: Limits.payload))
    try store.commit([.delivery(large)], at: noon)
    #expect(try store.delivery(large.identifier) == large)
    #expect(try open(directory.copy()).delivery(large.identifier) == large)
  }
}
