import DBus
import DesktopFiles
import SceneModel
import ServiceSupport
import WindowEvidence

/// The understudy as a host: it registers the installed applications with the service, and opens what is dropped on them.
extension Understudy {
  static let service: BusName = "org.stagedoor.Interchange1"
  private static let root: ObjectPath = "/org/stagedoor/Interchange1"
  private static let hosts: ObjectPath = "/org/stagedoor/Understudy1/hosts"

  private nonisolated var interchange: RemoteObject {
    connection.object(Self.service, at: Self.root, "org.stagedoor.Interchange1")
  }

  /// Takes part in the service whenever it runs, and starts it once.
  func takePart() async {
    guard let removed = try? await connection.signals(Self.removals),
      let changed = try? await connection.signals(Self.changes),
      let owners = try? await connection.owners(of: Self.service)
    else { return }
    let losses = [removed, changed].map { signals in
      connection.loop.task { for await signal in signals { await self.noteLoss(signal) } }
    }
    defer { for loss in losses { loss.cancel() } }
    let _: UInt32? = try? await connection.call(
      to: .bus, at: .bus, .bus, "StartServiceByName", "\(Self.service)", UInt32(0))
    for await owner in owners where owner != hosting.service {
      hosting.service = owner
      // A service that has just started knows none of them, and asks nothing behind the deliveries of the one before.
      hosting.registered = [:]
      hosting.pauses = [:]
      for path in hosting.sessions.keys { hosting.sessions[path]?.broughtBy = nil }
      await updateManifests()
    }
  }

  // MARK: Applications

  private static let applicationInterface: InterfaceName = "org.stagedoor.Application1"
  private static let removals = MatchRule(
    sender: service, interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved")
  private static let changes = MatchRule(
    sender: service, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
    arguments: [0: "\(applicationInterface)"])

  /// Takes back an application that nobody stands in for any more: somebody has unregistered it, its own manifest has gone, or its program has left.
  private func noteLoss(_ signal: ReceivedSignal) async {
    guard let path = Self.lostApplication(signal) else { return }
    for (name, known) in hosting.registered where known.path == path { hosting.registered[name] = nil }
    await updateManifests()
  }

  /// The application that has gone, or has no host now.
  private static func lostApplication(_ signal: ReceivedSignal) -> ObjectPath? {
    if signal.member == "InterfacesRemoved" {
      guard let (path, interfaces) = try? signal.values(as: ObjectPath.self, [String].self),
        interfaces.contains("\(applicationInterface)")
      else { return nil }
      return path
    }
    guard let (_, values, _) = try? signal.values(as: String.self, [String: Variant].self, [String].self),
      let isAttached = values["HostAttached"].flatMap({ try? Bool($0) }), !isAttached
    else { return nil }
    return signal.path
  }

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
    if hasFailed { askAgain(nil) { await self.updateManifests() } } else { hosting.pauses[nil] = nil }
    for known in hosting.registered.values { windowsChanged(of: known.manifest.entry) }
  }

  /// The service may have no space on its disk, or not answer in time: it is asked again, after pauses that grow.
  func askAgain(_ entry: String?, _ ask: @escaping () async -> Void) {
    let former = hosting.pauses[entry]
    if former?.isWaiting ?? false { return }
    let pause = former.map { min($0.pause * 2, Hosting.longestPause) } ?? Hosting.firstPause
    hosting.pauses[entry] = (pause, true)
    let service = hosting.service
    connection.loop.task { [connection] in
      await connection.loop.sleep(for: pause)
      if self.hosting.service != service { return }
      self.hosting.pauses[entry]?.isWaiting = false
      await ask()
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
    for path in shown {
      hosting.sessions[path]?.told.title = ""
      hosting.sessions[path]?.told.state = HostedSession.Told().state
    }
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
    let isPrivate: Bool
    let token: String?
    let delivery: String?

    init(_ document: String) throws {
      let options = try JSON.value(Text(document))
      let items = options["items"]?.elements ?? []
      let dropped = items.flatMap { $0["representations"]?.elements ?? [] }.compactMap { $0["file"]?.string }
      // Only this activity is our own word: senders write the others, and a sandbox may name no file.
      let restored = options["stateRestorationActivity"]
      files = items.isEmpty ? [restored?["targetContentIdentifier"]?.string].compactMap(\.self) : dropped
      hasOthers = !items.isEmpty
      // A session whose window showed something private gets it back by a delivery that is not.
      isPrivate = options["private"]?.flag ?? false || items.isEmpty && restored?["userInfo"]?["private"]?.flag ?? false
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
        // The window that shows a private file may stay although a later file is refused.
        if handedOver.isPrivate { keepSecret(DocumentPlace(url), of: manifest.entry, but: session) }
        let (_, window) = try act(on: try await look(for: url, in: manifest.entry), handedOver.token)
        if !handedOver.isPrivate { reveal(DocumentPlace(url), of: manifest.entry) }
        guard url == first else { continue }
        var hosted =
          (isNew ? nil : hosting.sessions[session])
          ?? HostedSession(application: manifest.identifier, entry: manifest.entry)
        (hosted.isConnected, hosted.opened, hosted.told.url) = (false, .now, url)
        // The service removes the title with what is private.
        if handedOver.isPrivate { hosted.told.title = "" }
        // A window that the session has may go on showing another file.
        if self.window(of: hosted) == nil { (hosted.url, hosted.window) = (url, window) }
        hosting.sessions[session] = hosted
      }
    } catch {
      // The service forgets a session that was made for what is refused, and the window that shows the first file may have another.
      hosting.sessions[session] = before
      throw error
    }
    hosting.sessions[session]?.broughtBy = handedOver.delivery
    await tellRestoration(session)
    // This comes behind the answer to the service.
    connection.loop.task {
      self.hosting.sessions[session]?.isConnected = true
      self.windowsChanged(of: manifest.entry)
      // No change of a window may tell that none comes.
      await self.connection.loop.sleep(for: self.startTime)
      if self.hosting.sessions[session].map(self.isLost) ?? false { self.windowsChanged(of: manifest.entry) }
    }
  }

  private func bring(_ session: ObjectPath, of manifest: DerivedManifest, _ token: String?) async throws {
    func gone() -> ErrorReply { ErrorReply("org.stagedoor.Error.NoSuchSession", "\(session) has no window here") }
    guard let hosted = hosting.sessions[session] else { throw gone() }
    hosting.sessions[session]?.broughtBy = nil
    if let delivery = hosted.broughtBy, await isTaken(delivery) { return }
    if let url = hosted.url {
      do {
        _ = try act(on: try await look(for: url, in: manifest.entry), token)
        return
      } catch let error as ErrorReply
        where error.name == "org.freedesktop.DBus.Error.FileNotFound" && window(of: hosted) != nil
      {
        // Its window still shows the file that somebody has deleted.
      }
    }
    guard let window = window(of: hosted) else { throw gone() }
    try activate("\(window)", token)
  }

  /// Whether the service counts a delivery as taken, and so has asked for the front behind it.
  private func isTaken(_ delivery: String) async -> Bool {
    let (state, _) =
      (try? await interchange.call("GetDelivery", delivery, returning: String.self, String.self)) ?? ("", "")
    return ["handled", "forwarded"].contains(state)
  }

  private func forget(_ identifiers: [String]) {
    for identifier in identifiers {
      let name = identifier.map { $0 == "-" ? "_" : "\($0)" }.joined()
      if let path = try? ObjectPath("\(Self.root.rawValue)/session/\(name)") { hosting.sessions[path] = nil }
    }
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
