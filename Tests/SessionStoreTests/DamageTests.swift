import Glibc
import SceneModel
import SceneTestSupport
import SessionStore
import Testing

/// Stores with bytes that differ from the written ones.
struct DamageTests {
  /// A store with some records of every kind, in rows and in the log.
  private func made(_ generator: inout RecordGenerator) throws -> TemporaryDirectory {
    let directory = TemporaryDirectory()
    let store = try open(directory)
    for step in 0..<60 {
      try store.commit(generator.records(), at: generator.now)
      if step == 40 { try store.rest(at: generator.now) }
    }
    return directory.copy()
  }

  private func damage(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    if random.once(in: 5) { bytes.removeLast(random.below(bytes.count)) }
    for _ in 0..<(1 + random.below(5)) where !bytes.isEmpty {
      let start = random.below(bytes.count)
      let end = min(bytes.count, start + 1 + random.below(random.once(in: 3) ? 10_000 : 40))
      let other = random.below(bytes.count)
      let kind = random.below(3)
      for place in start..<end {
        switch kind {
        case 0: bytes[place] = 0
        case 1: bytes[place] = UInt8(random.below(256))
        default: bytes[place] = bytes[(other + place - start) % bytes.count]
        }
      }
    }
    return bytes
  }

  /// Returns whether nothing was refused.
  private func use(_ store: SessionStore) -> Bool {
    let records = (1...20).flatMap { [.session(session($0)), .delivery(delivery($0))] as [Record] }
    return store.work(committing: records + [event(store.lastEventSequence + 1)]).error == nil
  }

  @Test(arguments: 0..<seeds)
  func `wherever bytes are overwritten, the store is used, or set aside as it was and begun anew`(seed: UInt64) throws {
    var generator = RecordGenerator(seed: seed)
    let whole = try made(&generator)
    var random = SeededRandom(seed: seed ^ 0xDA)
    var (atOnce, later) = (0, 0)
    for round in 0..<8 {
      let comment = Comment(rawValue: "seed \(seed), round \(round)")
      let directory = whole.copy()
      let file = damage(directory.bytes(of: "stagedoor.db"), &random)
      directory.write(file, to: "stagedoor.db")
      let log = directory.bytes(of: "stagedoor.db-wal")
      let first = try opened(directory)
      let wasUsed = use(first)
      first.close()
      if let setAside = first.setAside {
        atOnce += 1
        let name = String(setAside.path.split(separator: "/").last ?? "")
        #expect(directory.bytes(of: name) == file, comment)
        #expect(directory.bytes(of: name + "-wal") == log, comment)
        #expect(wasUsed, comment)
        continue
      }
      // The damage may be in a place that nobody reads.
      if wasUsed { continue }
      later += 1
      let next = try opened(directory)
      #expect(next.setAside != nil, "\(comment): what is damaged is not opened again and again")
      #expect(
        directory.names.contains { $0.hasPrefix("stagedoor.db-set-aside") && directory.size(of: $0) > 0 }, comment)
      #expect(use(next), comment)
      next.close()
      #expect(try open(directory).setAside == nil, comment)
    }
    #expect(atOnce + later > 0)
  }

  @Test func `a file that was found damaged in use is written to no more, and is set aside as it is`() throws {
    let directory = TemporaryDirectory()
    let store = try open(directory)
    try store.commit((1...3_000).map { .session(session($0)) }, at: noon)
    try store.rest(at: noon)
    // Only the log knows these sessions.
    try store.commit((3_001...3_010).map { .session(session($0)) }, at: noon)
    let whole = directory.bytes(of: "stagedoor.db")
    directory.write(
      whole.prefix(3 * 4096) + [UInt8](repeating: 0xA5, count: whole.count - 3 * 4096), to: "stagedoor.db")
    func files(_ name: String) -> [[UInt8]] { ["", "-wal"].map { directory.bytes(of: name + $0) } }
    let before = files("stagedoor.db")
    for _ in 0..<3 where store.damage == nil {
      _ = failure(of: try store.forEachSession { _ in })
    }
    #expect(store.damage != nil)
    #expect(failure(of: try store.writeRows())?.kind == .corrupt)
    #expect(failure(of: try store.rest(at: noon))?.kind == .corrupt)
    store.close()
    #expect(files("stagedoor.db") == before)
    let path = try #require(try open(directory).setAside?.path)
    #expect(files(String(path.split(separator: "/").last ?? "")) == before)
  }

  @Test func `whichever page is damaged, a service that starts once more has the store, or a new one`() throws {
    var generator = RecordGenerator(seed: 5)
    let whole = try made(&generator)
    try open(whole).close()
    let file = whole.bytes(of: "stagedoor.db")
    var setAside = 0
    for page in 1..<(file.count / 4096) {
      let directory = whole.copy()
      let range = page * 4096..<(page + 1) * 4096
      directory.write(
        file[..<range.lowerBound] + [UInt8](repeating: 0xA5, count: 4096) + file[range.upperBound...],
        to: "stagedoor.db")
      mkdir(directory.path + "/spool", 0o700)
      let store: SessionStore
      do throws(StoreError) {
        store = try started(directory)
      } catch {
        try #require(error.kind == .corrupt, "page \(page): \(error)")
        store = try started(directory)
      }
      if store.setAside == nil { continue }
      setAside += 1
      let names = directory.names
      #expect(!names.contains("spool") && names.contains { $0.hasSuffix("-spool") }, "page \(page)")
    }
    #expect(setAside > 5)
  }

  @Test func `where a service ended between setting a store aside and beginning another, the next says so`() throws {
    let directory = TemporaryDirectory()
    let store = try open(directory)
    try store.commit((1...3).map { event($0) }, at: noon)
    store.close()
    unlink(directory.path + "/stagedoor.db")
    directory.write([], to: "stagedoor.db-doubt")
    let next = try open(directory)
    #expect(next.lastEventSequence > 3)
    #expect(next.problems.count == 1 && next.problems[0].hasSuffix("is set aside, and a new one is begun"))
    next.close()
    #expect(try open(directory).problems == [])
  }

  /// What a service reads before its first call. A service that cannot start lets its store go.
  private func started(_ directory: TemporaryDirectory) throws(StoreError) -> SessionStore {
    let store = try open(directory)
    _ = (try store.sessionCounts(), try store.sessionBytes(), try store.owedCounts(), try store.preferences())
    _ = (try store.openDeliveries(), try store.baggageSummaries(), try store.connectedSessions())
    return store
  }

  /// Opens the store as the service does: damage that shows late is remembered, and the store is opened once more.
  private func opened(_ directory: TemporaryDirectory) throws -> SessionStore {
    do throws(StoreError) {
      return try open(directory)
    } catch {
      try #require(error.kind == .corrupt, "\(error)")
      return try open(directory)
    }
  }
}
