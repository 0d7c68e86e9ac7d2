import DBus
import DBusTestSupport
import DaemonTestSupport
import SceneTestSupport
import StagedoorKit
import Testing

/// A seed plays the service, the toolkit, the user and every delegate against an application, and the service is killed now and then.
///
/// The seed decides all that they do. The bus between them is real, so a seed may run differently the next time.
@MainActor @Suite struct ScenePlayTests {
  @Test(arguments: 1...UInt64(rounds(20)))
  func `whatever happens, each scene ends once, hears nothing more, and the service knows what it showed`(
    seed: UInt64
  ) async throws {
    try await withPrivateBus { bus in
      let play = ScenePlay(seed: seed, on: bus)
      try await play.run(acts: 60)
      let story = "seed \(seed):\n\(play.story.joined(separator: "\n"))"
      #expect(play.breaches == [], "\(story)")
      #expect(play.unheard == [], "\(story)")
    }
  }
}

@MainActor private final class ScenePlay {
  private var random: SeededRandom
  private let bus: PrivateBus
  private var service: PlayedService?
  private let known = PlayedService.Known()
  private let application = PlayedApplication("org.example.Cats")
  private var windows: [Window] = []
  private var sessions: [SessionIdentifier] = []
  private var numbers: [SessionIdentifier: Int] = [:]
  private var count = 0
  /// The last call of each session: the service makes one call of a session at a time.
  private var calls: [SessionIdentifier: Task<Void, Never>] = [:]
  private(set) var story: [String] = []
  private(set) var breaches: [String] = []
  /// What the service did not know in the end.
  private(set) var unheard: [String] = []
  private var isOver = false

  init(seed: UInt64, on bus: PrivateBus) {
    random = SeededRandom(seed: seed)
    self.bus = bus
    application.windowsTakeFocus = false
    application.whenCalled = { [unowned self] call, scene in
      if call != "stateRestorationActivity" { try hear(call, scene) }
    }
    // The library also asks for the activity of a scene in the foreground.
    application.restoring = { [unowned self] scene in
      try? hear("stateRestorationActivity", scene)
      return scene.userActivity
    }
  }

  func run(acts: Int) async throws {
    let connection = try await bus.connect()
    try await begin()
    try await application.start(on: connection)
    for _ in 1...5 { addSession(to: try #require(service)) }
    for _ in 0..<acts {
      try await act()
      let active = application.connectedScenes.filter { $0.activationState == .foregroundActive }
      if active.count > 1 { breaches.append("\(active.count) scenes are active") }
      // How much happens in between is the seed's choice too.
      for _ in 0..<random.below(4) { await Task.yield() }
      // Without waits the acts would be over before the service has made its first calls.
      if random.once(in: 2), hasHost { await calls[random.one(of: sessions)]?.value }
      if random.once(in: 2) { _ = try await connection.owner(of: House.name) }
    }
    isOver = true
    if service == nil { try await begin() }
    for call in calls.values { await call.value }
    do { try await eventually("the service knows it all") { await self.differences.isEmpty } } catch {
      unheard = differences
    }
    if let service { tell("the service was told \(service.lines)") }
    await application.stop()
    tell("the application reported \(application.failures)")
    for window in windows where window.wasConnected && window.endings != 1 {
      breaches.append("\(window.name) was disconnected \(window.endings) times")
    }
  }

  private func tell(_ line: String) { story.append(line) }
  private func breach(_ line: String) {
    story.append("BREACH: \(line)")
    breaches.append(line)
  }

  // MARK: The acts

  private func act() async throws {
    switch random.below(20) {
    case 0:
      if service == nil { try await begin() } else { await end() }
    case 1...7: try await call(random.one(of: sessions))
    case 8 where random.once(in: 3):
      let member: MemberName = random.one(of: [
        "Title", "UserActivity", "UserInfo", "CanActivatePredicate", "StateRestorationActivity", "SetState",
        "Disconnect", "Destroy", "PostNotification", "AttachHostWith",
      ])
      tell("the disk of the service is full for a moment: \(member)")
      service?.answers.withLock { $0[member] = ["org.stagedoor.Error.StorageFailed"] }
    case 8: application.post("EntriesUpdated", userInfo: ["entry": .integer(random.below(3))])
    case 9:
      guard let scene = anyScene() else { return }
      tell("the user destroys \(name(scene.id))")
      application.requestSceneSessionDestruction(scene.session)
    default:
      guard let scene = anyScene() else { return }
      touch(scene, "the toolkit")
    }
  }

  private func anyScene() -> Scene? {
    let scenes = application.connectedScenes
    return scenes.isEmpty ? nil : random.one(of: scenes)
  }

  /// What a toolkit, a user or a delegate does with a scene.
  private func touch(_ scene: Scene, _ who: String) {
    let what = random.below(9)
    tell("\(who) does \(what) with \(name(scene.id))")
    switch what {
    case 0: scene.enter(.foregroundActive)
    case 1: scene.enter(.foregroundInactive)
    case 2: scene.enter(.background)
    case 3: scene.release()
    case 4: scene.title = "title \(random.below(3))"
    case 5: scene.userActivity = random.once(in: 4) ? nil : cat("cat\(random.below(3))")
    case 6: scene.userActivity?.needsSave = true
    case 7: scene.userInfo = ["zoom": .integer(random.below(3))]
    default: scene.activationConditions = .only("cat\(random.below(3))")
    }
  }

  /// What a delegate does in a call, besides noting it.
  private func react(to call: String, _ scene: Scene) throws {
    if isOver { return }
    if ["willConnect", "continue"].contains(call), random.once(in: 6) {
      tell("\(name(scene.id)) refuses")
      throw NoSuchCat()
    }
    if random.once(in: 4) { touch(scene, "the delegate in \(call)") }
    if random.once(in: 12), let other = anyScene() { touch(other, "the delegate of another in \(call)") }
    if random.once(in: 30) {
      tell("the delegate destroys \(name(scene.id))")
      application.requestSceneSessionDestruction(scene.session)
    }
  }

  private func name(_ session: SessionIdentifier) -> String { "window \(session.description.prefix(8).suffix(1))" }

  // MARK: The laws

  /// What a window has heard.
  private final class Window {
    enum Place { case away, inFront, active }

    let delegate: SceneDelegate
    let name: String
    var place = Place.away
    var wasConnected = false
    var isRefused = false
    var endings = 0

    init(of delegate: SceneDelegate, _ name: String) { (self.delegate, self.name) = (delegate, name) }
  }

  /// From where to where these calls bring a window.
  private static let steps: [String: (from: Window.Place, to: Window.Place)] = [
    "willEnterForeground": (.away, .inFront), "didBecomeActive": (.inFront, .active),
    "willResignActive": (.active, .inFront), "didEnterBackground": (.inFront, .away), "didDisconnect": (.away, .away),
  ]

  private func window(of scene: Scene) -> Window {
    if let window = windows.last(where: { $0.delegate === scene.delegate }) { return window }
    windows.append(Window(of: scene.delegate, "\(name(scene.id)) (\(windows.count))"))
    return windows[windows.count - 1]
  }

  private func hear(_ call: String, _ scene: Scene) throws {
    let window = window(of: scene)
    tell("  \(window.name): \(call) (\(scene.activationState))")
    if window.endings > 0 || window.isRefused { breach("\(window.name): \(call) after the end") }
    if let step = Self.steps[call] {
      if window.place != step.from { breach("\(window.name): \(call) out of turn") }
      window.place = step.to
    }
    switch call {
    case "willConnect":
      scene.observe("EntriesUpdated") { [weak self] _ in try? self?.hear("observer", scene) }
      scene.onChange(of: \.title) { [weak self] _ in self?.tell("  \(window.name): title") }
    case "willEnterForeground": window.wasConnected = true
    default: break
    }
    do { try react(to: call, scene) } catch {
      window.isRefused = call == "willConnect"
      throw error
    }
    if call == "didDisconnect" { window.endings += 1 }
  }

  // MARK: The service

  private func begin() async throws {
    tell("the service starts")
    service = try await PlayedService(
      on: bus, sessions: sessions.filter { known.sessions[$0] != nil }.compactMap { numbers[$0] }, known: known,
      discardsUnknown: true)
  }

  private func end() async {
    tell("the service is killed")
    let old = service
    service = nil
    await old?.close()
    if let old { tell("  it was told \(old.lines)") }
  }

  private func addSession(to service: PlayedService, insteadOf old: SessionIdentifier? = nil) {
    if count == 9 || old.map({ !sessions.contains($0) }) ?? false { return }
    count += 1
    let session = service.addSession(count)
    numbers[session] = count
    known.replace(session, by: ["Connected": "false"])
    sessions.removeAll { $0 == old }
    sessions.append(session)
  }

  /// A call for a session, as the service would make it: it opens the window, or gives it something, or closes it.
  private func call(_ session: SessionIdentifier) async throws {
    guard hasHost else { return }
    let before = calls[session]
    let (what, key, known) = (random.below(10), "cat\(random.below(3))", known)
    calls[session] = Task { [weak self] in
      await before?.value
      // Another service may run by now.
      guard let self, let service, isAttached(service) else { return }
      // The session was destroyed; the next drop makes a new one.
      guard let values = known.sessions[session] else { return addSession(to: service, insteadOf: session) }
      tell("the service: call \(what) of \(name(session)) with \(key)")
      let isConnected = values["Connected"] == "true"
      do {
        switch what {
        case 0 where isConnected: try await service.refresh(session)
        case 1, 2: if isConnected { try await service.activate(session) }
        case 3 where isConnected:
          known.replace(session, by: nil)
          try await service.destroy(session)
        case 4 where isConnected: _ = try await service.propose(session, [["suggestedName": "x"]], ["copy"])
        default: try await deliver(key, session)
        }
      } catch {
        tell("  it failed: \(error)")
      }
    }
  }

  private var hasHost: Bool { service.map { isAttached($0) } ?? false }
  private func isAttached(_ service: PlayedService) -> Bool { attachments(to: service) > 0 }
  private func attachments(to service: PlayedService) -> Int { service.lines.count { $0.hasPrefix("AttachHost") } }

  /// Stores the activity and gives it to the host, to whose refusal the session owes its previous one. A service that comes back delivers again what
  /// its predecessor did not hear of.
  private func deliver(_ key: String, _ session: SessionIdentifier) async throws {
    var isAgain = false
    while true {
      try await eventually("a service with a host") { await self.hasHost }
      guard let service, known.sessions[session] != nil else { return }
      let isConnected = known[session]["Connected"] == "true"
      let attachments = attachments(to: service)
      // The host may release the window after its answer.
      known.set("Connecting", of: session, "true")
      do {
        if isConnected {
          try await service.resume(session, Options.activity(key), isAgain: isAgain)
        } else {
          try await service.connect(session, Options.activity(key), isAgain: isAgain)
        }
        isAgain = true
        if self.service !== service { return }
        // This task does not know whether the host attached before or after its answer.
        if attachments != self.attachments(to: service) { continue }
        if known[session]["Connecting"] == "true" {
          known.set("Connected", of: session, "true")
          if known[session]["State"] ?? "unattached" == "unattached" {
            known.set("State", of: session, "foregroundInactive")
          }
        }
        return
      } catch {
        isAgain = true
        if self.service !== service { continue }
        known.takeBack(from: session)
        throw error
      }
    }
  }

  // MARK: What the service knows

  /// What the service believes of the scenes, and is not so.
  private var differences: [String] {
    var differences: [String] = []
    let shown = application.connectedScenes
    let connected = known.sessions.filter { $0.value["Connected"] == "true" }.keys.sorted()
    if connected != shown.map(\.id).sorted() {
      differences.append("the service believes in \(connected.map(name)), and there are \(shown.map { name($0.id) })")
    }
    for scene in shown {
      let values = known[scene.id]
      func expect(_ property: String, _ value: String) {
        let told = values[property] ?? ""
        if told != value {
          differences.append("\(name(scene.id)): \(property) is \(value), and the service has \(told)")
        }
      }
      expect("Title", scene.title)
      expect("UserActivity", (try? scene.userActivity?.document()) ?? "")
      expect("State", scene.activationState.rawValue)
      expect("UserInfo", scene.userInfo["zoom"].map { #"{"zoom":\#($0.integer ?? 0)}"# } ?? "")
      let can = scene.activationConditions.canActivateForTargetContentIdentifierPredicate
      expect("CanActivatePredicate", can?.source ?? "")
    }
    return differences
  }
}

extension UserActivity {
  /// The document, of an activity of this suite.
  fileprivate func document() throws -> String {
    let key = targetContentIdentifier.map { #","targetContentIdentifier":"\#($0)""# } ?? ""
    let saved = userInfo.isEmpty ? "" : #","userInfo":{"saved":true}"#
    return #"{"activityType":"\#(activityType)"\#(key)\#(saved)}"#
  }
}
