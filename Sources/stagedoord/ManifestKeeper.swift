import DBus
import Glibc
import Interchange
import SceneModel
import ServiceSupport

/// Passes the installed manifests to the service: at the start, when they change, and on SIGHUP.
///
/// It has its own loop, apart from the connection's loop. So the service answers calls however much is written to the directories.
actor ManifestKeeper {
  /// Asks the keeper to read everything again.
  static let signal = SIGHUP

  private nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let hangups: SignalDescriptor
  private let installed: InstalledManifests
  private let interchange: Interchange
  private let log: Log
  private var notices: DirectoryNotices?
  /// The reported faults of each manifest. The change of another file does not repeat them.
  private var complaints: [Text: [String]] = [:]
  private var doubles: [InstalledManifests.Double] = []
  private var problems: [String] = []
  private var isOver = false

  /// - Parameter hangup: whether SIGHUP makes the keeper read again.
  init(
    _ installed: InstalledManifests, for interchange: Interchange, hangup: Bool, log: Log
  ) throws(ConnectionError) {
    loop = try EventLoop(name: "manifests")
    hangups = try SignalDescriptor(hangup ? [Self.signal] : [])
    self.installed = installed
    self.interchange = interchange
    self.log = log
    notices = Self.notices(of: installed)
    if notices == nil {
      log.warning(
        "changes of manifests are seen on SIGHUP only, until the kernel allows one more: \(String(cString: strerror(errno)))"
      )
    }
  }

  private static func notices(of installed: InstalledManifests) -> DirectoryNotices? {
    DirectoryNotices(of: installed.directories, where: InstalledManifests.isManifest)
  }

  /// Watches the directories, and then reads everything in them.
  func read() async {
    if isOver { return }
    if let found = notices?.watch(), found != problems {
      problems = found
      for problem in problems { log.warning("changes of manifests are seen on SIGHUP only: \(problem)") }
    }
    let (found, broken, doubles) = installed.read()
    await complain(of: broken)
    for double in doubles where !self.doubles.contains(double) {
      log.warning("\(double.isPassedOver): it is passed over, since \(double.counts) is there; remove one of them")
    }
    self.doubles = doubles
    let identifiers = Set(broken.map(\.identifier))
    await interchange.install(found.mapValues { ($0.manifest, $0.file) }, keeping: identifiers)
  }

  private func complain(of broken: [InstalledManifests.Broken]) async {
    let before = complaints
    // Names are compared by their bytes: two names that look the same may be two files.
    complaints = Dictionary(broken.map { (Text($0.path), $0.complaints) }) { $1 }
    for manifest in broken where before[Text(manifest.path)] != manifest.complaints {
      for complaint in manifest.complaints { log.error("\(manifest.path): \(complaint)") }
      if await interchange.knows(manifest.identifier) {
        log.error("\(manifest.path): the version before it stays until this one is mended")
      }
    }
  }

  // MARK: Following changes

  /// Reads again after each change, until it is stopped.
  nonisolated func follow() {
    loop.task { await self.followSignals() }
    loop.task { await self.followChanges() }
  }

  private func followSignals() async {
    while await hangups.next(on: loop) != nil {
      log.info("the manifests are read again")
      // After SIGHUP every fault is reported, also one that was reported before.
      complaints = [:]
      doubles = []
      await read()
    }
  }

  private func followChanges() async {
    await waitForNotices()
    guard let notices else { return }
    while !isOver {
      await loop.readable(notices.descriptor)
      guard matters else { continue }
      await waitForQuiet()
      await read()
    }
  }

  /// The kernel allows each user 128 of these in all programs together, and does not report when one becomes free.
  private func waitForNotices() async {
    var pause = Duration.seconds(1)
    while notices == nil {
      await loop.sleep(for: pause)
      pause = min(pause * 2, .seconds(64))
      if isOver { return }
      notices = Self.notices(of: installed)
      if notices == nil { continue }
      log.info("changes of manifests are seen from now on")
      await read()
    }
  }

  private var matters: Bool { notices?.take() ?? false }

  /// Editors write in several steps, and installers write many files. So this waits until no notice has come for a tenth of a second, or
  /// for at most a second.
  private func waitForQuiet() async {
    for _ in 0..<10 {
      await loop.sleep(for: .milliseconds(100))
      if !matters { return }
    }
  }

  /// The present reading is still passed on, and no later one.
  func stop() { isOver = true }
}
