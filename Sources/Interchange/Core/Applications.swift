import SceneModel
import SceneRouting

// What an application's object is asked, and how applications come and go.
extension PromptBook {
  func requireManifest(of application: Text) throws(Halt) {
    if memory.routing.manifest(of: application) != nil { return }
    throw refused(
      .noSuchApplication,
      "there is no application \(quoted(application.string)): install a manifest of that name, or register it")
  }

  mutating func makeSession(
    _ application: Text, _ configuration: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    guard let manifest = memory.routing.manifest(of: application) else {
      throw refused(.unknownObject, "there is no application \(quoted(application.string))")
    }
    try refuseForeign(application, caller, "ask for new sessions of its own")
    var payload = Payload()
    payload.options.application = application
    payload.options.disposition = .new
    if !configuration.isEmpty {
      payload.options.configuration = configuration
      // A name says which role it is of.
      let named = manifest.configurations.filter { $0.name == configuration }
      if !named.contains(where: { $0.role == PayloadOptions.defaultRole }) { payload.options.role = named.first?.role }
    }
    try deliver(payload, .empty, caller, number)
  }

  /// Tells everyone who watches the application that something its scenes share has changed.
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
    if let application {
      try requireManifest(of: application)
      let manifest = memory.routing.manifest(of: application)
      let content = ContentType(type, as: .asked)
      let isTaken = content.map { type in manifest?.contentTypes.contains { types.conforms(type, to: $0) } ?? false }
      guard manifest?.activityTypes.contains(type) ?? false || isTaken ?? false else {
        throw refused(
          .routing("org.stagedoor.Error.ActivityTypeNotDeclared"),
          "\(application) does not declare \(quoted(type.string)): add it to NSUserActivityTypes in its manifest")
      }
      if memory.preferences[type] == nil, memory.preferences.count >= ledger.allowance.preferences {
        throw refused(
          .limitsExceeded,
          "applications are preferred for \(ledger.allowance.preferences) types already: clear one with the identifier \"\""
        )
      }
    }
    note(.preference(type: type, application: application))
    answer(number, .done)
  }

  // MARK: Registered manifests

  mutating func register(_ read: Manifest, _ size: Int, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    try refuseSandbox(caller, "register an application")
    let application = read.identifier
    let before = memory.manifests[application]
    if let before, !before.file.isEmpty {
      throw refused(.requestDenied, "\(application) is installed: \(before.file)")
    }
    let holding: Holding
    do throws(InterchangeError) {
      holding = try ledger.charge(
        max(size, 4096), of: .manifests, to: caller.principal, replacing: before?.holding)
    } catch {
      throw .refused(error)
    }
    var manifest = read
    // A command line is taken from what is installed only.
    manifest.exec = nil
    try setManifest(manifest, ManifestSource(file: .empty, holding: holding))
    answer(number, .application(application))
  }

  mutating func unregister(_ application: Text, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    try refuseSandbox(caller, "unregister an application")
    try requireManifest(of: application)
    if let source = memory.manifests[application], !source.file.isEmpty {
      throw refused(.requestDenied, "\(application) is installed: \(source.file)")
    }
    removeManifest(of: application)
    answer(number, .done)
  }

  // MARK: Manifests

  /// What is installed now, in place of what was. The applications in `broken` stay what they were.
  mutating func install(_ installed: [Text: InstalledManifest], keeping broken: Set<Text>) throws(Halt) {
    for (_, found) in installed.sorted(by: { $0.key < $1.key }) {
      try setManifest(found.manifest, ManifestSource(file: found.file, holding: nil))
    }
    let gone = memory.manifests.values.filter { !$0.value.file.isEmpty && installed[$0.key] == nil }
    for application in gone.keys.sorted() where !broken.contains(application) { removeManifest(of: application) }
  }

  /// An application is there, or says something else of itself. Sessions of configurations that it no longer has are discarded.
  mutating func setManifest(_ manifest: Manifest, _ source: ManifestSource) throws(Halt) {
    let application = manifest.identifier
    let before = memory.routing.manifest(of: application)
    if before == manifest, memory.manifests[application]?.file == source.file {
      memory.manifests[application] = source
      return
    }
    changeManifest(manifest, of: application)
    memory.manifests[application] = source
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
      memory.orphaned[application] = true
      try discardOrphans(of: application)
    }
    // It may say how to start it.
    if case .impossible? = memory.starts[application] {
      memory.starts[application] = nil
      if memory.deliveriesToApplication.count(of: application) > 0 { start(application) }
    }
  }

  /// Whether some configuration is there no more. Of an application that was not there, that is seen as its sessions are read.
  private func loses(_ before: Manifest?, _ manifest: Manifest) -> Bool {
    guard let before else { return false }
    return !before.configurations.allSatisfy { old in
      manifest.configurations.contains { $0.role == old.role && $0.name == old.name }
    }
  }

  mutating func discardOrphans() throws(Halt) {
    for application in memory.orphaned.values.keys.sorted() { try discardOrphans(of: application) }
  }

  /// Some hundred at a time: whoever calls meanwhile has a turn before the others.
  private mutating func discardOrphans(of application: Text) throws(Halt) {
    guard let manifest = memory.routing.manifest(of: application) else {
      memory.orphaned[application] = nil
      return
    }
    guard let page = known.orphans[application] else { throw .lacks(.orphans(manifest)) }
    for session in page.sessions { try discard(session, animation: "standard") }
    if page.isLast { memory.orphaned[application] = nil }
  }

  package static let orphansAtOnce = 256

  /// Its sessions stay, out of routing, until it returns.
  private mutating func removeManifest(of application: Text) {
    changeManifest(nil, of: application)
    memory.manifests[application] = nil
    say(.applicationWent(application))
  }

  /// Sessions whose configuration the manifest had lost were kept out of routing until they are discarded. The next manifest may have that
  /// configuration again.
  private mutating func changeManifest(_ manifest: Manifest?, of application: Text) {
    if memory.orphaned[application] != nil { memory.routing.forgetAbsent(of: application) }
    memory.setManifest(manifest, of: application)
  }
}
