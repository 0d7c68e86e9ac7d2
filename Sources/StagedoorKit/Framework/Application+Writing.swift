internal import DBus
internal import InterchangeWire
internal import SceneModel

// Sends the changes of scenes and the notifications to the service, one after the other. Each change has the value that it has when its
// turn comes.
extension Application {
  func noteChange(_ property: SceneProperty, of scene: Scene) {
    // Changes of a scene that has ended are dropped.
    guard scenes[scene.id] === scene else { return }
    unwritten.add(property, of: scene)
    writeSoon()
    if property != .state, property != .stateRestorationActivity { saveSoon(scene) }
  }

  /// The scene takes the activity that a delivery brings. The service stored that activity before it made the call. An older activity that this process
  /// sent at the same time may have replaced it there.
  func take(_ activity: UserActivity, in scene: Scene, _ session: SceneSession) {
    scene.take(activity)
    guard let hosting, let number = hosting.writtenActivities[session.identifier] else { return }
    if number > hosting.activityWritesBefore || session.userActivity != activity {
      // The number stays: if the delivery comes again before this change is sent, the change is noted again.
      noteChange(.userActivity, of: scene)
    } else {
      hosting.writtenActivities[session.identifier] = nil
    }
  }

  /// The service has just told this value itself.
  func forgetChange(_ property: SceneProperty, of scene: Scene) {
    unwritten.remove(property, of: scene.id)
    saveSoon(scene)
  }

  func writeSoon() {
    guard let hosting, hosting.isAttached, hosting.writing == nil, !unwritten.isEmpty else { return }
    hosting.writing = hosting.loop.task {
      let wasThere = await writeNext(hosting)
      hosting.writing = nil
      if wasThere { writeSoon() }
    }
  }

  private func writeNext(_ hosting: Hosting) async -> Bool {
    guard hosting.isAttached, let owner = hosting.service.withLock(\.self), let change = unwritten.takeNext() else {
      return false
    }
    // Another owner of the name does not know this host before it attaches.
    var stagedoor = hosting.stagedoor
    stagedoor.service = owner
    do throws(StagedoorError) {
      try await write(change, stagedoor)
      hosting.hasWritten = true
    } catch {
      fail(change, error, hosting, owner)
    }
    return true
  }

  /// Waits until the changes that are noted now have had their turns, or those of one session. Later changes, which may come faster than they can be
  /// written, have their turns behind these.
  func written(of session: SessionIdentifier? = nil) async {
    guard let hosting else { return }
    // One change may be on its way.
    var turns = 1 + unwritten.turns(of: session)
    await withTaskExecutorPreference(hosting.loop.taskExecutor) {
      while turns > 0, let writing = hosting.writing {
        await writing.value
        turns -= 1
      }
    }
  }

  private func write(_ change: UnwrittenChanges.Change, _ stagedoor: Stagedoor) async throws(StagedoorError) {
    switch change {
    case .property(.state, let scene):
      // The scene may have ended since; the next change reports that.
      if scene.activationState == .unattached { return }
      try await stagedoor.call("SetState", scene.activationState.rawValue, session: scene.id)
    case .property(let property, let scene):
      if property == .userActivity {
        scene.save()
        // The written value includes the changes that the delegate and the observers have just made.
        unwritten.remove(property, of: scene.id)
      }
      if property == .userActivity, let hosting {
        hosting.activityWrites += 1
        hosting.writtenActivities[scene.id] = hosting.activityWrites
      }
      try await stagedoor.call(
        "Set", InterchangeNames.session.rawValue, property.rawValue, Variant.string(try scene.text(of: property)),
        at: scene.id.path, in: Stagedoor.properties)
    case .released(let scene): try await stagedoor.call("Disconnect", session: scene.id)
    case .destroyed(let session, let animation): try await stagedoor.destroy(session, animation: animation)
    case .notification(let notification):
      let document = JSON.text(of: .dictionary(try SceneModel.UserInfo(notification.userInfo, at: .document)))
      try await stagedoor.call(
        "PostNotification", notification.name.rawValue, document.string,
        at: InterchangeNames.path(ofApplication: Text(identifier)), in: InterchangeNames.application)
    }
  }

  private func fail(
    _ change: UnwrittenChanges.Change, _ error: StagedoorError, _ hosting: Hosting, _ owner: BusName
  ) {
    switch error.code {
    // The change is sent after the next attachment. Anybody may destroy a session, but for a sandboxed program that of another: this does not pass.
    case _ where error.isPassing && !(error.code == .accessDenied && change.isDestruction):
      if isOfInterest(change) { unwritten.putBack(change) }
      // The next owner may have accepted this host by now.
      if hosting.service.withLock(\.self) == owner { hosting.detach() }
    case .invalidArguments where change.waitsForConnection:
      // The service handled this call before the reply that opened the scene.
      if case .property(_, let scene) = change, scenes[scene.id] === scene {
        if scene.session.isConnected { unwritten.add(.state, of: scene) } else { scene.hasUntoldState = true }
      } else {
        hosting.detach()
      }
    case .noSuchSession, .unknownObject:
      // The session has just been destroyed, and the host is about to be told.
      break
    default:
      if case .destroyed(let session, _) = change { destroyedSessions.remove(session) }
      didFail(error, while: change.description)
    }
  }

  /// Whether no later scene of the session has begun without the change.
  private func isOfInterest(_ change: UnwrittenChanges.Change) -> Bool {
    guard case .property(_, let scene) = change, let other = scenes[scene.id] else { return true }
    return other === scene
  }

  // MARK: Restoring

  /// The longest time for which a change of a scene in the foreground waits until the delegate is asked how to restore the scene. With the time for
  /// writing, a killed process loses the changes of at most two seconds.
  private static let savingPause = Duration.seconds(1)

  func saveSoon(_ scene: Scene) {
    scene.isUnsaved = true
    guard let hosting, hosting.saving == nil else { return }
    hosting.saving = hosting.loop.task {
      await hosting.loop.sleep(for: Self.savingPause)
      hosting.saving = nil
      guard self.hosting === hosting else { return }
      for scene in connectedScenes where scene.isUnsaved && scene.isAcknowledged && !scene.life.isEnding {
        scene.saveStateRestorationActivity()
      }
    }
  }
}

extension UnwrittenChanges.Change {
  fileprivate var isDestruction: Bool { if case .destroyed = self { true } else { false } }

  fileprivate var description: String {
    switch self {
    case .property(let property, let scene): "writing the \(property) of \(scene.id)"
    case .released(let scene): "releasing \(scene.id)"
    case .destroyed(let session, _): "destroying \(session)"
    case .notification(let notification): "posting \(notification.name)"
    }
  }
}

extension Scene {
  /// Lets the delegate fill in the changes, at the latest before it hears of the end.
  func save() {
    guard var activity = userActivity, activity.needsSave, !isSaving, !life.isEnding else { return }
    isSaving = true
    defer { isSaving = false }
    lookedAfter { $0.scene(self, willSave: &activity) }
    activity.needsSave = false
    userActivity = activity
  }

  fileprivate func text(of property: SceneProperty) throws(StagedoorError) -> String {
    switch property {
    case .title: title
    case .userActivity: try userActivity?.json() ?? ""
    case .stateRestorationActivity: try stateRestorationActivity?.json() ?? ""
    case .userInfo: try SceneSession.text(of: userInfo, wasShown: saysShown)
    case .can: activationConditions.can
    case .prefers: activationConditions.prefers
    case .state: activationState.rawValue
    }
  }
}

extension StagedoorError {
  /// Whether the same change may be accepted later: the service left, does not know this host, was busy, or could not write to its disk.
  fileprivate var isPassing: Bool {
    saysServiceLeft || [.accessDenied, .disconnected, .timedOut, .storageFailed].contains(code)
  }
}
