import DBus
import FoundationEssentials
import StagedoorKit
import StagedoorTestSupport

// Everything that `docs/kit.md` names, used once. `Scripts/check-examples` compares the page with this file.

// MARK: Handing in

func handIn(_ file: URL) async throws {
  var stagedoor = try await Stagedoor.connect()
  stagedoor.timeout = .seconds(5)
  var activity = UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1", userInfo: ["name": "Tom"])
  activity.visibility = .application

  var provider = ItemProvider(activity)
  provider.registerData(Data([1, 2, 3]), as: "image/png")
  provider.registerFile(file, as: "image/png", openInPlace: true)
  var item = DragItem(itemProvider: provider)
  item.localObject = "mine"

  var options = DeliveryOptions()
  options.wait = .handled
  options.token = "first"
  let delivery = try await stagedoor.deliver([item], options)
  for result in try await stagedoor.deliverEach([item]) { print(try result.get().session) }
  print(try await stagedoor.explain(Payload(items: [item])).reason)
  print(try await stagedoor.deliver(document: #"{"activity": {"activityType": "org.example.Cats.view"}}"#).outcome)

  do {
    print(try await stagedoor.finished(delivery.identifier))
    for try await state in try await stagedoor.progress(of: delivery.identifier) where state == .handled {
      print(state)
    }
    try await stagedoor.cancel(delivery.identifier)
    try await stagedoor.redirect(delivery.identifier, to: delivery.session)
  } catch  where error.isCancellation || error.code == StagedoorError.Code.alreadyRunning {
    print(error)
  }
  await stagedoor.close()
}

func look(_ stagedoor: Stagedoor, at identifier: SessionIdentifier) async throws {
  try await stagedoor.activate(identifier)
  try await stagedoor.refresh(identifier)
  try await stagedoor.destroy(identifier)
  print(try await stagedoor.newSession(of: "org.example.Cats").session)
  print(try await stagedoor.sessions().count, try await stagedoor.session(identifier).title)
  for try await sessions in try await stagedoor.liveSessions() { print(sessions.map(\.activationState)) }
  for try await event in try await stagedoor.events(since: 0, of: "org.example.Cats") {
    print(event.sequence, event.kind)
  }
  for window in try await stagedoor.sessionList(limit: 10) { print(window.session, window.activationState) }
  print(try await stagedoor.applications().map(\.name), try await stagedoor.application("org.example.Cats").name)
  print(try await stagedoor.handlers(of: "image/png").count)
  for await notification in try await stagedoor.notifications(named: "Saved", of: "org.example.Cats") {
    print(notification.userInfo)
  }
}

// MARK: An application

final class Cats: Application {
  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = options.deliveries.isEmpty && !openSessions.isEmpty
    loadLimit = 1 << 20
  }
  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { CatScene() }
  override func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    SceneConfiguration(name: "Cat", sessionRole: SessionRole.windowApplication)
  }
  override func didDiscard(_ sessions: Set<SessionIdentifier>) { print(sessions) }
  override func didFail(_ error: StagedoorError, while what: String) { print(error.message, what) }
}

final class CatScene: SceneDelegate {
  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: Scene.ConnectionOptions) throws {
    let role: SceneSession.Role = session.role
    scene.userActivity = options.userActivities.first ?? session.stateRestorationActivity
    scene.userActivity?.title = "Tom"
    scene.userActivity?.needsSave = true
    scene.userInfo = ["role": .string(role.rawValue), "attempt": .integer(options.attempt)]
    if options.isPrivate, options.operation == .move { scene.title = options.origin ?? "a cat" }
    scene.activationConditions = SceneActivationConditions(
      can: ActivationPredicate.equals("tom"), prefers: "SELF BEGINSWITH 'tom'")
    scene.activationConditions.canActivateForTargetContentIdentifierPredicate = nil
    scene.activationConditions.prefersToActivateForTargetContentIdentifierPredicate = nil
    scene.observe("Saved") { print($0.name) }
    scene.onChange(of: \.title) { print($0) }
    Scene.current?.title = "Tom"
    UserActivity("org.example.Cats.view").becomeCurrent()
    UserActivity("org.example.Cats.view").becomeCurrent(in: scene)
  }
  override func scene(_ scene: Scene, continue userActivity: UserActivity) throws {
    throw StagedoorError(.hostRefused, "there is no such cat")
  }
  override func scene(_ scene: Scene, receive items: [DragItem]) {
    for item in items where item.itemProvider.hasItem(conformingTo: "image/*") {
      print(item.itemProvider.fileOpenedInPlace(as: "image/*") as Any)
      item.itemProvider.finishLoading()
    }
  }
  override func sceneWillEnterForeground(_ scene: Scene) {}
  override func sceneDidBecomeActive(_ scene: Scene) {}
  override func sceneWillResignActive(_ scene: Scene) {}
  override func sceneDidEnterBackground(_ scene: Scene) {}
  override func sceneDidDisconnect(_ scene: Scene) {}
  override func stateRestorationActivity(for scene: Scene) -> UserActivity? { scene.userActivity }
  override func scene(_ scene: Scene, willSave activity: inout UserActivity) { activity.userInfo["saved"] = true }
  override func scene(_ scene: Scene, bringToFrontWith data: ActivationData) {
    let state: Scene.ActivationState = .foregroundActive
    scene.enter(scene.activationState == .background ? .foregroundInactive : state)
  }
  override func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation {
    allowed.contains(.move) ? .move : .copy
  }
}

@MainActor func use(_ cats: Cats, _ session: SceneSession, in scene: Scene) async throws {
  cats.post("Saved", userInfo: ["cat": "tom"])
  cats.requestSceneSessionDestruction(session)
  print(cats.identifier, cats.stagedoor as Any, cats.scene(of: session.identifier)?.title ?? "")
  scene.release()
  try await cats.start()
  await cats.stop()
}

@MainActor func load(_ item: DragItem) async throws -> (Data, URL) {
  let provider = item.itemProvider
  return (
    try await provider.loadDataRepresentation(as: "image/*"), try await provider.loadFileRepresentation(as: "image/*")
  )
}

func drag(_ stagedoor: Stagedoor, _ items: [DragItem]) async throws {
  let drag: DragSession = try await stagedoor.beginDrag(items, allowing: [.copy, .move])
  print(DragSession.ticketType, Payload.contentType)
  try await stagedoor.openDrag(drag.ticket).drop()
}

// MARK: Its program, and its tests

enum Program {
  static func main() {
    print(MainQueue.descriptor)
    MainQueue.run { try await Cats("org.example.Cats", manifest: "{}").run() }
  }
}

func test() async throws {
  try await withPrivateStagedoor { house in try await house.killService() }
}
