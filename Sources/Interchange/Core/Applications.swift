import SceneModel
import SceneRouting

// The calls to an application's object, and the coming and going of applications.
extension PromptBook {
  func requireManifest(of application: Text) throws(Halt) {
    if memory.routing.manifest(of: application) == nil { throw .refused(.noApplication(application)) }
  }

  mutating func makeSession(
    _ application: Text, _ configuration: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    guard let manifest = memory.routing.manifest(of: application) else {
      throw refused(.unknownObject, "there is no application \(quoted(application.string))")
    }
    try refuseForeign(application, caller, "ask for new sessions of its own")
    try deliver(newSession(of: configuration, manifest), .empty, caller, number)
  }

  /// A payload that asks for a new session and has nothing in it.
  private func newSession(of configuration: Text, _ manifest: Manifest) -> Payload {
    var payload = Payload()
    payload.options.application = manifest.identifier
    payload.options.disposition = .new
    if !configuration.isEmpty {
      payload.options.configuration = configuration
      // The name of a configuration determines its role.
      let named = manifest.configurations.filter { $0.name == configuration }
      if !named.contains(where: { $0.role == PayloadOptions.defaultRole }) { payload.options.role = named.first?.role }
    }
    return payload
  }

  // MARK: Windows that were open before

  /// The window becomes the session that shows the same content and has no scene, or else a new session.
  mutating func adopt(
    _ application: Text, _ configuration: Text, _ activity: UserActivity?, _ title: Text, _ caller: Caller,
    _ number: CallNumber
  ) throws(Halt) {
    guard let manifest = memory.routing.manifest(of: application) else {
      throw refused(.unknownObject, "there is no application \(quoted(application.string))")
    }
    // Without a host nobody shows the window.
    guard isHost(caller, of: application) else {
      throw refused(.accessDenied, "only the attached host of \(application) may do that")
    }
    if title.count > Limits.text {
      throw refused(.limitsExceeded, "title: expected at most \(Limits.text) bytes, got \(title.count)")
    }
    if let activity, caller.isSandboxed, !manifest.activityTypes.contains(activity.activityType) {
      throw refused(
        .routing("org.stagedoor.Error.ActivityTypeNotDeclared"),
        "\(application) does not declare \(quoted(activity.activityType.string)), and a sandbox sends only what is declared: add it to "
          + "NSUserActivityTypes in the application's manifest")
    }
    let session = try sessionWithoutScene(of: application, showing: activity?.key)
    let adopted =
      if let session { try reopen(session, activity, title) } else {
        try makeAdopted(newSession(of: configuration, manifest), activity, title, caller)
      }
    log("\(application): \(adopted.isPrivate ? "a session" : "\(adopted.identifier)"): adopted")
    answer(number, .adopted(adopted.identifier))
  }

  private func sessionWithoutScene(of application: Text, showing key: Text?) throws(Halt) -> Session? {
    guard let key else { return nil }
    let need = Need.sessions(of: application, concernedWith: key)
    if !memory.routing.knows(need) { throw .lacks(.routing([need])) }
    return try memory.routing.sessionWithoutScene(of: application, showing: key).flatMap { found throws(Halt) in
      try session(found)
    }
  }

  /// A private session stays private: it shows what the private delivery brought.
  private mutating func reopen(_ session: Session, _ activity: UserActivity?, _ title: Text) throws(Halt) -> Session {
    var shown = session
    (shown.userActivity, shown.openedContent, shown.shownBy) = (activity, .empty, nil)
    if !title.isEmpty { shown.title = title }
    try noteContent(.session(shown), of: session.application)
    announceShown(session, shown)
    connect(shown)
    return shown
  }

  private mutating func makeAdopted(
    _ payload: Payload, _ activity: UserActivity?, _ title: Text, _ caller: Caller
  ) throws(Halt) -> Session {
    var steps = Limits.conditionSteps
    let decision = try decide(payload, caller, within: &steps)
    if case .refused(let refusal) = decision.outcome { throw .refused(InterchangeError(refusal)) }
    guard case .sessionMade(var session)? = decision.fact else {
      preconditionFailure("the disposition \"new\" makes a session")
    }
    (session.userActivity, session.title) = (activity, title)
    _ = try show(.sessionMade(session), by: nil, false)
    connect(session)
    return session
  }

  /// Tells everyone who watches the application that data which its scenes share has changed.
  mutating func post(
    _ application: Text, _ name: Text, _ userInfo: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    try requireManifest(of: application)
    try refuseOthersThanHost(of: application, caller)
    if name.isEmpty || name.count > Limits.name {
      throw refused(.invalidArgs, "name: expected 1 to \(Limits.name) bytes, got \(name.count)")
    }
    say(.notification(application: application, name: name, userInfo: userInfo))
    answer(number, .done)
  }

  // MARK: Preferences

  mutating func prefer(
    _ application: Text?, for type: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    try refuseSandbox(caller, "set a preferred application")
    if type.count > Limits.name {
      throw refused(.limitsExceeded, "activity_type: expected at most \(Limits.name) bytes, got \(type.count)")
    }
    let others = otherNames(of: type)
    if let application {
      try requireManifest(of: application)
      let manifest = memory.routing.manifest(of: application)
      let content = ContentType(type, as: .asked)
      let isTaken = content.map { type in manifest?.contentTypes.contains { types.conforms(type, to: $0) } ?? false }
      guard manifest?.activityTypes.contains(type) ?? false || isTaken ?? false else {
        let key = content.map { types.isDescribed($0) } ?? false ? "CFBundleDocumentTypes" : "NSUserActivityTypes"
        throw refused(
          .routing("org.stagedoor.Error.ActivityTypeNotDeclared"),
          "\(application) does not declare \(quoted(type.string)): add it to \(key) in its manifest")
      }
      if memory.preferences[type] == nil, others.isEmpty, memory.preferences.count >= ledger.allowance.preferences {
        throw refused(
          .limitsExceeded,
          "applications are preferred for \(ledger.allowance.preferences) types already: clear one with the identifier \"\""
        )
      }
    }
    for other in others { note(.preference(type: other, application: nil)) }
    note(.preference(type: type, application: application))
    answer(number, .done)
  }

  // MARK: Registered manifests

  mutating func register(_ read: Manifest, _ size: Int, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    try refuseSandbox(caller, "register an application")
    let application = read.identifier
    let before = memory.manifests[application]
    if let before, !before.file.isEmpty {
      throw refused(.requestDenied, "\(application) is installed: change or remove \(before.file)")
    }
    let holding = try ledger.charge(
      max(size, 4096), of: .manifests, to: caller.principal, replacing: before?.holding)
    var manifest = read
    // Only an installed manifest may have a command line.
    manifest.exec = nil
    try setManifest(manifest, ManifestSource(file: .empty, holding: holding, registrar: caller.connection))
    answer(number, .application(application))
  }

  mutating func unregister(_ application: Text, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    try refuseSandbox(caller, "unregister an application")
    try requireManifest(of: application)
    if let source = memory.manifests[application], !source.file.isEmpty {
      throw refused(.requestDenied, "\(application) is installed: remove \(source.file)")
    }
    removeManifest(of: application)
    answer(number, .done)
  }

  // MARK: Manifests

  /// Replaces the installed manifests. The applications in `broken` keep their previous manifests.
  mutating func install(_ installed: [Text: InstalledManifest], keeping broken: Set<Text>) throws(Halt) {
    for (_, found) in installed.sorted(by: { $0.key < $1.key }) {
      try replaceManifest(found.manifest, ManifestSource(file: found.file, holding: nil))
    }
    try discardOrMoveOrphans()
    let gone = memory.manifests.values.filter { !$0.value.file.isEmpty && installed[$0.key] == nil }
    for application in gone.keys.sorted() where !broken.contains(application) { removeManifest(of: application) }
  }

  /// An application has a manifest now, or a new one. Sessions of configurations that the manifest no longer has are discarded.
  mutating func setManifest(_ manifest: Manifest, _ source: ManifestSource) throws(Halt) {
    try replaceManifest(manifest, source)
    if memory.orphaned[manifest.identifier] != nil { try discardOrMoveOrphans(of: manifest.identifier) }
  }

  private mutating func replaceManifest(_ manifest: Manifest, _ source: ManifestSource) throws(Halt) {
    let application = manifest.identifier
    let before = memory.routing.manifest(of: application)
    if before == manifest, memory.manifests[application]?.file == source.file {
      memory.manifests[application] = source
      return
    }
    let isReplaced = before?.understudy != nil && memory.manifests[application]?.file.isEmpty ?? false
    changeManifest(manifest, of: application)
    memory.manifests[application] = source
    if manifest.understudy == nil, memory.hosts[application]?.options.isUnderstudy ?? false {
      // Nobody stands in for an application that declares itself.
      try detach(application)
    }
    if before == nil {
      say(.applicationAppeared(application))
    } else {
      say(.applicationChanged(application, ApplicationProperty.ofManifest))
    }
    for configuration in manifest.configurations {
      for warning in configuration.conditions.warnings {
        log(.warning, "\(application): \(configuration.name): \(warning)")
      }
    }
    if loses(before, manifest) {
      memory.orphaned[application] = isReplaced && !source.file.isEmpty ? .moved : .discarded
    }
    // The new manifest may have a command that starts it.
    if case .impossible? = memory.starts[application] {
      memory.starts[application] = nil
      if memory.deliveriesToApplication.count(of: application) > 0 { try start(application) }
    }
  }

  /// Whether the manifest has lost a configuration. If the application had no manifest before, its sessions in memory show this; those on the disk show
  /// it when they are read.
  private func loses(_ before: Manifest?, _ manifest: Manifest) -> Bool {
    guard let before else { return memory.routing.holdsOrphans(of: manifest.identifier) }
    return !before.configurations.allSatisfy { manifest.has($0.name, in: $0.role) }
  }

  /// Discards or moves some hundred sessions of one application at a time: other callers get a turn before the next.
  mutating func discardOrMoveOrphans() throws(Halt) {
    if let application = memory.orphaned.values.keys.min() { try discardOrMoveOrphans(of: application) }
  }

  private mutating func discardOrMoveOrphans(of application: Text) throws(Halt) {
    guard let manifest = memory.routing.manifest(of: application) else {
      memory.orphaned[application] = nil
      return
    }
    guard let page = known.orphans[application] else { throw .lacks(.orphans(manifest)) }
    for found in page.sessions {
      // This cue may have disconnected it since it was read.
      guard let session = try session(found.identifier) else { continue }
      try discardOrMove(session)
      // The deliveries to the session may have failed too.
      if step.records.count > PromptBook.recordsOfOrphans { return }
    }
    if page.isLast { memory.orphaned[application] = nil }
  }

  /// Discards a session whose configuration the manifest has lost; or gives it another, because the sessions of an understudy are the application's.
  mutating func discardOrMove(_ session: Session) throws(Halt) {
    guard memory.orphaned[session.application] == .moved,
      let configuration = memory.routing.configuration(for: session)
    else {
      return try discard(session, animation: "standard")
    }
    let session = session.configured(as: configuration)
    note(.session(session))
    announce([.configuration], of: session)
  }

  /// The application's sessions stay, but take no part in routing until it returns.
  private mutating func removeManifest(of application: Text) {
    changeManifest(nil, of: application)
    memory.manifests[application] = nil
    if memory.deliveriesToApplication.count(of: application) == 0 { forgetStart(of: application) }
    say(.applicationWent(application))
  }

  /// Sessions whose configuration the manifest had lost were kept out of routing, and are to be discarded. The new manifest may have that
  /// configuration again.
  private mutating func changeManifest(_ manifest: Manifest?, of application: Text) {
    if memory.orphaned[application] != nil { memory.routing.forgetAbsent(of: application) }
    memory.setManifest(manifest, of: application)
  }
}
