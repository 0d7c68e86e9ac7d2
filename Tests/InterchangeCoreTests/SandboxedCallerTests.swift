import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// What a sandboxed caller may do with its own application, and with another one.
@Suite struct SandboxedCallerTests {
  private static let own: Text = "org.example.Mail"
  private static let foreign: Text = "org.example.Cats"
  private static let mail = Caller.sandbox(own)
  private static let nameless = Caller.sandbox("", 2)

  private let stage = Stage()

  init() {
    stage.call(.register(cats(Self.own) { $0.activityTypes = ["read"] }, size: 1))
    stage.call(.register(cats(Self.foreign) { $0.contentTypes = [contentType("public.data")] }, size: 1))
  }

  private func held(_ type: Text, by caller: Caller = .shell) throws -> Delivered {
    try #require(stage.drop(type, key: "1", by: caller)?.delivered)
  }

  private func window(of application: Text) throws -> UniqueIdentifier {
    try #require(stage.call(.newSession(application: application, configuration: .empty))?.delivered?.session)
  }

  /// Each of these is refused to these callers, and nothing happens.
  private func expectDenied(_ asks: [Ask], to callers: Caller..., sourceLocation: SourceLocation = #_sourceLocation) {
    let before = stage.shelf
    for caller in callers {
      for ask in asks {
        let error = stage.call(ask, by: caller)?.refusal?.errorName
        #expect(error == "org.freedesktop.DBus.Error.AccessDenied", "\(ask)", sourceLocation: sourceLocation)
      }
    }
    #expect(stage.shelf == before, sourceLocation: sourceLocation)
  }

  @Test func `it hands in for any application, and asks where it would go`() throws {
    var text = Payload(items: [Item(representations: [.text()])])
    text.options.application = Self.foreign
    for payload in [stage.activity("view", "2"), text] {
      #expect(stage.explain(payload, by: Self.mail)?.application == Self.foreign)
      let landed = stage.call(.deliver(payload, digest: .empty, size: 1), by: Self.mail)
      let delivery = try #require(landed?.delivered).delivery
      #expect(stage.shelf.deliveries[delivery]?.application == Self.foreign)
    }
    let file = Payload(items: [Item(representations: [.file()])])
    #expect(stage.explain(file, by: Self.mail) == nil)
    // With an empty payload it opens only windows of its own application.
    var empty = Payload()
    empty.options.application = Self.foreign
    expectDenied(
      [
        .deliver(file, digest: .empty, size: 1), .deliverEach(file, digest: .empty, size: 1),
        .deliver(empty, digest: .empty, size: 1),
      ], to: Self.mail, Self.nameless)
    empty.options.application = Self.own
    #expect(stage.call(.deliver(empty, digest: .empty, size: 1), by: Self.mail)?.delivered != nil)
  }

  @Test func `it makes, activates, refreshes and destroys windows of its own application only`() throws {
    let (mine, other) = (try held("read").session, try held("view").session)
    func asks(_ application: Text, _ session: UniqueIdentifier) -> [Ask] {
      [
        .newSession(application: application, configuration: .empty), .activate(session, named(session), size: 0),
        .refresh(session), .destroy(session, animation: "standard"),
      ]
    }
    expectDenied(asks(Self.foreign, other), to: Self.mail, Self.nameless)
    for ask in asks(Self.own, mine) {
      let answer = stage.call(ask, by: Self.mail)
      #expect(answer != nil && answer?.refusal == nil, "\(ask)")
    }
    #expect(stage.shelf.sessions[mine] == nil)
  }

  @Test func `it redirects deliveries to its own application, and cancels what that has sent, and no others`() throws {
    let (mine, other) = (try held("read").delivery, try held("view").delivery)
    let handed = try held("view", by: Self.mail).delivery
    let (window, foreign) = (try window(of: Self.own), try window(of: Self.foreign))
    // A sender may not decide where another application shows its payload.
    expectDenied(
      [.redirect(handed, to: foreign), .redirect(other, to: foreign), .cancel(other)], to: Self.mail, Self.nameless)
    expectDenied([.cancel(handed)], to: .sandbox(Self.foreign, 1), Self.nameless)
    #expect(stage.call(.redirect(mine, to: window), by: Self.mail) == .outcome("activated"))
    #expect(stage.call(.cancel(handed), by: Self.mail) == .done)
  }

  @Test func `it is host of its own application, and of no other whose name it owns`() {
    stage.attach(Self.foreign, as: Self.mail)
    #expect(stage.answer?.refusal?.name == .accessDenied)
    #expect(!stage.book.isHostAttached(to: Self.foreign))
    stage.attach(Self.own, as: Self.mail)
    #expect(stage.book.isHost(Self.mail, of: Self.own))
  }

  @Test func `it does not play the host of an application that has none`() throws {
    let session = try held("read").session
    let asks: [Ask] = [
      .setState(session, .background), .disconnect(session), .write(session, .title("Letter")),
      .post(application: Self.own, name: "Read", userInfo: "{}"),
    ]
    expectDenied(asks, to: Self.mail, .sandbox(Self.foreign, 1), Self.nameless)
    for ask in asks.suffix(2) { #expect(stage.call(ask) == .done) }
    #expect(stage.shelf.sessions[session]?.title == "Letter")
  }
}
