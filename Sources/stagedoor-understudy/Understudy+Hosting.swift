import DBus
import DesktopFiles
import SceneModel
import ServiceSupport
import WindowEvidence

/// What the service knows of the applications that the understudy stands in for.
struct Hosting {
  /// The service's connection; `nil` while it does not run.
  var service: BusName?
  /// The registered manifests, by their identifiers, and the paths of their applications.
  var registered: [String: (manifest: DerivedManifest, path: ObjectPath)] = [:]
  var sessions: [ObjectPath: HostedSession] = [:]
  /// The documents whose sessions were closed before their windows had come.
  var closed: [ClosedDocument] = []
  /// The applications whose windows have changed since their sessions were last compared with them, by their desktop files; `nil` if nothing has changed.
  var changed: Set<String>?
  /// Whether sessions are being compared, or are about to be: two that compare at the same time would adopt one window twice.
  var isComparing = false
  var isUpdating = false
  var isOutOfDate = false
  /// The pause before the service is asked again for what it could not do.
  var pausing: Task<Void, Never>?
  var pause = Hosting.firstPause
  static let firstPause = Duration.milliseconds(100)
}

/// A document whose window is to close as soon as it comes.
struct ClosedDocument {
  /// The application's desktop file.
  let application: String
  let url: String
  /// Until then the window may still come.
  let end: ContinuousClock.Instant
  /// The window that has come, and was asked to close.
  var window: WindowNumber?
}

/// A document that an application shows. Several may share a window, as tabs.
struct HostedSession {
  /// The application's identifier on the bus.
  let application: String
  /// The file that it shows; `nil` if that is no longer known.
  var url: String?
  var window: WindowNumber?
  /// Whether the service has heard that there is a window. Before that it takes no state.
  var isConnected = true
  /// How often in a row the service refused what it was told.
  var refusals = 0
  /// The delivery that has brought its window to the front. The service asks for the front once more behind it, unless our answer came too late.
  var broughtBy: String?
  /// What the service was told last.
  var told = Told()

  struct Told: Equatable {
    var title = ""
    var state = "foregroundInactive"
  }
}

/// The understudy as a host: it registers the installed applications with the service, opens what is dropped on them, and makes sessions of the
/// windows that certainly show a file.
extension Understudy {
  private static let service: BusName = "org.stagedoor.Interchange1"
  private static let root: ObjectPath = "/org/stagedoor/Interchange1"
  private static let session: InterfaceName = "org.stagedoor.SceneSession1"
  private static let hosts: ObjectPath = "/org/stagedoor/Understudy1/hosts"

  private nonisolated var interchange: RemoteObject {
    connection.object(Self.service, at: Self.root, "org.stagedoor.Interchange1")
  }

  /// Takes part in the service whenever it runs, and starts it once.
  func takePart() async {
    guard let owners = try? await connection.owners(of: Self.service) else { return }
    let _: UInt32? = try? await connection.call(
      to: .bus, at: .bus, .bus, "StartServiceByName", "\(Self.service)", UInt32(0))
    for await owner in owners where owner != hosting.service {
      hosting.service = owner
      // A service that has just started knows none of them, and asks nothing behind the deliveries of the one before.
      hosting.registered = [:]
      hosting.pausing?.cancel()
      hosting.pause = Hosting.firstPause
      for path in hosting.sessions.keys { hosting.sessions[path]?.broughtBy = nil }
      await updateManifests()
    }
  }

  // MARK: Applications

  /// Registers what is installed, and unregisters what is no longer.
  func updateManifests() async {
    hosting.isOutOfDate = true
    if hosting.isUpdating { return }
    hosting.isUpdating = true
    defer { hosting.isUpdating = false }
    var hasFailed = false
    while hosting.isOutOfDate, hosting.service != nil {
      (hosting.isOutOfDate, hasFailed) = (false, false)
      let wanted = installed.now.applications.manifests
      let names = Set(wanted.map(\.identifier))
      for name in hosting.registered.keys where !names.contains(name) {
        hosting.registered[name] = nil
        hosting.sessions = hosting.sessions.filter { $0.value.application != name }
        try? await interchange.call("UnregisterApplication", name) as ()
      }
      for manifest in wanted where hosting.registered[manifest.identifier]?.manifest != manifest {
        if !(await register(manifest)) { hasFailed = true }
      }
    }
    if hasFailed { updateManifestsLater() } else { hosting.pause = Hosting.firstPause }
    for known in hosting.registered.values { windowsChanged(of: known.manifest.entry) }
  }

  /// The service may have no space on its disk, or not answer in time: it is asked again, after pauses that grow, until it has another owner.
  private func updateManifestsLater() {
    hosting.pausing?.cancel()
    let pause = hosting.pause
    hosting.pause = min(pause * 2, .seconds(60))
    hosting.pausing = connection.loop.task { [connection] in
      await connection.loop.sleep(for: pause)
      if Task.isCancelled { return }
      // Nobody cancels the calls that follow.
      self.hosting.pausing = nil
      await self.updateManifests()
    }
  }

  /// - Returns: Whether the service has decided, and need not be asked again.
  private func register(_ manifest: DerivedManifest) async -> Bool {
    let (service, isNew) = (hosting.service, hosting.registered[manifest.identifier] == nil)
    var isRegistered = false
    do {
      let path: ObjectPath = try await interchange.call("RegisterApplication", manifest.json)
      isRegistered = true
      if isNew { try await attach(manifest) }
      // The next service knows nothing of it.
      if hosting.service == service { hosting.registered[manifest.identifier] = (manifest, path) }
      return true
    } catch {
      let isRefused = (error as? CallError)?.isRefusal ?? true
      if isNew, isRefused { hosting.sessions = hosting.sessions.filter { $0.value.application != manifest.identifier } }
      // An application that declares itself is refused by the registration, and needs no understudy. An attachment is refused while another host is there,
      // such as an understudy that has just left.
      return isRefused && !isRegistered
    }
  }

  private func attach(_ manifest: DerivedManifest) async throws {
    let place = Self.hosts.appending(label: manifest.identifier)
    connection.export(hostInterface(of: manifest), at: place)
    let shown = hosting.sessions.filter { $0.value.application == manifest.identifier }.keys.sorted {
      $0.rawValue < $1.rawValue
    }
    let options: [String: Variant] = ["understudy": Variant(true), "path": Variant(place)]
    let (_, gone) = try await interchange.call(
      "AttachHostWith", manifest.identifier, shown, options, returning: ObjectPath.self, [ObjectPath].self)
    for path in gone { hosting.sessions[path] = nil }
    for path in shown { hosting.sessions[path]?.told = HostedSession.Told() }
  }

  // MARK: The host

  private func hostInterface(of manifest: DerivedManifest) -> Interface {
    var interface = Interface("org.stagedoor.SceneHost1")
    interface.restrict { call in
      // The interface runs on the loop of the understudy's connection.
      guard let service = self.assumeIsolated({ $0.hosting.service }), call.sender == service else {
        throw ErrorReply(.accessDenied, "only \(Self.service) may call a host")
      }
    }
    interface.method("ConnectScene", in: "session", "configuration", "options") {
      (session: ObjectPath, _: String, options: String) async throws in
      try await self.open(HandedOver(options), in: session, of: manifest, isNew: true)
    }
    interface.method("ContinueScene", in: "session", "options") {
      (session: ObjectPath, options: String) async throws in
      try await self.open(HandedOver(options), in: session, of: manifest, isNew: false)
    }
    interface.method("ActivateScene", in: "session", "platform_data") {
      (session: ObjectPath, data: [String: Variant]) async throws in
      try await self.bring(session, of: manifest, data["activation-token"].flatMap { try? String($0) })
    }
    interface.annotate("ActivateScene", .init("org.qtproject.QtDBus.QtTypeName.In1", "QVariantMap"))
    interface.method("RefreshScene", in: "session") { (_: ObjectPath) in }
    interface.method("DestroyScene", in: "session", "animation") { (session: ObjectPath, _: String) async in
      await self.close(session)
    }
    interface.method("DidDiscardSceneSessions", in: "persistent_identifiers") { (identifiers: [String]) async in
      await self.forget(identifiers)
    }
    interface.method("ProposeDrop", in: "session", "items", "allowed_operations", out: "operation") {
      (_: ObjectPath, _: [[String: Variant]], allowed: [String]) in allowed.contains("copy") ? "copy" : "forbidden"
    }
    interface.annotate("ProposeDrop", .init("org.qtproject.QtDBus.QtTypeName.In1", "QList<QVariantMap>"))
    return interface
  }

  /// What a delivery brings.
  private struct HandedOver {
    /// Files that may be opened in their places.
    let files: [String]
    let hasOthers: Bool
    let token: String?
    let delivery: String?

    init(_ document: String) throws {
      let options = try JSON.value(Text(document))
      let items = options["items"]?.elements ?? []
      let dropped = items.flatMap { $0["representations"]?.elements ?? [] }.compactMap { $0["file"]?.string }
      // Only this activity is our own word: senders write the others, and a sandbox may name no file.
      let restored = options["stateRestorationActivity"]?["targetContentIdentifier"]?.string
      files = items.isEmpty ? [restored].compactMap(\.self) : dropped
      hasOthers = !items.isEmpty
      token = options["activationToken"]?.string
      delivery = options["delivery"]?.string
    }
  }

  /// Opens files as `stagedoor open` does.
  private func open(
    _ handedOver: HandedOver, in session: ObjectPath, of manifest: DerivedManifest, isNew: Bool
  ) async throws {
    guard let first = handedOver.files.first else {
      throw ErrorReply(
        "org.stagedoor.Error.InvalidPayload",
        handedOver.hasOthers
          ? "\(manifest.entry) opens files only; save it as a file, and drop that"
          : "\(manifest.entry) is opened with a file; drop one")
    }
    let before = hosting.sessions[session]
    do {
      for url in handedOver.files {
        let (_, window) = try act(on: try await look(for: url, in: manifest.entry), handedOver.token)
        if url == first, isNew || hosting.sessions[session] == nil {
          hosting.sessions[session] = HostedSession(
            application: manifest.identifier, url: url, window: window.flatMap { WindowNumber($0) },
            isConnected: !isNew)
        }
      }
    } catch {
      // The service forgets a session that was made for what is refused, and the window that shows the first file may have another.
      hosting.sessions[session] = before
      throw error
    }
    hosting.sessions[session]?.broughtBy = handedOver.delivery
    await remember(hosting.sessions[session]?.url, in: session)
    // This comes behind the answer to the service.
    connection.loop.task {
      self.hosting.sessions[session]?.isConnected = true
      self.windowsChanged(of: manifest.entry)
    }
  }

  private func bring(_ session: ObjectPath, of manifest: DerivedManifest, _ token: String?) async throws {
    guard let hosted = hosting.sessions[session] else { return }
    hosting.sessions[session]?.broughtBy = nil
    if let delivery = hosted.broughtBy, await isTaken(delivery) { return }
    if let url = hosted.url {
      do {
        _ = try act(on: try await look(for: url, in: manifest.entry), token)
        return
      } catch let error as ErrorReply
        where error.name == "org.freedesktop.DBus.Error.FileNotFound" && hosted.window != nil
      {
        // Its window still shows the file that somebody has deleted.
      }
    }
    if let window = hosted.window { try activate("\(window)", token) }
  }

  /// Whether the service counts a delivery as taken, and so has asked for the front behind it.
  private func isTaken(_ delivery: String) async -> Bool {
    let (state, _) =
      (try? await interchange.call("GetDelivery", delivery, returning: String.self, String.self)) ?? ("", "")
    return ["handled", "forwarded"].contains(state)
  }

  /// Asks the window to close, as its own button does. A window that others share stays.
  private func close(_ session: ObjectPath) {
    guard let hosted = hosting.sessions.removeValue(forKey: session) else { return }
    if let window = hosted.window {
      if !isShared(window) { display.close(window) }
      takeEvents()
    } else if let url = hosted.url, let entry = hosting.registered[hosted.application]?.manifest.entry {
      hosting.closed.append(ClosedDocument(application: entry, url: url, end: .now + startTime))
    }
  }

  private func isShared(_ window: WindowNumber) -> Bool { hosting.sessions.values.contains { $0.window == window } }

  /// Asks a window to close that shows a document whose session was closed before.
  private func closes(_ window: WindowNumber, _ url: String, of application: String) -> Bool {
    hosting.closed.removeAll { $0.end < .now }
    let place = hosting.closed.firstIndex { $0.application == application && $0.url == url }
    guard let place, !isShared(window) else { return false }
    // Its application may need a while, or ask its person.
    if hosting.closed[place].window == window { return true }
    if hosting.closed[place].window != nil { return false }
    hosting.closed[place].window = window
    display.close(window)
    return true
  }

  /// Somebody wants the document after its session was closed.
  func keep(_ url: String, of application: String) {
    hosting.closed.removeAll { $0.application == application && $0.url == url }
  }

  private func forget(_ identifiers: [String]) {
    for identifier in identifiers {
      let name = identifier.map { $0 == "-" ? "_" : "\($0)" }.joined()
      if let path = try? ObjectPath("\(Self.root.rawValue)/session/\(name)") { hosting.sessions[path] = nil }
    }
  }

  // MARK: Sessions and windows

  /// Notes that windows of an application, or of any, have come, gone, or got other titles. Their sessions follow a little later, together.
  func windowsChanged(of entry: String? = nil) {
    if hosting.service == nil { return }
    hosting.changed = (hosting.changed ?? []).union(entry.map { [$0] } ?? windows.values.compactMap(\.application))
    if hosting.isComparing { return }
    hosting.isComparing = true
    connection.loop.task { [connection] in
      while self.hosting.changed != nil {
        await connection.loop.sleep(for: .milliseconds(200))
        let changed = (self.hosting.changed ?? []).union(self.entriesOfLostWindows)
        self.hosting.changed = nil
        await self.compare(changed)
      }
      self.hosting.isComparing = false
    }
  }

  /// The applications of sessions whose windows have gone.
  private var entriesOfLostWindows: [String] {
    hosting.sessions.values.filter { $0.window.map { windows[$0] == nil } ?? false }
      .compactMap { hosting.registered[$0.application]?.manifest.entry }
  }

  /// Lets sessions say what the windows show: windows that certainly show a file get sessions, and what is no longer true is no longer said.
  private func compare(_ entries: Set<String>) async {
    defer { takeEvents() }
    for (identifier, known) in hosting.registered where entries.contains(known.manifest.entry) {
      guard let entry = installed.now.applications[known.manifest.entry] else { continue }
      var sight = sight()
      let documents = asKnown(documents(of: entry, in: &sight), to: identifier)
      let hasTabs = installed.now.habits.application(entry).habit == .findsFile
      for (path, hosted) in hosting.sessions where hosted.application == identifier {
        await compare(path, hosted, with: documents, hasTabs)
      }
      for (window, shown) in documents.sorted(by: { $0.key < $1.key }) where shown.level == .certain {
        let isKnown = hosting.sessions.values.contains { $0.application == identifier && $0.url == shown.url }
        if !isKnown, let number = WindowNumber(window), windows[number]?.application == known.manifest.entry,
          !closes(number, shown.url, of: known.manifest.entry)
        {
          await adopt(number, shown.url, of: identifier, at: known.path)
        }
      }
      for (path, hosted) in hosting.sessions where hosted.application == identifier {
        await tell(path, shown: hosted.window.flatMap { documents["\($0)"]?.url })
      }
    }
  }

  /// The documents under the URLs of the application's sessions, where they are the same files: a session has the path that the person used, and the
  /// kernel tells the one behind its links.
  private func asKnown(
    _ documents: [String: (url: String, level: Level)], to application: String
  ) -> [String: (url: String, level: Level)] {
    func file(_ url: String) -> Bytes? { FileURL.path(of: Text(url)).flatMap { LinkTarget.last(of: $0) } }
    let known = Set(hosting.sessions.values.filter { $0.application == application }.compactMap(\.url))
    return documents.mapValues { shown in
      if known.contains(shown.url) { return shown }
      let same = file(shown.url).flatMap { place in known.first { file($0) == place } }
      return (same ?? shown.url, shown.level)
    }
  }

  private func compare(
    _ path: ObjectPath, _ hosted: HostedSession, with documents: [String: (url: String, level: Level)], _ hasTabs: Bool
  ) async {
    let showing = documents.filter { $0.value.url == hosted.url }.keys.compactMap { WindowNumber($0) }
    // Of several windows that show the document, the session keeps its own.
    if let window = showing.first(where: { $0 == hosted.window }) ?? showing.min() {
      hosting.sessions[path]?.window = window
      return
    }
    guard let window = hosted.window else { return }
    guard windows[window] != nil else {
      hosting.sessions[path] = nil
      try? await connection.call(to: Self.service, at: path, Self.session, "Disconnect") as ()
      return
    }
    // The title of a window with tabs names one of its documents.
    if hasTabs || hosted.url == nil && documents["\(window)"] == nil { return }
    let url = documents["\(window)"]?.url
    hosting.sessions[path]?.url = url
    await set("UserActivity", url.map(Self.activity) ?? "", of: path)
    await remember(url, in: path)
  }

  /// The document that the session gets back when its window was closed.
  private func remember(_ url: String?, in session: ObjectPath) async {
    await set("StateRestorationActivity", url.map(Self.activity) ?? "", of: session)
  }

  private func adopt(_ window: WindowNumber, _ url: String, of identifier: String, at application: ObjectPath) async {
    let title = String(decoding: windows[window]?.shown.title ?? [], as: UTF8.self)
    guard
      let path: ObjectPath = try? await connection.call(
        to: Self.service, at: application, "org.stagedoor.Application1", "AdoptSession", "", Self.activity(url), title)
    else { return }
    hosting.sessions[path] = HostedSession(
      application: identifier, url: url, window: window, told: HostedSession.Told(title: title))
    await remember(url, in: path)
  }

  /// Tells the title and the state of a session's window. A document in a tab behind another keeps its last title, and is in the background.
  /// `shown` is the document that the window shows, if it is known.
  private func tell(_ path: ObjectPath, shown: String?) async {
    guard let hosted = hosting.sessions[path], hosted.isConnected, let window = hosted.window,
      let seen = windows[window]
    else { return }
    var now = hosted.told
    if shown == nil || shown == hosted.url {
      now.title = String(decoding: seen.shown.title, as: UTF8.self)
      now.state = display.active == window ? "foregroundActive" : "foregroundInactive"
    } else {
      now.state = "background"
    }
    if now == hosted.told { return }
    hosting.sessions[path]?.told = now
    if now.title != hosted.told.title { await set("Title", now.title, of: path) }
    if now.state == hosted.told.state { return }
    do {
      try await connection.call(to: Self.service, at: path, Self.session, "SetState", now.state) as ()
      hosting.sessions[path]?.refusals = 0
    } catch {
      // The service may not have read the answer to its delivery yet; another host may have taken over.
      hosting.sessions[path]?.told.state = hosted.told.state
      hosting.sessions[path]?.refusals += 1
      if hosted.refusals < 20 { windowsChanged(of: hosting.registered[hosted.application]?.manifest.entry) }
    }
  }

  private func set(_ property: MemberName, _ value: String, of path: ObjectPath) async {
    try? await connection.object(Self.service, at: path, Self.session).set(property, to: value)
  }

  private static func activity(_ url: String) -> String {
    JSONObjectWriter.text { fields in
      fields["activityType"] = "org.stagedoor.understudy.document"
      fields["targetContentIdentifier"] = Text(url)
    }.string
  }
}

extension CallError {
  /// Whether the service has decided against what it was asked, and would do so again.
  fileprivate var isRefusal: Bool {
    guard case .replied(let error) = self else { return false }
    let refusals: [ErrorName] = [
      "org.stagedoor.Error.RequestDenied", "org.stagedoor.Error.NotHost", "org.stagedoor.Error.InvalidManifest",
      "org.stagedoor.Error.InvalidPredicate", .accessDenied, .invalidArgs, .unknownMethod,
    ]
    return refusals.contains(error.name)
  }
}
