import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// Applications that are asked for a window, that are preferred, and that come and go.
@Suite struct ApplicationTests {
  private static func error(_ name: Text) -> InterchangeError.Name { .routing(Text("org.stagedoor.Error.\(name)")) }

  @Test func `a new session is of the configuration that is named, or of the default one`() throws {
    let stage = Stage(cats(configurations: ["Default", "Detail"]), cats("org.example.Player", hasOneScene: true))
    func new(_ configuration: Text, of application: Text = "org.example.Cats") -> CallAnswer? {
      stage.call(.newSession(application: application, configuration: configuration))
    }
    let made = try ["", "Detail", "Detail"].map { try #require(new($0)?.delivered) }
    #expect(made.map(\.outcome) == ["created", "created", "created"])
    #expect(stage.sessions().map(\.configuration) == ["Default", "Detail", "Detail"])
    let unknown = try #require(new("Dog")?.refusal)
    #expect(unknown.name == Self.error("NoSuchConfiguration") && unknown.message.contains("Dog"))
    #expect(new("", of: "org.example.Player")?.delivered != nil)
    #expect(new("", of: "org.example.Player")?.refusal?.name == Self.error("MultipleScenesNotSupported"))
    #expect(new("", of: "org.example.None")?.refusal?.name == .unknownObject)
  }

  @Test func `the preferred application takes what several declare until that is cleared, over a restart`() throws {
    let applications = [cats("org.example.A"), cats("org.example.B")]
    let stage = Stage(applications[0], applications[1])
    func taker() throws -> Text? {
      let session = try #require(stage.drop(key: "1")?.delivered?.session)
      defer { stage.call(.destroy(session, animation: "standard")) }
      return stage.shelf.sessions[session]?.application
    }
    #expect(stage.book.preferredApplication(for: "view") == nil)
    #expect(try taker() == "org.example.A")
    #expect(stage.call(.prefer("org.example.B", type: "view")) == .done)
    #expect(try taker() == "org.example.B")
    #expect(stage.call(.prefer("org.example.None", type: "view"))?.refusal?.name == .noSuchApplication)
    for (type, key) in [("sing", "NSUserActivityTypes"), ("text/plain", "CFBundleDocumentTypes")] as [(Text, Text)] {
      let refusal = try #require(stage.call(.prefer("org.example.A", type: type))?.refusal)
      #expect(refusal.name == Self.error("ActivityTypeNotDeclared"))
      #expect(refusal.message.contains("\"\(type)\": add it to \(key)"))
    }
    stage.restart(applications[0], applications[1])
    #expect(stage.book.preferredApplication(for: "view") == "org.example.B")
    #expect(stage.call(.prefer(nil, type: "view")) == .done)
    #expect(stage.book.preferredApplication(for: "view") == nil)
    #expect(try taker() == "org.example.A")
  }

  @Test func `a preference counts under each name of its type, and is set and cleared under each`() {
    let stage = Stage(
      cats { $0.contentTypes = [contentType("image/png")] },
      cats("org.example.Dogs") { $0.contentTypes = [contentType("public.png")] }
    ) { $0.preferences = 1 }
    func prefer(_ application: Text?, _ type: Text) -> CallAnswer? { stage.call(.prefer(application, type: type)) }
    func preferred() -> [Text?] {
      let names: [Text] = ["image/png", "IMAGE/PNG", "public.png", "image/x-png"]
      return names.map { stage.book.preferredApplication(for: $0) }
    }
    #expect(prefer("org.example.Cats", "image/png") == .done)
    #expect(preferred() == Array(repeating: "org.example.Cats", count: 4))
    #expect(prefer("org.example.Dogs", "public.png") == .done)
    #expect(preferred() == Array(repeating: "org.example.Dogs", count: 4))
    #expect(stage.book.preferredApplications.map(\.type) == ["public.png"])
    #expect(prefer(nil, "IMAGE/PNG") == .done)
    #expect(preferred() == Array(repeating: nil, count: 4))
    #expect(stage.book.preferredApplications.isEmpty)
    // The names of activity types are what they are spelled.
    #expect(prefer("org.example.Cats", "view") == .done)
    #expect(stage.book.preferredApplication(for: "VIEW") == nil)
  }

  @Test func `a registered application goes with the service, and its sessions wait for it as they were`() throws {
    let stage = Stage()
    stage.call(.register(cats(), size: 1))
    let session = try #require(stage.drop(key: "cat1")?.delivered?.session)
    stage.call(.write(session, .title("First")))
    stage.call(.write(session, .canActivatePredicate("SELF BEGINSWITH 'cat'")))
    stage.restart()
    #expect(stage.sessions().map(\.title) == ["First"])
    let ask = Ask.deliver(named(session), digest: .empty, size: 1)
    #expect(stage.call(ask)?.refusal?.name == Self.error("NoSuchApplication"))
    stage.call(.register(cats(), size: 1))
    #expect(stage.call(ask)?.delivered?.session == session)
    #expect(stage.drop(key: "cat2")?.delivered?.session == session)
  }

  @Test func `a manifest that comes back without a configuration discards its sessions, known or not`() throws {
    let stage = Stage(cats(configurations: ["Default", "Detail"]))
    stage.drop(key: "1")
    let made = try #require(
      stage.call(.newSession(application: "org.example.Cats", configuration: "Detail"))?.delivered)
    #expect(stage.book.knowsAll(of: "org.example.Cats"))
    stage.call(.unregister("org.example.Cats"))
    stage.call(.register(cats(), size: 1))
    #expect(stage.sessions().map(\.configuration) == ["Default"])
    #expect(stage.progress(of: made.delivery)?.error?.name == "org.stagedoor.Error.NoSuchSession")
  }

  @Test func `a placeholder in quotes is warned about, and is compared as it is`() throws {
    let can = try Predicate("SELF ENDSWITH[c] '.%@'")
    let stage = Stage()
    func hasWarning(_ words: String) -> Bool {
      stage.sayings.contains { if case .log(.warning, let line) = $0 { line.string.contains(words) } else { false } }
    }
    stage.call(.register(cats { $0.configurations[0].conditions.can = can }, size: 1))
    #expect(hasWarning("org.example.Cats: Default: can, column 18: %@ stands in quotes"))
    let made = stage.call(.newSession(application: "org.example.Cats", configuration: .empty))
    let session = try #require(made?.delivered?.session)
    #expect(stage.drop(key: "what.%@")?.delivered?.session == session)
    #expect(stage.drop(key: "cat.png")?.delivered?.session != session)
    // The same for a condition that is set later.
    stage.call(.write(session, .prefersToActivatePredicate("SELF == '%K'")))
    #expect(hasWarning("prefers, column 9: %K stands in quotes"))
  }
}
