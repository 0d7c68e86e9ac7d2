import SceneModel

extension Decider {
  // MARK: 3. The application

  /// The first rule that finds an application decides. An application that somebody chose: the named one; the requesting session's; the preferred one.
  /// Then the only one; of several, those that are no understudies, that list the nearest type, and that have the highest rank. Of those that are left,
  /// the only one with a session that prefers the key; the one that was used last; the first by identifier.
  mutating func chooseApplication(for subject: Subject, _ state: State) throws(Stop) -> Int {
    let (chosen, because) = try application(for: subject, state)
    try refuseTooManySteps()
    explanation.application = state.applications[chosen].identifier
    explanation.applicationReason = because
    return chosen
  }

  /// The application that somebody chose, if it takes the type.
  func chosen(for subject: Subject, _ state: State) -> (Int, ApplicationReason)? {
    if options.application != nil { return subject.applications.first.map { ($0, .named) } }
    if let requesting {
      let application = Int(state.entries[Int(requesting)].application)
      if subject.applications.contains(application) { return (application, .ofRequestingSession) }
    }
    guard let preferred = state.preferredApplication(for: subject.type) else { return nil }
    return subject.applications.first { state.applications[$0].identifier == preferred }.map { ($0, .preferred) }
  }

  private mutating func application(
    for subject: Subject, _ state: State
  ) throws(Stop) -> (Int, ApplicationReason) {
    if let chosen = chosen(for: subject, state) { return chosen }
    if subject.applications.count == 1 { return (subject.applications[0], .onlyOne) }
    let (among, because) = state.foremost(of: subject)
    if among.count == 1 { return (among[0], because) }

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
  /// The applications that are left when understudies have yielded, and then those that list a type farther away, and then those of a lower rank; and
  /// what left one alone.
  func foremost(of subject: Subject) -> ([Int], ApplicationReason) {
    var (among, because) = (subject.takings.filter { $0.rank != .none }, ApplicationReason.highestRank)
    if subject.takings.isEmpty { among = subject.applications.map { Taking(application: $0) } }
    func narrow(to isKept: (Taking) -> Bool) -> Bool {
      let kept = among.filter(isKept)
      if kept.isEmpty || kept.count == among.count { return false }
      among = kept
      return true
    }
    if narrow(to: { !isUnderstudied($0.application) }) { because = .noUnderstudy }
    if let nearest = among.map(\.distance).min(), narrow(to: { $0.distance == nearest }) {
      because = nearest.isZero ? .listsType : .listsNearestType
    }
    if let highest = among.map(\.rank).max(), narrow(to: { $0.rank == highest }) { because = .highestRank }
    return (among.map(\.application), because)
  }

  func isUnderstudied(_ application: Int) -> Bool { applications[application].manifest?.understudy != nil }

  /// The time when the application was used last; `nil` if it has no session.
  func lastActivated(_ application: Int) -> Instant? {
    applications[application].index.ofConfiguration.compactMap { $0.latest?.lastActivated }.max()
  }
}
