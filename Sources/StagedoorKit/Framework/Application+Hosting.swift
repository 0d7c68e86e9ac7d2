internal import DBus
internal import SceneModel

// The calls of the service to a host, one after the other.
extension Application {
  func answer(_ call: HostCall, _ hosting: Hosting) async {
    // A service that was replaced gets no answer, and its successor makes the call again.
    guard call.sender == hosting.owner else { return hosting.held.append(call) }
    do {
      // Calls during the stop are for the next host, like a delivery that a delegate has taken and that was not acknowledged yet.
      if !hosting.isStopping { try await call.carryOut(self) }
    } catch  where !hosting.isStopping && call.sender == hosting.owner {
      call.fail((error as? StagedoorError)?.reply ?? error)
    } catch {
      // The error is that the application stops, or that the service was replaced.
    }
    let isReplaced = call.sender != hosting.owner
    if hosting.isStopping || isReplaced { hosting.held.append(call) }
    // The successor attached meanwhile, and may not know of a scene that this call opened.
    if isReplaced, !hosting.isStopping { hosting.detach() }
  }

  func configuration(ofNew path: ObjectPath, _ json: String) async throws -> String {
    let read = try await read(try session(at: path))
    let (session, options) = try offered(read, json)
    return configuration(forConnecting: session, options: options)?.name ?? ""
  }

  func refreshScene(at path: ObjectPath) throws(StagedoorError) {
    let scene = try scene(at: path)
    scene.announcedActivation = nil
    scene.lookedAfter { $0.sceneNeedsRefresh(scene) }
  }

  func proposal(
    at path: ObjectPath, _ items: [[String: Variant]], allowed: [String]
  ) throws(StagedoorError) -> DropOperation {
    let scene = try scene(at: path)
    let items = items.map { DragItem(itemProvider: ItemProvider(proposed: $0)) }
    let allowed = Set(allowed.compactMap { DropOperation(rawValue: $0) })
    return scene.lookedAfter { $0.scene(scene, proposalFor: items, allowed: allowed) }
  }

  private func session(at path: ObjectPath) throws(StagedoorError) -> SessionIdentifier {
    if let identifier = SessionIdentifier(path.rawValue) { return identifier }
    throw StagedoorError(.noSuchSession, "\(path) is not a session path")
  }

  /// Reads a session that is about to get a delivery. The service first gets the changes of a scene that has ended here. Of a destroyed session, the
  /// delivery then fails with the session.
  private func read(_ identifier: SessionIdentifier) async throws(StagedoorError) -> SceneSession {
    if scenes[identifier] == nil { await written(of: identifier) }
    try refuseDestroyed(identifier)
    let hosting = try connected()
    hosting.activityWritesBefore = hosting.activityWrites
    return try await hosting.stagedoor.session(identifier)
  }

  /// What the service offers to a scene of a session, or to a new one.
  private func offered(_ session: SceneSession, _ json: String) throws(StagedoorError) -> (
    SceneSession, ConnectionOptions
  ) {
    var session = session
    var options = try ConnectionOptions(json: json, of: try connected().received)
    // The last process may have ended before it could say how to restore the scene. The activity of a delivery restores nothing.
    if scenes[session.identifier] == nil, session.stateRestorationActivity == nil, options.userActivities.isEmpty {
      session.stateRestorationActivity = session.userActivity
      options.stateRestorationActivity = session.userActivity
    }
    return (session, options)
  }

  private func refuseDestroyed(_ identifier: SessionIdentifier) throws(StagedoorError) {
    if destroyedSessions.contains(identifier) {
      throw StagedoorError(.noSuchSession, "the window of \(identifier) was closed for good")
    }
  }

  func scene(at path: ObjectPath) throws(StagedoorError) -> Scene {
    guard let identifier = SessionIdentifier(path.rawValue), let scene = scenes[identifier] else {
      throw StagedoorError(.noSuchSession, "\(identifier) has no scene of \(path)")
    }
    return scene
  }

  // MARK: Scenes

  /// This process knows best whether a scene exists: the service may have missed its beginning or its end.
  ///
  /// - Parameter configuration: The configuration of a scene that the service believes to be new.
  func deliver(
    _ json: String, to path: ObjectPath, as configuration: String?, _ reply: Reply<>
  ) async throws {
    let identifier = try session(at: path)
    var handed: (scene: Scene, options: ConnectionOptions)?
    var isNew = true
    while handed == nil {
      isNew = scenes[identifier] == nil
      let read = try await read(identifier)
      // Whenever an async function is entered or left, the application may do something else first: release the scene, destroy the session, or stop. So
      // this is checked here, and nothing comes in between until the scene has what it gets.
      try refuseDestroyed(identifier)
      // The last changes of a scene that has ended meanwhile are newer than this session.
      if !isNew, scenes[identifier] == nil { continue }
      var (session, options) = try offered(read, json)
      if let configuration { session.configuration.name = configuration }
      do { handed = (try hand(options, to: session), options) } catch {
        // The service does not know of the scene, and after the refusal still believes that the session has none.
        if !isNew, configuration != nil { hosting?.detach() }
        throw error
      }
    }
    guard let (scene, options) = handed else { return }
    // The service gets the scene's conditions before it learns that the scene exists.
    await written(of: identifier)
    _ = try connected()
    reply.send()
    options.received?.wasTaken()
    scene.announcedActivation = AnnouncedActivation(options)
    if isNew {
      scene.isAcknowledged = true
      saveSoon(scene)
      writeSoon()
      // The service heard of the release during this call, and now believes that the session has no scene.
      if configuration == nil { hosting?.detach() }
    }
  }

  /// Gives the scene of a session what it gets, or connects a new one.
  private func hand(_ options: ConnectionOptions, to session: SceneSession) throws -> Scene {
    let known = scenes[session.identifier]
    forgetActivations(before: options, known)
    guard let scene = known else { return try connect(session, options) }
    scene.session = session
    try resume(scene, options)
    return scene
  }

  private func connect(_ session: SceneSession, _ options: ConnectionOptions) throws -> Scene {
    guard let delegate = sceneDelegate(for: session) else {
      throw StagedoorError(.hostRefused, "\(identifier) has no delegate for a \(session.configuration.name)")
    }
    let scene = Scene(session, delegate: delegate, of: self)
    scenes[session.identifier] = scene
    // Unwritten values of an earlier scene of the session would overwrite the values of this one.
    unwritten.removeAll(of: session.identifier)
    do {
      if let activity = options.userActivities.first { take(activity, in: scene, session) }
      try scene.lookedAfter { try $0.scene(scene, willConnectTo: session, options: options) }
      scene.connected()
      try scene.isThere()
    } catch {
      scene.refused()
      if scenes[session.identifier] === scene { scenes[session.identifier] = nil }
      // The service never knew this scene. But it has to hear of the end of a session.
      if !destroyedSessions.contains(session.identifier) { unwritten.removeAll(of: session.identifier) }
      throw error
    }
    if restoresWindows { scene.isShown(true) }
    return scene
  }

  private func resume(_ scene: Scene, _ options: ConnectionOptions) throws {
    let wasInBackground = scene.activationState == .background
    if wasInBackground { scene.enter(.foregroundInactive) }
    try scene.isThere()
    let before = scene.userActivity
    if let activity = options.userActivities.first { take(activity, in: scene, scene.session) }
    do {
      if !options.userActivities.isEmpty || !options.items.isEmpty {
        try scene.lookedAfter { try $0.scene(scene, continueWith: options) }
      }
    } catch {
      // The service goes back to the activity that it had before the delivery. The scene may show a later one: a change that was not sent yet, or the
      // activity of this very delivery, which the scene took before the last service was killed.
      scene.userActivity = before
      if !options.userActivities.isEmpty { noteChange(.userActivity, of: scene) }
      if wasInBackground { scene.enter(.background) }
      throw error
    }
  }

  func bringToFront(_ scene: Scene, _ data: ActivationData) throws(StagedoorError) {
    scene.announcedActivation = nil
    if scene.activationState == .background { scene.enter(.foregroundInactive) }
    try scene.isThere()
    scene.lookedAfter { $0.scene(scene, bringToFrontWith: data) }
  }

  /// The service asks for this after each delivery. If it is killed before it asks, its successor does not know of the delivery.
  func bringAnnouncedToFront() {
    for scene in connectedScenes {
      guard let announced = scene.announcedActivation else { continue }
      scene.announcedActivation = nil
      if !announced.isOver { try? bringToFront(scene, announced.data) }
    }
  }

  /// The service makes the calls for a scene one after the other, and a redirected delivery has one scene only: what it has not asked by now it asks
  /// no more.
  private func forgetActivations(before options: ConnectionOptions, _ scene: Scene?) {
    scene?.announcedActivation = nil
    guard options.attempt > 1, let delivery = options.delivery else { return }
    for other in scenes.values where other.announcedActivation?.delivery == delivery { other.announcedActivation = nil }
  }

  func destroyScene(at path: ObjectPath, _ animation: DismissalAnimation) {
    guard let identifier = SessionIdentifier(path.rawValue), let scene = scenes[identifier] else { return }
    scene.end(animation)
    scenes[identifier] = nil
    knownSessions[identifier] = nil
    unwritten.removeAll(of: identifier)
  }

  func release(_ scene: Scene) {
    // A delegate may call this from `sceneDidDisconnect`, when the scene ends anyway.
    guard scenes[scene.id] === scene, !scene.life.isEnding else { return }
    scene.isShown(false)
    scene.end(.standard)
    scenes[scene.id] = nil
    unwritten.release(scene)
    writeSoon()
  }
}

extension Scene {
  /// Throws if the delegate has ended the scene: it cannot take more.
  func isThere() throws(StagedoorError) {
    if life.isEnding { throw StagedoorError(.hostRefused, "the application closed the window meanwhile") }
  }

  fileprivate func isShown(_ isShown: Bool) {
    if saysShown == isShown { return }
    saysShown = isShown
    changed(.userInfo)
  }
}

extension ActivationData {
  init(_ data: [String: Variant]) {
    func text(_ key: String) -> String? { if case .string(let text)? = data[key] { text } else { nil } }
    self.init(activationToken: text("activation-token"), startupIdentifier: text("desktop-startup-id"))
  }
}
