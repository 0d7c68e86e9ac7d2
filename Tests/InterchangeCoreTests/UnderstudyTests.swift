import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// A program that stands in for applications which know nothing of the service.
@Suite struct UnderstudyTests {
  private static let application: Text = "org.example.Cats"
  private static let understudy = HostOptions(isUnderstudy: true, path: "/understudy/cats")

  private static func manifest(_ who: Manifest.Understudy? = .registrar, configurations: [Text] = ["Document"])
    -> Manifest
  {
    cats(configurations: configurations) { $0.understudy = who }
  }

  private static func install(_ manifest: Manifest) -> Cue {
    .installed([application: InstalledManifest(manifest: manifest, file: "/cats.plist")], keeping: [])
  }

  private let stage = Stage()

  /// The understudy has registered the application, and has attached.
  private func standIn() {
    stage.call(.register(Self.manifest(), size: 100), by: .host)
    stage.attach(as: .host, Self.understudy)
  }

  private func attach(as caller: Caller = .host, isOwner: Bool = true) -> InterchangeError.Name? {
    stage.call(.attach(application: Self.application, shown: [], unknown: [], Self.understudy), by: caller)
    stage.play(.ownership(stage.lastQuestion, isOwner: isOwner))
    return stage.answer?.refusal?.name
  }

  // MARK: Who may

  @Test func `who registered the application stands in for it, and is asked at its own path`() throws {
    standIn()
    #expect(
      stage.errands.first
        == .findOwner(
          stage.lastQuestion, name: ":1.10", application: Self.application, connection: ":1.10",
          path: "/understudy/cats"))
    stage.drop(key: "1")
    guard case .ask(_, _, ":1.10", "/understudy/cats", .connect, _)? = stage.errands.last else {
      return _ = Issue.record("\(stage.errands)")
    }
  }

  @Test func `nobody else does, a sandbox never, and nobody for an application that declares itself`() {
    stage.call(.register(Self.manifest(nil), size: 100), by: .host)
    #expect(attach() == .notHost)
    stage.call(.register(Self.manifest(), size: 100), by: .host)
    #expect(attach(as: .other) == .notHost)
    #expect(attach(as: .sandbox(Self.application)) == .accessDenied)
    // A name in a registered manifest gives nobody a right.
    stage.call(.register(Self.manifest(.owner("org.example.Understudy")), size: 100), by: .host)
    #expect(attach(as: .other) == .notHost)
    #expect(attach(as: .host) == nil)
  }

  @Test func `of an installed application the owner of the stated name does`() {
    stage.play(Self.install(Self.manifest(.owner("org.example.Understudy"))))
    #expect(attach(isOwner: false) == .notHost)
    #expect(attach() == nil)
    let asked = stage.errands.compactMap { if case .findOwner(_, let name, _, _, _) = $0 { name } else { nil } }
    #expect(asked == ["org.example.Understudy", "org.example.Understudy"])
    stage.play(Self.install(Self.manifest(.registrar)))
    stage.hostLeaves()
    #expect(attach() == .notHost)
  }

  @Test func `one lives at a time`() {
    stage.play(Self.install(Self.manifest(.owner("org.example.Understudy"))))
    #expect(attach() == nil)
    #expect(attach(as: .other) == .requestDenied)
    #expect(attach() == nil)
    stage.hostLeaves()
    #expect(attach(as: .other) == nil)
  }

  @Test func `who was refused while the name was looked up attaches nothing`() {
    stage.play(Self.install(Self.manifest(.owner("org.example.Understudy"))))
    stage.call(.attach(application: Self.application, shown: [], unknown: [], Self.understudy), by: .other)
    let (late, question) = (stage.lastCall, stage.lastQuestion)
    #expect(attach() == nil)
    stage.play(.ownership(question, isOwner: true))
    #expect(stage.answers[late]?.refusal?.name == .requestDenied)
    #expect(stage.memory.hosts[Self.application]?.connection == ":1.10")
  }

  @Test func `it may stand in for many, and is none of them`() throws {
    standIn()
    stage.call(.register(cats("org.example.Dogs") { $0.understudy = .registrar }, size: 100), by: .host)
    stage.attach("org.example.Dogs", as: .host, HostOptions(isUnderstudy: true))
    // It may send undeclared types to each, as the host of each.
    for application in [Self.application, "org.example.Dogs"] {
      let landed = stage.drop("undeclared", key: "1", by: .host) { $0.application = application }
      let delivery = try #require(landed?.delivered?.delivery)
      #expect(stage.shelf.deliveries[delivery]?.sourceApplication == "")
    }
    #expect(stage.drop("undeclared", key: "1", by: .other) { $0.application = Self.application }?.refusal != nil)
  }

  // MARK: The application's own host

  @Test func `a host that owns the name takes over, the sessions with it, and no understudy comes after it`() throws {
    standIn()
    let shown = try #require(stage.drop(key: "1")?.delivered)
    stage.hostAnswersAll()
    let waiting = try #require(stage.drop(key: "2")?.delivered)
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    stage.attach(as: .other)
    #expect(stage.memory.hosts[Self.application]?.connection == ":1.2")
    #expect(stage.shelf.sessions[shown.session]?.isConnected == false)
    #expect(stage.progress(of: waiting.delivery)?.attempt == 2)
    #expect(stage.asked.last?.owner == ":1.2")
    stage.hostAnswersAll()
    #expect(stage.progress(of: waiting.delivery)?.state == .handled)
    let again = try #require(stage.drop(key: "1")?.delivered)
    #expect((again.session, again.outcome) == (shown.session, "restored"))
    #expect(attach() == .requestDenied)
  }

  @Test func `an installed manifest replaces a registered one, and sessions get configurations that fit`() throws {
    standIn()
    let one = try #require(stage.drop("view", key: "1")?.delivered?.session)
    stage.hostAnswersAll()
    let waiting = try #require(stage.drop("view", key: "2")?.delivered)
    var installed = Self.manifest(nil, configurations: ["Plain", "Viewer"])
    installed.configurations[1].activityTypes = ["view"]
    installed.configurations[0].activityTypes = ["edit"]
    installed.activityTypes += ["edit"]
    let before = stage.sayings.count
    stage.play(Self.install(installed))
    #expect(stage.shelf.sessions[one]?.configuration == "Viewer")
    #expect(stage.shelf.sessions[waiting.session]?.configuration == "Viewer")
    #expect(stage.said(since: before).map(\.word).contains("session changed Configuration"))
    #expect(!stage.said(since: before).map(\.word).contains("SessionDiscarded"))
    // Nobody stands in for it any more; its program is started.
    #expect(stage.memory.hosts.isEmpty)
    #expect(stage.shelf.sessions[one]?.isConnected == false)
    #expect(stage.progress(of: waiting.delivery)?.state == .held)
    #expect(stage.errands.last == .launch(application: Self.application, number: 2, name: Self.application))
    stage.attach(as: .other)
    stage.hostAnswersAll()
    #expect(stage.progress(of: waiting.delivery)?.state == .handled)
  }

  @Test func `all windows of an understudy become those of the application, also if some are read meanwhile`() throws {
    stage.call(.register(Self.manifest(), size: 100), by: .host)
    let count = 2 * PromptBook.orphansAtOnce
    for key in 0..<count { stage.drop(key: Text("\(key)")) }
    stage.restart()
    stage.call(.register(Self.manifest(), size: 100), by: .host)
    stage.turn { stage in
      stage.play(Self.install(Self.manifest(nil, configurations: ["Default"])))
      stage.drop(key: "last")
    }
    for _ in 0..<4 { stage.play(.moment) }
    #expect(stage.sessions().map(\.configuration).count { $0 == "Default" } >= count)
  }

  @Test func `a new manifest of the understudy discards what it has lost, as any manifest does`() throws {
    standIn()
    stage.drop(key: "1")
    stage.hostAnswersAll()
    stage.call(.register(Self.manifest(configurations: ["Other"]), size: 100), by: .host)
    #expect(stage.sessions().isEmpty)
  }

  // MARK: Starting

  @Test func `the understudy of the stated name is started in the application's place`() {
    stage.play(Self.install(Self.manifest(.owner("org.example.Understudy"))))
    stage.drop(key: "1")
    #expect(stage.errands == [.launch(application: Self.application, number: 1, name: "org.example.Understudy")])
  }

  @Test func `an application that its understudy registered is not started, because it would not attach`() throws {
    stage.call(.register(Self.manifest(), size: 100), by: .host)
    let delivery = try #require(stage.drop(key: "1")?.delivered?.delivery)
    #expect(stage.errands.isEmpty)
    stage.passUntilQuiet(seconds: 20)
    #expect(stage.progress(of: delivery)?.state == .routed)
    #expect(stage.progress(of: delivery)?.isOpen == false)
  }
}
