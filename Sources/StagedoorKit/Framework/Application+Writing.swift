internal import DBus
internal import InterchangeWire
internal import SceneModel

// Sends the changes of scenes and the notifications to the service, one after the other. Each change has the value that it has when its
// turn comes.
extension Application {
  func noteChange(_ property: SceneProperty, of scene: Scene) {
    unwritten.add(property, of: scene.id)
    writeSoon()
  }

  func writeSoon() {
    guard let hosting, hosting.isAttached, hosting.writing == nil, !unwritten.isEmpty else { return }
    hosting.writing = hosting.loop.task {
      while hosting.isAttached {
        if let change = nextUnwritten(), let scene = scenes[change.scene] {
          await write(change.property, of: scene, hosting)
        } else if let notification = unwritten.takeNotification() {
          await tell(notification, hosting)
        } else {
          break
        }
      }
      hosting.writing = nil
    }
  }

  /// Waits until every change that can be written is written.
  func written() async {
    guard let hosting else { return }
    await withTaskExecutorPreference(hosting.loop.taskExecutor) {
      while let writing = hosting.writing { await writing.value }
    }
  }

  /// The service refuses a state of a scene that it does not know yet.
  private func nextUnwritten() -> UnwrittenChanges.Change? {
    unwritten.takeFirst { change in
      guard let scene = scenes[change.scene] else { return false }
      return change.property != .state || scene.isAcknowledged
    }
  }

  private func write(_ property: SceneProperty, of scene: Scene, _ hosting: Hosting) async {
    // Another call reports the end of a scene. The scene may have ended since its turn came, because other tasks can run at every `await`.
    if property == .state, scene.activationState == .unattached { return }
    do throws(StagedoorError) {
      if property == .userActivity { scene.save() }
      let text = try scene.text(of: property)
      if let name = property.name {
        try await hosting.stagedoor.call(
          "Set", InterchangeNames.session.rawValue, name.rawValue, Variant.string(text), at: scene.id.path,
          in: Stagedoor.properties)
      } else {
        try await hosting.stagedoor.call("SetState", text, session: scene.id)
      }
    } catch {
      fail(to: property, of: scene, error, hosting)
    }
  }

  private func tell(_ notification: SceneNotification, _ hosting: Hosting) async {
    do throws(StagedoorError) {
      let document = JSON.text(of: .dictionary(try SceneModel.UserInfo(notification.userInfo, at: .document)))
      try await hosting.stagedoor.call(
        "PostNotification", notification.name.rawValue, document.string,
        at: InterchangeNames.path(ofApplication: Text(identifier)), in: InterchangeNames.application)
    } catch  where error.code == .accessDenied {
      unwritten.putBack(notification)
      attachAgain(hosting)
    } catch  where error.saysServiceWasAway {
      hosting.isAttached = false
      unwritten.putBack(notification)
    } catch {
      didFail(error, while: "posting \(notification.name)")
    }
  }

  private func fail(to property: SceneProperty, of scene: Scene, _ error: StagedoorError, _ hosting: Hosting) {
    switch error.code {
    case .accessDenied:
      unwritten.add(property, of: scene.id)
      attachAgain(hosting)
    case _ where error.saysServiceWasAway:
      hosting.isAttached = false
      unwritten.add(property, of: scene.id)
    case .noSuchSession, .unknownObject:
      // The session has just been destroyed, and the host is about to be told.
      break
    default: didFail(error, while: "writing the \(property) of \(scene.id)")
    }
  }
}

extension StagedoorError {
  /// The service is not there now. The change is sent after the next attachment.
  fileprivate var saysServiceWasAway: Bool { saysServiceLeft || code == .disconnected }
}

extension Scene {
  /// Lets the delegate fill in the changes.
  fileprivate func save() {
    guard var activity = userActivity, activity.needsSave else { return }
    lookedAfter { $0.scene(self, willSave: &activity) }
    activity.needsSave = false
    take(activity)
  }

  fileprivate func text(of property: SceneProperty) throws(StagedoorError) -> String {
    switch property {
    case .title: title
    case .userActivity: try userActivity?.json() ?? ""
    case .stateRestorationActivity: try stateRestorationActivity?.json() ?? ""
    case .userInfo:
      userInfo.isEmpty
        ? "" : JSON.text(of: .dictionary(try SceneModel.UserInfo(userInfo, at: Place.document.key("userInfo")))).string
    case .can: activationConditions.canActivateForTargetContentIdentifier?.source ?? ""
    case .prefers: activationConditions.prefersToActivateForTargetContentIdentifier?.source ?? ""
    case .state: activationState.rawValue
    }
  }
}
