import DBus
import Glibc
import Interchange
import InterchangeCore
import SceneModel
import ServiceSupport

/// Passes the installed manifests and the person's rules to the service: at the start, when they change, and on SIGHUP.
///
/// It has its own loop, apart from the connection's loop. So the service answers calls however much is written to the directories.
actor ManifestKeeper {
  /// Asks the keeper to read everything again.
  static let signal = SIGHUP

  private nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let hangups: SignalDescriptor
  private var installed: InstalledManifests
  private var rules: InstalledRules
  private let fileTypes: InstalledFileTypes
  private let interchange: Interchange
  private let log: Log
  private var notices: DirectoryNotices?
  /// The reported faults of each manifest. The change of another file does not repeat them.
  private var complaints: [Text: [String]] = [:]
  private var complaintsOfRules: [Text: [String]] = [:]
  private var warningsOfRules: [String] = []
  private var doubles: [InstalledManifests.Double] = []
  private var problems: [String] = []
  private var isOver = false

  /// - Parameter hangup: whether SIGHUP makes the keeper read again.
  init(
    _ installed: InstalledManifests, _ rules: InstalledRules, _ fileTypes: InstalledFileTypes,
    for interchange: Interchange, hangup: Bool, log: Log
  ) throws(ConnectionError) {
    loop = try EventLoop(name: "manifests")
    hangups = try SignalDescriptor(hangup ? [Self.signal] : [])
    self.installed = installed
    (self.rules, self.fileTypes) = (rules, fileTypes)
    self.interchange = interchange
    self.log = log
    notices = DirectoryNotices(where: Self.isWanted)
    if notices == nil {
      log.warning(
        "changes of manifests are seen on SIGHUP only, until the kernel allows one more: \(String(cString: strerror(errno)))"
      )
    }
  }

  private static func isWanted(_ name: String) -> Bool {
    InstalledManifests.isManifest(name) || InstalledRules.isRules(name)
  }

  /// The directories of manifests and rules, and those of the files to which symbolic links in them lead.
  private var directories: [String] {
    let own = installed.directories + rules.directories
    let linked = own.reduce(into: Set<String>()) { found, directory in
      found.formUnion(SmallFile.directories(linkedFrom: directory, where: Self.isWanted))
    }
    return own + linked.sorted()
  }

  /// Watches the directories, and then reads everything in them.
  func read() async {
    if isOver { return }
    if let found = notices?.watch(directories), found != problems {
      problems = found
      for problem in problems { log.warning("changes of manifests are seen on SIGHUP only: \(problem)") }
    }
    let (found, broken, doubles) = installed.read()
    for double in doubles where !self.doubles.contains(double) {
      log.warning("\(double.isPassedOver): it is passed over, since \(double.counts) counts; remove one of them")
    }
    self.doubles = doubles
    let identifiers = Set(broken.map(\.identifier))
    let manifests = found.mapValues { InstalledManifest(manifest: $0.manifest, file: $0.file) }
    // Another reading may begin at each `await`. None stands between reading and passing on, so the last reading counts.
    await interchange.install(manifests, keeping: identifiers)
    await complain(of: broken)
    await readRules()
  }

  private func readRules() async {
    let (found, broken, warnings) = rules.read()
    let before = complaintsOfRules
    complaintsOfRules = Dictionary(broken.map { ($0.path, $0.complaints) }) { $1 }
    for file in broken where before[file.path] != file.complaints {
      for complaint in file.complaints { log.error("\(file.path):\(complaint)") }
      if file.keepsEarlier { log.error("\(file.path): the version before it stays until this one is mended") }
    }
    for warning in warnings where !warningsOfRules.contains(warning) { log.warning(warning) }
    warningsOfRules = warnings
    // The disk has little time to answer the rules.
    if !rules.isEmpty { fileTypes.read() }
    await interchange.setRules(found, home: Text(Directories.home()))
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
      log.info("the manifests and the rules are read again")
      // After SIGHUP every fault is reported, also one that was reported before.
      (complaints, complaintsOfRules, warningsOfRules) = ([:], [:], [])
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
      notices = DirectoryNotices(where: Self.isWanted)
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
