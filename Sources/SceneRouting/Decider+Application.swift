import SceneModel

extension Decider {
  // MARK: 3. The application

  /// The first rule that finds an application decides: the named application; the requesting session's; the preferred one; the only one; the only one
  /// with a session that prefers the key; the one that was used last; the first by identifier.
  mutating func chooseApplication(for subject: Subject, _ state: State) throws(Stop) -> Int {
    let among = subject.applications
    let (chosen, because) = try application(among, for: subject, state)
    try refuseTooManySteps()
    explanation.application = state.applications[chosen].identifier
    explanation.applicationReason = because
    return chosen
  }

  private mutating func application(
    _ among: [Int], for subject: Subject, _ state: State
  ) throws(Stop) -> (Int, ApplicationReason) {
    if options.application != nil { return (among[0], .named) }
    if let requesting {
      let application = Int(state.entries[Int(requesting)].application)
      if among.contains(application) { return (application, .ofRequestingSession) }
    }
    if let preferred = state.preferredApplication(for: subject.type),
      let application = among.first(where: { state.applications[$0].identifier == preferred })
    {
      return (application, .preferred)
    }
    if among.count == 1 { return (among[0], .onlyOne) }

    // Before any condition is evaluated, because every need begins the decision anew.
    for application in among {
      if let scope = scope(application, subject, state) { try requireConcerned(scope, state) }
      try refuseTooManySteps()
    }
    var preferring: [Int] = []
    for application in among {
      guard let scope = scope(application, subject, state) else { continue }
      if try best(in: scope, state)?.tier == .prefers { preferring.append(application) }
      try refuseTooManySteps()
    }
    if preferring.count == 1 { return (preferring[0], .hasPreferringSession) }
    let rest = preferring.isEmpty ? among : preferring
    for application in rest { try requireAll(of: application, state) }
    steps -= rest.reduce(0) { $0 + Steps.lookup * (1 + state.applications[$1].index.ofConfiguration.count) }
    try refuseTooManySteps()
    let used = rest.compactMap { application in state.lastActivated(application).map { (application, $0) } }
    guard let latest = used.map(\.1).max() else { return (rest[0], .firstByIdentifier) }
    let last = used.filter { $0.1 == latest }
    return (last[0].0, last.count == 1 ? .activatedLast : .firstByIdentifier)
  }

  /// The scope in which the application would take the key; `nil` if there is no key, or no configuration for it.
  private mutating func scope(_ application: Int, _ subject: Subject, _ state: State) -> Scope? {
    guard !key.isEmpty, let route = try? route(of: application, for: subject, state) else { return nil }
    return Scope(application, route, state)
  }
}

extension State {
  /// The time when the application was used last; `nil` if it has no session.
  func lastActivated(_ application: Int) -> Instant? {
    applications[application].index.ofConfiguration.compactMap { $0.latest?.lastActivated }.max()
  }
}
