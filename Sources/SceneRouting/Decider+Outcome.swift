import SceneModel

extension Decider {
  // MARK: 10. Where there is none, a session is made

  func make(_ scope: Scope, _ reason: SessionReason, _ state: State) throws(Refusal) -> Verdict {
    let application = state.applications[scope.application].identifier
    let configuration = configuration(scope, state)
    if options.disposition == .existingOnly {
      throw Refusal(
        .noMatchingSession,
        "\(noSession(scope, reason, state)), and with the disposition \"existingOnly\" none is made")
    }
    let count = state.applications[scope.application].index.ofConfiguration[scope.route.configuration].count
    if let maximum = configuration.maximumSessions, count >= maximum {
      throw Refusal(
        .requestDenied,
        "StagedoorMaximumSessions of the configuration \(quoted(configuration.name.string)) of \(application) is \(maximum), "
          + "and it has \(count)")
    }
    let session = Session(
      identifier: request.newSession, application: application, role: configuration.role,
      configuration: configuration.name, created: now, userActivity: activity(scope.place),
      openedContent: scope.place == nil ? scope.key : .empty, isPrivate: options.isPrivate)
    return Verdict(
      outcome: .created(session.identifier), facts: [.sessionMade(session)],
      effects: [
        .announceSession(session.identifier),
        .announceRouting(routing(application, configuration.name, session.userActivity)),
        .handOver(to: session.identifier),
      ], session: nil, reason: reason)
  }

  private func noSession(_ scope: Scope, _ reason: SessionReason, _ state: State) -> String {
    let application = state.applications[scope.application].identifier
    let name = quoted(configuration(scope, state).name.string)
    return switch reason {
    case .policyNew: "the configuration \(name) of \(application) takes each thing in a new session"
    case .policySingleNoneYet, .withoutKeyNew: "there is no session of the configuration \(name) of \(application)"
    case .noCandidate where !scope.key.isEmpty: "no session of \(application) takes \(quoted(scope.key.string))"
    case _ where options.configuration != nil: "there is no session of the configuration \(name) of \(application)"
    default: "\(application) has no session yet"
    }
  }

  /// A session that is there gets it.
  func take(
    _ slot: Int32, _ reason: SessionReason, _ place: RoutingActivity?, key: Text = .empty, _ state: State
  ) -> Verdict {
    let identifier = state.entries[Int(slot)].identifier
    let activity = activity(place)
    let application = Int(state.entries[Int(slot)].application)
    let kind = state.applications[application].kind(state.entries[Int(slot)].kind)
    let routing = routing(state.applications[application].identifier, kind.configuration, activity)
    let content: Shown? = key.isEmpty ? nil : .content(key)
    let isRestored =
      state.entries[Int(slot)].flags.isDisjoint(with: .isConnected)
      && state.entries[Int(slot)].flags.contains(.hasBeenConnected)
    return Verdict(
      outcome: isRestored ? .restored(identifier) : .activated(identifier),
      facts: [.sessionActivated(identifier, at: now, showing: activity.map(Shown.activity) ?? content)],
      effects: place == nil
        ? [.announceRouting(routing), .handOver(to: identifier)]
        : [.announceActivity(of: identifier), .announceRouting(routing), .handOver(to: identifier)],
      session: identifier, reason: reason)
  }

  private func routing(_ application: Text, _ configuration: Text, _ activity: UserActivity?) -> Routing {
    Routing(
      application: application, configuration: configuration, activityType: activity?.activityType ?? .empty,
      targetContentIdentifier: activity?.targetContentIdentifier ?? .empty)
  }

  func configuration(_ scope: Scope, _ state: State) -> SceneConfiguration {
    guard let manifest = state.applications[scope.application].manifest else {
      preconditionFailure("a route leads into a manifest")
    }
    return manifest.configurations[scope.route.configuration]
  }
}
