import SceneModel
import SceneRouting

/// A stage for cases: applications, their windows, and payloads that are dropped on them.
///
///     var stage = Stage(app("org.example.Cats", "viewCat"))
///     #expect(stage.drop("viewCat", key: "cat1") == .created("Default"))
///     #expect(stage.drop("viewCat", key: "cat1") == .activated("#1"))
///
/// A drop is decided and applied. Windows have the names that a case gave them; windows that a drop made are `#1`, `#2` and so on. The clock stands
/// at second 1000 and advances by one with each drop.
struct Stage {
  var state = State(types: Stage.types, isComplete: true)
  var now = moment(1000)
  private(set) var sessions: [String: Session] = [:]
  /// The decision of the last drop.
  private(set) var decision: Decision?
  private let defaultApplication: Text
  private var names: [UniqueIdentifier: String] = [:]
  private var made: UInt64 = 0

  static let types = TypeCatalog()

  init(_ applications: Manifest...) { self.init(applications) }

  init(_ applications: [Manifest]) {
    defaultApplication = applications.first?.identifier ?? .empty
    for application in applications { state.register(application) }
  }

  /// Makes a stage from manifests as their authors write them.
  init(manifests: String...) throws {
    self.init(try manifests.map { try Manifest(Array($0.utf8), types: Stage.types) })
  }
}

// MARK: - Existing windows

extension Stage {
  /// Adds a window that was connected before. Times are in seconds.
  mutating func session(
    _ name: String, _ configuration: Text = "Default", of application: Text? = nil, showing: UserActivity? = nil,
    can: Text = .empty, prefers: Text = .empty, state: SceneState = .background, created: Int64 = 0,
    activated: Int64 = 0, number: UInt64? = nil, _ change: (inout Session) -> Void = { _ in }
  ) {
    let identifier = UniqueIdentifier(high: 1, low: number ?? UInt64(names.count))
    var session = Session(
      identifier: identifier, application: application ?? defaultApplication, configuration: configuration,
      state: state, isConnected: true, hasBeenConnected: true, created: moment(created),
      lastActivated: moment(activated), userActivity: showing, canActivatePredicate: can,
      prefersToActivatePredicate: prefers)
    change(&session)
    precondition(names[identifier] == nil, "two windows have one identifier")
    names[identifier] = name
    put(session, name)
  }

  /// The same window in another role.
  mutating func session(_ name: String, _ configuration: Text, role: Text, of application: Text? = nil) {
    let identifier = UniqueIdentifier(high: 1, low: UInt64(names.count))
    names[identifier] = name
    put(
      Session(
        identifier: identifier, application: application ?? defaultApplication, role: role,
        configuration: configuration, isConnected: true, hasBeenConnected: true, created: moment(0)), name)
  }

  /// Changes a session, as its host or its user would.
  mutating func change(_ name: String, _ change: (inout Session) -> Void) {
    guard var session = sessions[name] else { preconditionFailure("no window is called \(name)") }
    change(&session)
    put(session, name)
  }

  mutating func discard(_ name: String) {
    guard let session = sessions.removeValue(forKey: name) else { preconditionFailure("no window is called \(name)") }
    state.discard(session.identifier)
  }

  private mutating func put(_ session: Session, _ name: String) {
    sessions[name] = session
    state.update(session)
  }

  func identifier(_ name: String) -> UniqueIdentifier {
    guard let session = sessions[name] else { preconditionFailure("no window is called \(name)") }
    return session.identifier
  }
}

// MARK: - Applying facts

extension Stage {
  /// Decides a request, and applies the decision.
  mutating func play(_ request: (UniqueIdentifier) -> Request) -> Happening {
    made += 1
    let decision = decided(state, request(UniqueIdentifier(high: 2, low: made)), at: now)
    self.decision = decision
    if let fact = decision.fact { makeTrue(fact) }
    now = Instant(microseconds: now.microseconds + 1_000_000)
    return happening(decision)
  }

  private mutating func makeTrue(_ fact: Fact) {
    state.apply(fact)
    note(fact)
  }

  /// Applies a fact as a store would.
  mutating func note(_ fact: Fact) {
    switch fact {
    case .sessionMade(let session):
      let name = "#\(names.values.count { $0.hasPrefix("#") } + 1)"
      names[session.identifier] = name
      sessions[name] = session
    case .sessionActivated(let identifier, at: let now, showing: let shown):
      guard let name = names[identifier] else { preconditionFailure("a window that nobody put up") }
      sessions[name]?.lastActivated = now
      switch shown {
      case .activity(let activity): sessions[name]?.userActivity = activity
      case .content(let key): sessions[name]?.openedContent = key
      case nil: break
      }
    }
  }

  /// The result of a decision, in the words of a case.
  func happening(_ decision: Decision) -> Happening {
    switch decision.outcome {
    case .created(let identifier): .created(sessions[name(of: identifier)]?.configuration.string ?? "")
    case .activated(let identifier): .activated(name(of: identifier))
    case .restored(let identifier): .restored(name(of: identifier))
    case .refused(let refusal): .refused(refusal.reason)
    }
  }

  func name(of identifier: UniqueIdentifier) -> String { names[identifier] ?? "\(identifier)" }
}

/// The result of a drop: a window of a configuration, or an existing window.
enum Happening: Hashable {
  case created(String)
  case activated(String)
  case restored(String)
  case refused(Refusal.Reason)
}

/// Seconds since the epoch.
func moment(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

/// The decision of a state that knows all of its sessions.
func decided(_ state: State, _ request: Request, at now: Instant) -> Decision {
  switch decide(state, request, at: now) {
  case .decided(let decision): return decision
  case .needs(let need): preconditionFailure("a state that knows everything needs \(need)")
  }
}
