import SceneModel

extension Decider {
  // MARK: 10. Where there is none, a session is made

  func make(_ scope: Scope, _ reason: SessionReason, _ state: State) throws(Stop) -> Verdict {
    let application = state.applications[scope.application].identifier
    let configuration = configuration(scope, state)
    if options.disposition == .existingOnly {
      throw .refusal(
        .noMatchingSession,
        "\(noSession(scope, reason, state)), and with the disposition \"existingOnly\" none is made")
    }
    guard let maximum = configuration.maximumSessions else { return .make(scope, reason) }
    try requireAll(of: scope.application, state)
    let count = state.applications[scope.application].index.ofConfiguration[scope.route.configuration].count
    if count < maximum { return .make(scope, reason) }
    throw .refusal(
      .requestDenied,
      "StagedoorMaximumSessions of the configuration \(quoted(configuration.name.string)) of \(application) is \(maximum), "
        + "and it has \(count)")
  }

  private func noSession(_ scope: Scope, _ reason: SessionReason, _ state: State) -> String {
    let application = state.applications[scope.application].identifier
    let name = quoted(configuration(scope, state).name.string)
    return switch reason {
    case .policyNew: "the configuration \(name) of \(application) takes each thing in a new session"
    case .policySingleNoneYet, .withoutKeyNew: "there is no session of the configuration \(name) of \(application)"
    case .noCandidate where !key.isEmpty: "no session of \(application) takes \(quoted(key.string))"
    case _ where options.configuration != nil: "there is no session of the configuration \(name) of \(application)"
    default: "\(application) has no session yet"
    }
  }

  // MARK: The outcome

  mutating func taking(_ slot: Int32, _ reason: SessionReason, _ state: State) throws(Stop) -> Decision {
    let identifier = state.entries[Int(slot)].identifier
    let number = Int(state.entries[Int(slot)].application)
    let passedOn = try passedOn(to: number, state)
    let kind = state.entries[Int(slot)].kind
    let flags = state.entries[Int(slot)].flags
    let isRestored = !flags.contains(.isConnected) && flags.contains(.hasBeenConnected)
    // The session of another place keeps what its host says of that place.
    let forwards = state.applications[number].manifest?.forwards ?? false
    explanation.session = identifier
    explanation.sessionReason = reason
    return Decision(
      isRestored ? .restored(identifier) : .activated(identifier),
      .sessionActivated(identifier, at: now, showing: forwards ? nil : shown),
      routing(state.applications[number].identifier, state.applications[number].kind(kind).configuration), explanation,
      passedOn: passedOn, steps: stepsTaken)
  }

  mutating func making(_ scope: Scope, _ reason: SessionReason, _ state: State) throws(Stop) -> Decision {
    let passedOn = try passedOn(to: scope.application, state)
    let application = state.applications[scope.application].identifier
    let configuration = configuration(scope, state)
    let activity = activity
    let session = Session(
      identifier: request.newSession, application: application, role: configuration.role,
      configuration: configuration.name, created: now, userActivity: activity,
      openedContent: activity == nil ? key : .empty, isPrivate: options.isPrivate && !forwards(scope, state))
    explanation.sessionReason = reason
    return Decision(
      .created(session.identifier), .sessionMade(session), routing(application, configuration.name), explanation,
      passedOn: passedOn, steps: stepsTaken)
  }

  func refusing(_ refusal: Refusal) -> Decision {
    Decision(.refused(refusal), nil, nil, explanation, steps: stepsTaken)
  }

  private var shown: Shown? {
    if let activity { return .activity(activity) }
    return key.isEmpty ? nil : .content(key)
  }

  private func routing(_ application: Text, _ configuration: Text) -> Routing {
    guard let place = explanation.routingActivity else {
      return Routing(
        application: application, configuration: configuration, activityType: .empty, targetContentIdentifier: key)
    }
    let identifier = request.payload.items[place.item].activities[place.activity].targetContentIdentifier
    return Routing(
      application: application, configuration: configuration, activityType: place.activityType,
      targetContentIdentifier: identifier ?? .empty)
  }

  private func forwards(_ scope: Scope, _ state: State) -> Bool {
    state.applications[scope.application].manifest?.forwards ?? false
  }

  func configuration(_ scope: Scope, _ state: State) -> SceneConfiguration {
    guard let manifest = state.applications[scope.application].manifest else {
      preconditionFailure("a route leads into a manifest")
    }
    return manifest.configurations[scope.route.configuration]
  }
}
