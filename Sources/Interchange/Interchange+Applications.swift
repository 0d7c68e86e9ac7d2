package import DBus
package import InterchangeWire
package import SceneModel
import SceneRouting
import SessionStore

// What an application's object is asked, and how applications come and go.
extension Interchange {
  func isApplication(_ path: ObjectPath) -> Bool {
    InterchangeNames.application(at: path).map { state.manifest(of: $0) != nil } ?? false
  }

  func applicationElements() -> [String] {
    manifestFiles.keys.sorted().map { String(InterchangeNames.path(ofApplication: $0).lastElement) }
  }

  package func manifest(_ access: PropertyAccess) throws -> (manifest: Manifest, file: Text, isAttached: Bool) {
    let found = try manifest(at: access.path)
    if let call = access.call {
      try Callers.refuseForeign(found.manifest.identifier, callers.caller(of: call), "read about itself")
    }
    return found
  }

  private func manifest(at path: ObjectPath) throws -> (manifest: Manifest, file: Text, isAttached: Bool) {
    guard let identifier = InterchangeNames.application(at: path), let manifest = state.manifest(of: identifier) else {
      throw InterchangeError(.unknownObject, "there is no application at \(path)")
    }
    return (manifest, manifestFiles[identifier] ?? .empty, hosts[identifier] != nil)
  }

  package func newSession(of configuration: Text, at path: ObjectPath, _ reply: DeliveryReply) throws {
    let (manifest, _, _) = try manifest(at: path)
    let caller = callers.caller(of: reply.call)
    try Callers.refuseForeign(manifest.identifier, caller, "ask for new sessions of its own")
    var payload = Payload()
    payload.options.application = manifest.identifier
    payload.options.disposition = .new
    if !configuration.isEmpty {
      payload.options.configuration = configuration
      // A name says which role it is of.
      let named = manifest.configurations.filter { $0.name == configuration }
      if !named.contains(where: { $0.role == PayloadOptions.defaultRole }) { payload.options.role = named.first?.role }
    }
    try deliver(payload, fingerprint: .empty, from: caller, reply)
  }

  /// Tells everyone who watches the application that something its scenes share has changed.
  package func postNotification(_ name: Text, _ userInfo: Text, _ call: Call) throws {
    let (manifest, _, _) = try manifest(at: call.path)
    try refuseOthersThanHost(of: manifest.identifier, call)
    if name.isEmpty || name.count > Limits.name {
      throw InterchangeError(.invalidArgs, "name: expected 1 to \(Limits.name) bytes, got \(name.count)")
    }
    _ = try self.userInfo(userInfo, as: "user_info")
    guard let notificationPosted else { return }
    try connection.emit(notificationPosted, from: call.path, name.string, userInfo.string)
  }

  // MARK: Manifests

  /// Whether there is such an application.
  package func knows(_ application: Text) -> Bool { state.manifest(of: application) != nil }

  /// An application is there, or says something else of itself.
  package func declare(_ manifest: Manifest) throws {
    endTurn()
    try collect(refuse: { [log] in log.error("\(manifest.identifier): \($0.message)") }) { share in
      try replaceManifest(manifest, file: .empty, &share)
    }
  }

  /// An application is there, or says something else of itself. Sessions of configurations that it no longer has are discarded.
  ///
  /// Everything that came before has been stored by then.
  func replaceManifest(_ manifest: Manifest, file: Text, _ share: inout Turn.Share) throws {
    let identifier = manifest.identifier
    let before = (
      manifest: state.manifest(of: identifier), file: manifestFiles[identifier], size: registeredSizes[identifier]
    )
    if before.manifest == manifest, before.file == file { return }
    state.register(manifest)
    manifestFiles[identifier] = file
    // What is installed has taken its place.
    if !file.isEmpty { registeredSizes[identifier] = nil }
    // It may say how to start it.
    share.onceTold { me in
      guard case .impossible? = me.starts[identifier] else { return }
      me.starts[identifier] = nil
      if !((try? me.store.openDeliveries(of: identifier)) ?? []).isEmpty { me.start(identifier) }
    }
    share.onRefusal { me in
      if let manifest = before.manifest { me.state.register(manifest) } else { me.state.unregister(identifier) }
      me.manifestFiles[identifier] = before.file
      me.registeredSizes[identifier] = before.size
    }
    share.onceStored { me in me.announce(manifest, isNew: before.manifest == nil) }
    // Where nobody has asked about the application since the service began, they are looked at when somebody does.
    if before.manifest != nil || loaded.contains(identifier) || partly[identifier] != nil {
      try discardOrphans(of: manifest, &share)
    }
  }

  private func announce(_ manifest: Manifest, isNew: Bool) {
    let path = InterchangeNames.path(ofApplication: manifest.identifier)
    if isNew {
      connection.objectAdded(at: path)
    } else {
      for property: MemberName in ["Name", "ActivityTypes", "SupportsMultipleScenes", "Configurations", "ManifestPath"]
      {
        connection.propertyChanged(property, of: InterchangeNames.application, at: path)
      }
    }
    for configuration in manifest.configurations {
      for warning in configuration.conditions.warnings {
        log.warning("\(manifest.identifier): \(configuration.name): \(warning)")
      }
    }
  }

  private func discardOrphans(of manifest: Manifest, _ share: inout Turn.Share) throws {
    var orphans: [Session] = []
    try stored { () throws(StoreError) in
      try store.forEachSession(of: manifest.identifier) { if !manifest.has(configurationOf: $0) { orphans.append($0) } }
    }
    let now = settings.now()
    for session in orphans { try discard(session, animation: "standard", &share, now) }
  }

  /// Its sessions stay, out of routing, until it returns.
  package func removeManifest(of identifier: Text) {
    guard state.manifest(of: identifier) != nil else { return }
    endTurn()
    state.unregister(identifier)
    manifestFiles[identifier] = nil
    registeredSizes[identifier] = nil
    connection.objectRemoved(
      at: InterchangeNames.path(ofApplication: identifier), [InterchangeNames.application])
  }
}

extension Interchange {
  /// What is installed now, in place of what was. The identifiers in `broken` stay what they were.
  package func takeOver(_ installed: [Text: (manifest: Manifest, file: Text)], keeping broken: Set<Text>) {
    for (_, found) in installed.sorted(by: { $0.key < $1.key }) {
      // Each by itself: where one cannot be stored, the others can be taken over.
      endTurn()
      do {
        try collect(refuse: { [log] in log.error("\(found.file): \($0.message)") }) { share in
          try replaceManifest(found.manifest, file: found.file, &share)
        }
      } catch {
        log.error("\(found.file): \(error)")
      }
      endTurn()
    }
    let gone = manifestFiles.filter { !$0.value.isEmpty && installed[$0.key] == nil && !broken.contains($0.key) }
    for identifier in gone.keys.sorted() { removeManifest(of: identifier) }
  }
}

extension Manifest {
  func has(configurationOf session: Session) -> Bool {
    configurations.contains { $0.role == session.role && $0.name == session.configuration }
  }
}
