import SceneModel
import Testing

@testable import InterchangeCore

/// The bytes that sessions keep are limited: at n and at n + 1, in every call that lengthens a session.
@Suite struct SessionBytesTests {
  private func stage(keeping bytes: Int) -> Stage { Stage(cats()) { $0.sessionBytes = bytes } }

  private static func activity(_ key: Text, _ bytes: Int) -> UserActivity {
    func padded(_ count: Int) -> UserActivity {
      UserActivity(
        activityType: "view", targetContentIdentifier: key,
        userInfo: ["x": .string(Text(String(repeating: "x", count: count)))])
    }
    return padded(bytes - padded(0).json.count)
  }

  private static func payload(_ key: Text, _ bytes: Int, _ change: (inout PayloadOptions) -> Void = { _ in }) -> Ask {
    var payload = Payload(activity(key, bytes))
    change(&payload.options)
    return .deliver(payload, digest: .empty, size: bytes)
  }

  @Test func `sessions of one application leave as many bytes for those of others`() throws {
    let stage = stage(keeping: 3000)
    stage.call(.register(cats("org.example.Dogs"), size: 1))
    #expect(stage.call(Self.payload("1", 1000))?.delivered != nil)
    let (before, waiting) = (stage.shelf, stage.book.ledger.total(.waiting))
    let refused = stage.call(Self.payload("2", 1001))
    let refusal = try #require(refused?.refusal)
    #expect(refusal.name == .limitsExceeded)
    for part in ["3000 bytes", "1000 are taken", "1000 of them by org.example.Cats", "1001 more"] {
      #expect(refusal.message.contains(part), "\(refusal.message)")
    }
    #expect(stage.shelf == before)
    #expect(stage.book.ledger.total(.waiting) == waiting)
    #expect(stage.call(Self.payload("2", 1000))?.delivered != nil)
    let dogs: (inout PayloadOptions) -> Void = { $0.application = "org.example.Dogs" }
    #expect(stage.call(Self.payload("3", 1001, dogs))?.refusal?.name == .limitsExceeded)
    #expect(stage.call(Self.payload("3", 1000, dogs))?.delivered != nil)
    // An empty window takes no space here.
    #expect(stage.call(.newSession(application: "org.example.Cats", configuration: .empty))?.delivered != nil)
    #expect(stage.memory.bytes(of: "org.example.Cats") == (3000, 2000))
    #expect(stage.call(.destroy(stage.sessions()[0].identifier, animation: "standard")) == .done)
    #expect(stage.memory.bytes(of: "org.example.Cats") == (2000, 1000))
  }

  /// A call that adds this number of bytes to a session of 1000 bytes.
  enum Way: CaseIterable {
    case deliver, deliverEach, activate, title, userActivity, restorationActivity, userInfo, can, prefers

    func ask(_ session: UniqueIdentifier, _ more: Int) -> Ask {
      let text = Text(String(repeating: "x", count: more))
      let payload = Payload(SessionBytesTests.activity("1", 1000 + more))
      var named = payload
      named.options.session = Text("\(session)")
      return switch self {
      case .deliver: SessionBytesTests.payload("1", 1000 + more)
      case .deliverEach: .deliverEach(payload, digest: .empty, size: 1)
      case .activate: .activate(session, named, size: 1)
      case .title: .write(session, .title(text))
      case .userActivity: .write(session, .userActivity(SessionBytesTests.activity("1", 1000 + more)))
      case .restorationActivity:
        .write(session, .stateRestorationActivity(more > 0 ? SessionBytesTests.activity("2", more) : nil))
      case .userInfo: .write(session, .userInfo(more > 8 ? ["x": .string(Text(String(text.string.dropLast(8))))] : [:]))
      case .can: .write(session, .canActivatePredicate(text))
      case .prefers: .write(session, .prefersToActivatePredicate(text))
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `whatever makes a session longer is refused where there is no space`(way: Way) throws {
    let stage = stage(keeping: 2100)
    let session = try #require(stage.call(Self.payload("1", 1000))?.delivered?.session)
    let before = stage.shelf
    #expect(stage.call(way.ask(session, 101))?.refusal?.name == .limitsExceeded)
    #expect(stage.shelf == before)
    #expect(stage.call(way.ask(session, 100)).map { $0.refusal == nil } ?? false)
    #expect(stage.memory.bytes(of: "org.example.Cats") == (1100, 1100))
    #expect(stage.sessions().map(\.keptBytes) == [1100])
  }

  @Test(arguments: Way.allCases)
  func `what makes no session longer is never refused for want of space`(way: Way) throws {
    let stage = stage(keeping: 10_000)
    let session = try #require(stage.call(Self.payload("1", 1000))?.delivered?.session)
    stage.call(way.ask(session, 100))
    // There is less space after the start, as if another service had had more.
    stage.restart(cats()) { $0.sessionBytes = 500 }
    #expect(stage.memory.bytes(of: "org.example.Cats") == (1100, 1100))
    for (more, isRefused) in [(101, true), (100, false), (0, false), (100, true)] {
      let answer = stage.call(way.ask(session, more))
      #expect(
        (answer?.refusal?.name == .limitsExceeded) == isRefused, "\(more) bytes more: \(String(describing: answer))")
    }
    #expect(stage.call(.destroy(session, animation: "standard")) == .done)
    #expect(stage.memory.bytes(of: "org.example.Cats") == (0, 0))
  }

  // MARK: Putting back

  /// A session showed 1000 bytes, and then, for a second delivery, 100. Another session takes `bytes`.
  private func shrunk(
    beside bytes: Int, isHandled: Bool, wasPrivate: Bool = false
  ) throws -> (stage: Stage, session: UniqueIdentifier, delivery: UniqueIdentifier, other: UniqueIdentifier) {
    let stage = stage(keeping: 4000)
    if isHandled { stage.attach() }
    let first = Self.payload("1", 1000) { $0.isPrivate = wasPrivate }
    let session = try #require(stage.call(first)?.delivered?.session)
    stage.hostAnswersAll()
    let delivery = try #require(stage.call(Self.payload("1", 100))?.delivered?.delivery)
    stage.hostAnswersAll()
    let other = try #require(stage.call(Self.payload("2", bytes))?.delivered?.session)
    stage.hostAnswersAll()
    return (stage, session, delivery, other)
  }

  /// Putting back adds 900 bytes, and the bytes that are there already count twice.
  @Test(arguments: [(1450, false), (1451, false), (1451, true)])
  func `a failed delivery puts back what fits, or a private window stays private`(bytes: Int, wasPrivate: Bool) throws {
    let (stage, session, delivery, _) = try shrunk(beside: bytes, isHandled: false, wasPrivate: wasPrivate)
    #expect(stage.call(.cancel(delivery)) == .done)
    #expect(stage.progress(of: delivery)?.state == .cancelled)
    let kept = bytes == 1450 ? 1000 : 0
    #expect(stage.shelf.sessions[session]?.keptBytes == kept)
    #expect(stage.shelf.sessions[session]?.isPrivate == wasPrivate)
    #expect(stage.memory.bytes(of: "org.example.Cats") == (bytes + kept, bytes + kept))
  }

  @Test func `a redirect that would put back more than there is space for is refused`() throws {
    for (bytes, isRefused) in [(1450, false), (1451, true)] {
      let (stage, session, delivery, other) = try shrunk(beside: bytes, isHandled: true)
      let before = stage.shelf
      let answer = stage.call(.redirect(delivery, to: other))
      #expect((answer?.refusal?.name == .limitsExceeded) == isRefused, "\(String(describing: answer))")
      #expect((stage.shelf == before) == isRefused)
      #expect(stage.shelf.sessions[session]?.keptBytes == (isRefused ? 100 : 1000))
    }
  }

  @Test func `a redirect to a session that would be too long is refused`() throws {
    for (bytes, isRefused) in [(100, false), (101, true)] {
      let stage = stage(keeping: 2000)
      stage.attach()
      let first = try #require(stage.call(Self.payload("1", bytes))?.delivered)
      stage.hostAnswersAll()
      stage.call(.write(first.session, .userActivity(nil)), by: .host)
      let other = try #require(stage.call(Self.payload("2", 950) { $0.disposition = .new })?.delivered?.session)
      stage.hostAnswersAll()
      stage.call(.write(other, .userActivity(nil)), by: .host)
      stage.call(.write(other, .stateRestorationActivity(Self.activity("2", 950))), by: .host)
      let answer = stage.call(.redirect(first.delivery, to: other))
      #expect((answer?.refusal?.name == .limitsExceeded) == isRefused, "\(String(describing: answer))")
    }
  }

  // MARK: Memory

  @Test func `a long session is not remembered beyond its turn`() throws {
    let stage = Stage(cats())
    let session = try #require(stage.call(Self.payload("1", 64 << 10))?.delivered?.session)
    #expect(stage.book.rememberedSession(session) != nil)
    // The session becomes longer by one byte; then it is read for something else; then it becomes shorter.
    stage.call(.write(session, .title("x")))
    #expect(stage.book.rememberedSession(session) == nil)
    stage.call(.refresh(session))
    #expect(stage.restarts == 1)
    #expect(stage.book.rememberedSession(session) == nil)
    stage.call(.write(session, .title(.empty)))
    stage.call(.refresh(session))
    #expect(stage.book.rememberedSession(session) != nil)
    let other = try #require(stage.call(Self.payload("2", 64 << 10 + 1))?.delivered?.session)
    #expect(stage.book.rememberedSession(other) == nil)
  }
}
