import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// Applications that are asked for a window, and that are preferred.
@Suite struct ApplicationTests {
  private static func error(_ name: Text) -> InterchangeError.Name { .routing(Text("org.stagedoor.Error.\(name)")) }

  @Test func `a new session is of the configuration that is named, or of the default one`() throws {
    var stage = Stage(cats(configurations: ["Default", "Detail"]), cats("org.example.Player", hasOneScene: true))
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

  @Test func `the preferred application takes what several declare, until that is cleared, also after a restart`()
    throws
  {
    let applications = [cats("org.example.A"), cats("org.example.B")]
    var stage = Stage(applications[0], applications[1])
    // What a drop would do, on a copy.
    stage.isCopy = true
    func taker() -> Text? {
      var copy = stage
      copy.drop(key: "1")
      return copy.shelf.sessions.values.first?.application
    }
    #expect(stage.book.preferredApplication(for: "view") == nil)
    #expect(taker() == "org.example.A")
    #expect(stage.call(.prefer("org.example.B", type: "view")) == .done)
    #expect(taker() == "org.example.B")
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
    #expect(taker() == "org.example.A")
  }
}
