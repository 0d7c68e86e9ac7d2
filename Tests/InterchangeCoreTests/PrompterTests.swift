import CSQLite
import SceneModel
import SessionStore
import StoreTestSupport
import Testing
import Theatre

@testable import InterchangeCore

/// The turns of the core on a store that refuses: each test makes the store fail in its own way.
@Suite struct PrompterTests {
  private static let application: Text = "org.example.Cats"

  private func complaints(_ stage: Stage) -> Int {
    stage.sayings.count { if case .log(.error, _) = $0 { true } else { false } }
  }

  @Test(arguments: [PackingAnswer.packed([100]), .failed(InterchangeError(.invalidPayload, "there is no such file"))])
  func `with an unreadable store a packed call is answered, and its contents freed`(_ answer: PackingAnswer) throws {
    let stage = Stage(cats())
    stage.drop(.file()) { $0.token = "once" }
    let orders = try #require(stage.baggage.packings.first).orders
    // From now on nothing can be read, ever.
    stage.store.close()
    stage.turn { $0.play(.packed(1, answer)) }
    #expect(stage.answer?.refusal?.name == (answer == .packed([100]) ? .storageFailed : .invalidPayload))
    #expect(stage.errands.contains(.free([orders[0].delivery])))
    #expect(stage.book.packing.isEmpty)
    #expect(stage.book.disagreements == [])
  }

  @Test func `an installation that was refused does not come again after a newer one`() throws {
    let stage = Stage()
    func install(_ types: [Text], on stage: Stage) {
      let manifest = cats { $0.activityTypes = types }
      stage.play(.installed([Self.application: InstalledManifest(manifest: manifest, file: "/cats")], keeping: []))
    }
    install(["view"], on: stage)
    stage.turn(refused: true) { stage in
      stage.drop(key: "1")
      install(["view", "old"], on: stage)
    }
    #expect(stage.hasBacklog)
    install(["view", "new"], on: stage)
    stage.drop(key: "1")
    stage.passUntilQuiet(seconds: 10)
    #expect(!stage.hasBacklog)
    #expect(stage.book.manifest(of: Self.application)?.activityTypes == ["view", "new"])
  }

  @Test func `a call that cannot be stored ends the promises that came with it`() throws {
    let stage = Stage(cats())
    stage.turn(refused: true) { $0.drop(.promise()) }
    #expect(stage.answer?.refusal?.name == .storageFailed)
    #expect(stage.errands.contains(.endPromises([Promise(source: ":1.1", path: "/cat", item: 0, type: "image/jpeg")])))
  }

  @Test func `an event that can never be stored is tried less and less often, and holds up no other`() throws {
    let folder = TemporaryDirectory(in: "/tmp")
    Stage(directory: folder.path).store.close()
    // The store takes no record of this kind: that a host was told of a discarded session.
    var handle: OpaquePointer?
    let sql = "CREATE TRIGGER refused BEFORE INSERT ON log WHEN new.kind = 9 BEGIN SELECT RAISE(ABORT, 'never'); END"
    #expect(sqlite3_open("\(folder.path)/stagedoor.db", &handle) == SQLITE_OK)
    #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
    sqlite3_close(handle)
    let stage = Stage(cats(), directory: folder.path)
    let session = try stage.destroyOne()
    stage.attach(hearsDiscards: false)
    #expect(stage.asked.map(\.question) == [.discarded([session])])
    stage.hostAnswers(.done)
    let first = complaints(stage)
    #expect(first >= 1)
    for _ in stride(from: 0, to: 600, by: 5) {
      stage.passUntilQuiet(seconds: 5)
      #expect(stage.call(.prefer(Self.application, type: "view")) == .done)
    }
    #expect(stage.hasBacklog)
    #expect((1...10).contains(complaints(stage) - first), "\(complaints(stage) - first) lines in ten minutes")
  }
}
