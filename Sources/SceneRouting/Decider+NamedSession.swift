import SceneModel

extension Decider {
  // MARK: 1. A session that is named is the one

  /// Neither predicates nor types count, unless the sender is the sandbox of another application: see `refuseUntaken`.
  mutating func namedSession(_ named: Text, _ state: State) throws(Stop) -> Verdict {
    guard let identifier = SessionReference.identifier(named) else {
      throw .refusal(
        .noSuchSession, "a session is named by its persistent identifier or its path, and not \(quoted(named.string))")
    }
    guard let slot = state.slot(of: identifier) else {
      try require(.session(identifier), state)
      throw .refusal(.noSuchSession, "there is no session \(quoted(named.string)), or it was discarded")
    }
    let number = Int(state.entries[Int(slot)].application)
    let application = state.applications[number]
    guard let manifest = application.manifest else {
      throw .refusal(.noSuchApplication, "\(application.identifier), whose session it is, has no manifest at present")
    }
    if manifest.forwards, request.sender.isStranger(to: manifest.identifier) {
      try refuseUnaccepted(by: number, manifest, state)
    }
    explanation.application = application.identifier
    explanation.applicationReason = .ofSession
    explanation.configuration = application.kind(state.entries[Int(slot)].kind).configuration
    explanation.configurationReason = .ofSession
    try findActivityForNamedSession(of: number, manifest, state)
    findKey()
    return .take(slot, .named)
  }

  private mutating func findActivityForNamedSession(
    of application: Int, _ manifest: Manifest, _ state: State
  ) throws(Stop) {
    let isStranger = request.sender.isStranger(to: manifest.identifier)
    var undeclared: UserActivity?
    for (place, item) in request.payload.items.enumerated() {
      for (number, activity) in item.activities.enumerated()
      where isVisible(activity.visibility, to: application, state) {
        if isStranger, !state.declares(activity.activityType, application) {
          undeclared = undeclared ?? activity
          continue
        }
        explanation.routingActivity = RoutingActivity(
          item: place, activity: number, activityType: activity.activityType)
        return
      }
    }
    if let undeclared {
      throw .refusal(
        .activityTypeNotDeclared,
        "\(manifest.identifier) does not declare \(quoted(undeclared.activityType.string)), and a sandbox sends only what is "
          + "declared: add it to NSUserActivityTypes in the application's manifest")
    }
    if isStranger { try refuseUntaken(by: application, manifest, state) }
  }

  /// The sandbox of another application must hand over something that the host may see and that its manifest declares: an activity type or, without
  /// an activity, a content type.
  private mutating func refuseUntaken(by application: Int, _ manifest: Manifest, _ state: State) throws(Stop) {
    var passed: Set<ContentType> = []
    var first: Representation?
    for item in request.payload.items {
      for representation in item.representations where isVisible(representation.visibility, to: application, state) {
        first = first ?? representation
        guard passed.insert(representation.type).inserted, passed.count <= Limits.routedTypes else { continue }
        if try takes(representation.type, application, state) { return }
      }
    }
    guard let first else { throw .opensForeignWindow }
    throw .refusal(
      .activityTypeNotDeclared,
      "\(manifest.identifier) does not take \(quoted(first.type.spelling.string)), and a sandbox sends only what is declared: "
        + "add it to CFBundleDocumentTypes in the application's manifest")
  }

  /// To another place a sandbox sends what the application declares, if the application's host takes things from sandboxes at all.
  private mutating func refuseUnaccepted(by application: Int, _ manifest: Manifest, _ state: State) throws(Stop) {
    let denied = Stop.refusal(
      .accessDenied,
      "a sandboxed application sends to \(manifest.identifier) only what it declares, and only while its host takes things from sandboxes"
    )
    guard request.sender.acceptedBy == manifest.identifier else { throw denied }
    for item in request.payload.items {
      for activity in item.activities where isVisible(activity.visibility, to: application, state) {
        if state.declares(activity.activityType, application) { return }
      }
      for representation in item.representations where isVisible(representation.visibility, to: application, state) {
        if try takes(representation.type, application, state) { return }
      }
    }
    throw denied
  }

  /// Whether the application takes a content type, from whoever names one of its sessions.
  mutating func takes(_ type: ContentType, _ application: Int, _ state: State) throws(Stop) -> Bool {
    guard let manifest = state.applications[application].manifest, manifest.forwards else {
      return try applications(taking: type, state).1.contains { $0.application == application }
    }
    steps -= Steps.conformance * manifest.contentTypes.count
    try refuseTooManySteps()
    return manifest.contentTypes.contains { state.types.conforms(type, to: $0) }
  }
}

extension Stop {
  /// A sandbox may hand things to other applications, but may not bring their windows to the front with nothing in hand.
  static var opensForeignWindow: Stop {
    .refusal(
      .accessDenied, "a sandboxed application may open windows of its own only, unless it hands something to them")
  }
}
