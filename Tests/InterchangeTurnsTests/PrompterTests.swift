import CSQLite
import Glibc
import InterchangeCore
import InterchangeTurns
import SceneModel
import SessionStore
import StoreTestSupport
import Testing

/// The turns of the core on a real store that refuses: each test makes the store fail in its own way.
@Suite struct PrompterTests {
  /// A core and its store, with the turns that have ended.
  private final class Service {
    private let folder = TemporaryDirectory(in: "/tmp")
    private var directory: String { folder.path }
    var prompter: Prompter
    var now = Moment(time: Instant(microseconds: 1_800_000_000_000_000), uptime: 1_000_000)
    private(set) var sayings: [Saying] = []
    private(set) var errands: [Errand] = []

    /// - Parameter sql: A change of the store's file, before the service opens it.
    init(changedBy sql: String? = nil) throws {
      _ = DiskFaults.install
      prompter = try Service.open(folder.path, now)
      guard let sql else { return }
      prompter.store.close()
      var handle: OpaquePointer?
      guard sqlite3_open("\(directory)/stagedoor.db", &handle) == SQLITE_OK,
        sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
      else { throw Failure("the file cannot be changed") }
      sqlite3_close(handle)
      prompter = try Service.open(directory, now)
    }

    private static func open(_ directory: String, _ now: Moment) throws(StoreError) -> Prompter {
      let types = TypeCatalog()
      let store = try SessionStore(
        directory: directory, durability: .full, rules: ReadingRules(types: types), at: now.time)
      return try Prompter(store, types: types, allowance: Allowance(), seed: (1, 2), at: now)
    }

    /// Takes the cues in one turn, and ends it and those that follow from it.
    func take(_ cues: Cue...) {
      for cue in cues { _ = try? prompter.take(cue, at: now) }
      endTurns()
    }

    func endTurns() {
      var count = 0
      while prompter.hasTurn {
        count += 1
        precondition(count < 100, "there is always another turn")
        let ending = prompter.endTurn(at: now)
        sayings += ending.complaints
        if ending.error != nil { continue }
        for (_, step) in ending.turn.steps {
          sayings += step.sayings
          errands += step.errands
        }
      }
    }

    func pass(seconds: Int64) {
      now.uptime += seconds * 1_000_000
      now.time = Instant(microseconds: now.time.microseconds + seconds * 1_000_000)
      prompter.alarmWent(at: now)
      endTurns()
    }

    /// The disk refuses every write meanwhile.
    func withoutSpace(_ body: (Service) -> Void) {
      DiskFaults.begin([.write], in: directory, error: ENOSPC)
      body(self)
      DiskFaults.end(in: directory)
    }

    func answers(to call: CallNumber) -> [CallAnswer] {
      sayings.compactMap { if case .answer(call, let answer) = $0 { answer } else { nil } }
    }

    /// The error that the first answer to a call is.
    func refusal(of call: CallNumber) throws -> InterchangeError {
      guard case .refused(let error)? = answers(to: call).first else { throw Failure("it was not refused: \(sayings)") }
      return error
    }

    var hasBacklog: Bool { prompter.hasBacklog }
    var complaints: Int { sayings.count { if case .log(.error, _) = $0 { true } else { false } } }
  }

  private struct Failure: Error { init(_: String) {} }

  private static let shell = Caller(connection: ":1.1", isSandboxed: false, application: .empty)
  private static let host = Caller(connection: ":1.9", isSandboxed: false, application: .empty)
  private static let cats: Text = "org.example.Cats"

  private let attach: Ask = .attach(application: "org.example.Cats", shown: [], unknown: [], HostOptions())

  private func cats(_ types: [Text] = ["view"]) -> Manifest {
    Manifest(
      identifier: PrompterTests.cats, activityTypes: types, supportsMultipleScenes: true,
      configurations: [SceneConfiguration(name: "Default")])
  }

  private func drop(
    _ key: Text, _ representations: [Representation] = [], _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> Ask {
    var payload = Payload(UserActivity(activityType: "view", targetContentIdentifier: key))
    payload.items[0].representations = representations
    change(&payload.options)
    return .deliver(payload, digest: "digest", size: 100)
  }

  private let file = Representation(type: ContentType("image/png")!, .file("file:///home/a.png"))

  @Test(arguments: [PackingAnswer.packed([100]), .failed(InterchangeError(.invalidPayload, "there is no such file"))])
  func `a packed call with a token is answered, and its contents are freed, by a store that cannot be read`(
    _ answer: PackingAnswer
  ) throws {
    let service = try Service()
    service.take(.declared(cats()))
    service.take(.call(1, PrompterTests.shell, drop("1", [file]) { $0.token = "once" }))
    guard case .pack(1, let orders, _, _)? = service.errands.last else {
      return _ = Issue.record("\(service.errands)")
    }
    // From now on nothing can be read, ever.
    service.prompter.store.close()
    service.take(.packed(1, answer))
    #expect(try service.refusal(of: 1).name == (answer == .packed([100]) ? .storageFailed : .invalidPayload))
    #expect(service.answers(to: 1).count == 1)
    #expect(service.errands.contains(.free([orders[0].delivery])))
    #expect(service.prompter.book.packing.isEmpty)
    #expect(service.prompter.book.disagreements == [])
  }

  @Test func `an installation that was refused does not come again after a newer one`() throws {
    let service = try Service()
    func installed(_ types: [Text]) -> Cue {
      .installed([PrompterTests.cats: InstalledManifest(manifest: cats(types), file: "/cats")], keeping: [])
    }
    service.take(installed(["view"]))
    service.withoutSpace {
      $0.take(.call(1, PrompterTests.shell, drop("1")), installed(["view", "old"]))
    }
    #expect(service.hasBacklog)
    service.take(installed(["view", "new"]))
    service.take(.call(2, PrompterTests.shell, drop("1")))
    service.pass(seconds: 10)
    #expect(!service.hasBacklog)
    #expect(service.prompter.book.manifest(of: PrompterTests.cats)?.activityTypes == ["view", "new"])
  }

  @Test func `a host whose attaching was refused is no host once it has left`() throws {
    let service = try Service()
    service.take(.declared(cats()))
    service.take(.call(1, PrompterTests.host, attach))
    service.withoutSpace {
      $0.take(.call(2, PrompterTests.shell, drop("1")), .ownership(1, isOwner: true))
    }
    #expect(service.answers(to: 1).isEmpty)
    service.take(.hostLeft(application: PrompterTests.cats, connection: ":1.9"))
    service.pass(seconds: 10)
    #expect(!service.prompter.book.isHostAttached(to: PrompterTests.cats))
    #expect(try service.refusal(of: 1).name == .notHost)
  }

  @Test func `a call that cannot be stored ends the promises that came with it`() throws {
    let service = try Service()
    service.take(.declared(cats()))
    let promise = Representation(type: ContentType("image/png")!, .promise("/cat"))
    service.withoutSpace { $0.take(.call(1, PrompterTests.shell, drop("1", [promise]))) }
    #expect(try service.refusal(of: 1).name == .storageFailed)
    #expect(
      service.errands.contains(.endPromises([Promise(source: ":1.1", path: "/cat", item: 0, type: "image/png")])))
  }

  @Test func `an event that can never be stored is tried less and less often, and holds up no other`() throws {
    // The store takes no record of this kind: that a host was told of a discarded session.
    let service = try Service(
      changedBy: "CREATE TRIGGER refused BEFORE INSERT ON log WHEN new.kind = 9 BEGIN SELECT RAISE(ABORT, 'never'); END"
    )
    service.take(.declared(cats()))
    service.take(.call(1, PrompterTests.shell, drop("1")))
    guard case .delivered(let delivered)? = service.answers(to: 1).first else {
      return _ = Issue.record("\(service.sayings)")
    }
    service.take(.call(2, PrompterTests.shell, .destroy(delivered.session, animation: "standard")))
    service.take(.call(3, PrompterTests.host, attach))
    service.take(.ownership(3, isOwner: true))
    guard case .ask(let errand, _, _, _, .discarded([delivered.session]), _)? = service.errands.last else {
      return _ = Issue.record("\(service.errands)")
    }
    service.take(.hostAnswered(errand, .done))
    let first = service.complaints
    #expect(first >= 1)
    for second in stride(from: 0, to: 600, by: 5) {
      service.pass(seconds: 5)
      let call = CallNumber(100 + second)
      service.take(.call(call, PrompterTests.shell, .prefer(PrompterTests.cats, type: "view")))
      #expect(service.answers(to: call) == [.done])
    }
    #expect(service.hasBacklog)
    #expect((1...10).contains(service.complaints - first), "\(service.complaints - first) lines in ten minutes")
  }
}
