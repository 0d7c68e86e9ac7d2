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
}

// MARK: - Existing windows

extension Stage {
  /// Adds a window that was connected before. Times are in seconds.
  mutating func session(
    _ name: String, _ configuration: Text = "Default", of application: Text? = nil, showing: UserActivity? = nil,
    can: Text = .empty, prefers: Text = .empty, state: SceneState = .background, activated: Int64 = 0,
    _ change: (inout Session) -> Void = { _ in }
  ) {
    let identifier = UniqueIdentifier(high: 1, low: UInt64(names.count))
    var session = Session(
      identifier: identifier, application: application ?? defaultApplication, configuration: configuration,
      state: state, isConnected: true, hasBeenConnected: true, created: moment(0),
      lastActivated: moment(activated), userActivity: showing, canActivatePredicate: can,
      prefersToActivatePredicate: prefers)
    change(&session)
    names[identifier] = name
    sessions[name] = session
    self.state.update(session)
  }

  mutating func discard(_ name: String) {
    guard let session = sessions.removeValue(forKey: name) else { preconditionFailure("no window is called \(name)") }
    state.discard(session.identifier)
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
    if let fact = decision.fact {
      state.apply(fact)
      note(fact)
    }
    now = Instant(microseconds: now.microseconds + 1_000_000)
    return happening(decision)
  }

  /// Applies a fact as a store would.
  private mutating func note(_ fact: Fact) {
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

extension Stage {
  mutating func drop(
    _ type: Text, key: Text? = nil, _ disposition: PayloadOptions.Disposition = .auto, to application: Text? = nil,
    asking requesting: String? = nil, on session: String? = nil, by sender: Sender = Sender()
  ) -> Happening {
    drop(
      items: [item(activity(type, key))], disposition, to: application,
      asking: requesting, on: session, by: sender)
  }

  /// Drops any payload.
  ///
  /// - Parameters:
  ///   - application: The application that the payload names; likewise `session`.
  ///   - requesting: The window that the user acted in.
  mutating func drop(
    items: [Item], _ disposition: PayloadOptions.Disposition = .auto, to application: Text? = nil,
    asking requesting: String? = nil, on session: String? = nil, by sender: Sender = Sender()
  ) -> Happening {
    var options = PayloadOptions()
    options.disposition = disposition
    options.application = application
    options.requestingSession = requesting.map { Text("\(identifier($0))") }
    options.session = session.map { Text("\(identifier($0))") }
    return drop(Payload(items: items, options: options), by: sender)
  }

  mutating func drop(_ payload: Payload, by sender: Sender = Sender()) -> Happening {
    play { Request(payload, from: sender, newSession: $0) }
  }

  /// Drops a document in the form that its sender writes.
  mutating func drop(json: String, by sender: Sender = Sender()) throws -> Happening {
    drop(try Payload(json: Text(json), ReadingRules(types: Stage.types)), by: sender)
  }

  // MARK: Why

  private var explanation: Explanation? { decision?.explanation }

  /// Why the decision chose that session, or a new one.
  var because: SessionReason? { explanation?.sessionReason }
  var application: Text? { explanation?.application }
  var whyApplication: ApplicationReason? { explanation?.applicationReason }
  var chosen: (Text?, ApplicationReason?) { (application, whyApplication) }
  var key: Text? { explanation.flatMap { $0.keySource == nil ? nil : $0.key } }
  var whyKey: KeySource? { explanation?.keySource }
  var routing: RoutingActivity? { explanation?.routingActivity }

  var refusal: Refusal? { if case .refused(let refusal) = decision?.outcome { refusal } else { nil } }
  var message: String? { refusal?.message }
}

// MARK: - Things to drop

func activity(_ type: Text, _ key: Text? = nil, visibility: Visibility = .all) -> UserActivity {
  UserActivity(activityType: type, targetContentIdentifier: key, visibility: visibility)
}

func item(_ activities: UserActivity..., as representations: Representation...) -> Item {
  Item(activities: activities, representations: representations)
}

func text(_ type: Text, _ text: Text = "miaow", visibility: Visibility = .all) -> Representation {
  Representation(type: contentType(type), .text(text), visibility: visibility)
}

func file(_ url: Text, _ type: Text = "image/png", visibility: Visibility = .all) -> Representation {
  Representation(type: contentType(type), .file(url), visibility: visibility)
}

func contentType(_ text: Text) -> ContentType {
  guard let type = ContentType(text) else { preconditionFailure("\(text) is no type") }
  return type
}

/// An application that declares some activity types, with windows of several kinds. If none are listed it has one, "Default".
func app(
  _ identifier: Text, _ activityTypes: Text..., takes contentTypes: [Text] = [], hasOneScene: Bool = false,
  ranks: [Text: Manifest.HandlerRank] = [:], understudy: Manifest.Understudy? = nil, forwards: Bool = false,
  @Windows _ windows: () -> [SceneConfiguration] = { [window("Default")] }
) -> Manifest {
  Manifest(
    identifier: identifier, activityTypes: activityTypes, contentTypes: contentTypes.map(askedType),
    handlerRanks: Dictionary(uniqueKeysWithValues: ranks.map { (askedType($0), $1) }),
    supportsMultipleScenes: !hasOneScene, configurations: windows(), understudy: understudy,
    forwards: forwards)
}

/// A kind of window: a configuration, with the types that it names.
func window(
  _ name: Text, _ activityTypes: Text..., takes contentTypes: [Text] = [], role: Text = PayloadOptions.defaultRole,
  launch: SceneConfiguration.Launch = .automatic, can: Text? = nil, prefers: Text? = nil, atMost limit: Int? = nil
) -> SceneConfiguration {
  SceneConfiguration(
    name: name, role: role, activityTypes: activityTypes, contentTypes: contentTypes.map(askedType), launch: launch,
    conditions: ActivationConditions(can: can.map(predicate), prefers: prefers.map(predicate)), maximumSessions: limit)
}

@resultBuilder
enum Windows {
  static func buildBlock(_ windows: SceneConfiguration...) -> [SceneConfiguration] { windows }
  static func buildBlock(_ windows: [SceneConfiguration]) -> [SceneConfiguration] { windows }
}

func predicate(_ text: Text) -> Predicate {
  guard let predicate = try? Predicate(text) else { preconditionFailure("\(text) is no predicate") }
  return predicate
}

let externalDisplay: Text = "UIWindowSceneSessionRoleExternalDisplayNonInteractive"

/// A type in a manifest, which may be a wildcard.
func askedType(_ text: Text) -> ContentType {
  guard let type = ContentType(text, as: .asked) else { preconditionFailure("\(text) is no type") }
  return type
}
