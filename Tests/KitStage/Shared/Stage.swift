@preconcurrency import Glibc
package import StagedoorKit

/// An application that prints what its scenes hear, and on which thread.
@MainActor package final class Stage: Application {
  package init() {
    setvbuf(stdout, nil, _IOLBF, 0)
    super.init("org.example.Cats")
  }

  package override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { StageScene() }
}

@MainActor private final class StageScene: SceneDelegate {
  private func say(_ call: String) { print(call, isMainThread ? "on the main thread" : "elsewhere") }

  /// The first thread of a process has the number of the process.
  private var isMainThread: Bool {
    var link = [CChar](repeating: 0, count: 64)
    let length = max(0, readlink("/proc/thread-self", &link, link.count))
    let path = String(decoding: link[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path.hasSuffix("/task/\(getpid())")
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    say("willConnect \(options.userActivities.first?.targetContentIdentifier ?? "")")
    scene.title = "a scene"
    guard let item = options.items.first else { return }
    Task { say("loaded \((try? await item.itemProvider.loadText()) ?? "nothing")") }
  }

  /// The window gets the focus as soon as it is in front.
  override func scene(_ scene: Scene, bringToFrontWith data: ActivationData) { scene.enter(.foregroundActive) }
  override func sceneWillEnterForeground(_ scene: Scene) { say("willEnterForeground") }
  override func sceneDidBecomeActive(_ scene: Scene) { say("didBecomeActive") }
  override func sceneDidDisconnect(_ scene: Scene) { say("didDisconnect") }
}
