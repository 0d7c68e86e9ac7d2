import DBus
import DesktopFiles
import SceneModel
import ServiceSupport
import WindowEvidence

/// The sessions of the documents that windows show, and what the service is told of them.
extension Understudy {
  private static let session: InterfaceName = "org.stagedoor.SceneSession1"

  /// Notes that windows of an application, or of any, have come, gone, or got other titles. Their sessions follow a little later, together.
  func windowsChanged(of entry: String? = nil) {
    if hosting.service == nil { return }
    hosting.changed = (hosting.changed ?? []).union(entry.map { [$0] } ?? windows.values.compactMap(\.application))
    if hosting.isComparing { return }
    hosting.isComparing = true
    connection.loop.task { [connection] in
      while self.hosting.changed != nil {
        await connection.loop.sleep(for: .milliseconds(200))
        let lost = self.hosting.sessions.values.filter(self.isLost).map(\.entry)
        let changed = (self.hosting.changed ?? []).union(lost)
        self.hosting.changed = nil
        await self.compare(changed)
      }
      self.hosting.isComparing = false
    }
  }

  /// Whether a session's window has gone; or whether the session never had one that is known, and nothing is there that may have it or bring it.
  func isLost(_ hosted: HostedSession) -> Bool {
    if hosted.window != nil { return window(of: hosted) == nil }
    return hosted.isConnected && hosted.opened + startTime <= .now && !isPresent(hosted.entry)
  }

  /// Whether an application has a window, or a program of its that was started here still runs and has shown none.
  private func isPresent(_ entry: String) -> Bool {
    windows.values.contains { $0.application == entry } || starts.contains { $0.application == entry && runs($0) }
  }

  /// The window of a session. Its number may belong to another application's window by now.
  func window(of hosted: HostedSession) -> WindowNumber? {
    hosted.window.flatMap { windows[$0]?.application == hosted.entry ? $0 : nil }
  }

  private typealias Shown = (document: DocumentPlace, level: Level)

  /// Lets sessions say what the windows show: windows that certainly show a file get sessions, and what is no longer true is no longer said.
  private func compare(_ entries: Set<String>) async {
    defer { takeEvents() }
    for (identifier, known) in hosting.registered where entries.contains(known.manifest.entry) {
      guard let entry = installed.now.applications[known.manifest.entry] else { continue }
      var sight = sight()
      let shown: [WindowNumber: Shown] = documents(of: entry, in: &sight).mapValues {
        (DocumentPlace($0.url), $0.level)
      }
      noteSecrets(in: shown, of: known.manifest.entry)
      noteClosed()
      // Titles of the same moment: a private delivery may come to a window while the service is told.
      let titles = sight.windows.reduce(into: [:]) { titles, window in
        titles[window.number] = String(decoding: window.seen.shown.title, as: UTF8.self)
      }
      let hasTabs = installed.now.habits.application(entry).habit == .findsFile
      for (path, hosted) in hosting.sessions where hosted.application == identifier {
        await compare(path, with: shown, hasTabs)
      }
      for (window, found) in shown.sorted(by: { $0.key < $1.key }) where found.level == .certain {
        // The window may have gone while another was adopted.
        if windows[window]?.application != known.manifest.entry || isKnown(found.document, to: identifier)
          || isSecret(found.document.url, of: known.manifest.entry) || isSecret(window)
          || isClosed(window, found.document, of: known.manifest.entry)
        {
          continue
        }
        await adopt(window, found.document, titles[window] ?? "", of: known.manifest, at: known.path)
      }
      for (path, hosted) in hosting.sessions where hosted.application == identifier {
        await tell(
          path, shown: hosted.window.flatMap { shown[$0]?.document }, title: hosted.window.flatMap { titles[$0] })
      }
      if hosting.pauses[known.manifest.entry]?.isWaiting == false { hosting.pauses[known.manifest.entry] = nil }
    }
  }

  private func isKnown(_ document: DocumentPlace, to application: String) -> Bool {
    hosting.sessions.values.contains { $0.application == application && $0.document?.isSame(as: document) ?? false }
  }

  private func compare(_ path: ObjectPath, with shown: [WindowNumber: Shown], _ hasTabs: Bool) async {
    // A delivery may have come while another session was compared.
    guard let hosted = hosting.sessions[path] else { return }
    let showing = shown.filter { hosted.document?.isSame(as: $0.value.document) ?? false }.keys
    // Of several windows that show the document, the session keeps its own.
    if let window = showing.first(where: { $0 == hosted.window }) ?? showing.min() {
      hosting.sessions[path]?.window = window
      return
    }
    if isLost(hosted) {
      let isTaken = await takes(hosted) {
        try await connection.call(to: Self.service, at: path, Self.session, "Disconnect") as ()
      }
      if isTaken { hosting.sessions[path] = nil }
      return
    }
    // The title of a window with tabs names one of its documents.
    if let window = hosted.window, !hasTabs { hosting.sessions[path]?.document = shown[window]?.document }
  }

  private func adopt(
    _ window: WindowNumber, _ document: DocumentPlace, _ title: String, of manifest: DerivedManifest,
    at application: ObjectPath
  ) async {
    let hosted = HostedSession(
      application: manifest.identifier, entry: manifest.entry, document: document, window: window,
      told: HostedSession.Told(url: document.url, title: title))
    _ = await takes(hosted) {
      let path: ObjectPath = try await connection.call(
        to: Self.service, at: application, "org.stagedoor.Application1", "AdoptSession", "",
        Self.activity(document.url), title)
      hosting.sessions[path] = hosted
    }
  }

  // MARK: Telling

  /// Tells the file that the session gets back when its window was closed.
  func tellRestoration(_ path: ObjectPath) async {
    guard let hosted = hosting.sessions[path], let url = said(of: hosted) else { return }
    let document = url.map { Self.activity($0, isPrivate: isSecret($0, of: hosted.entry)) } ?? ""
    if document == hosted.told.restoration { return }
    if await set("StateRestorationActivity", document, of: path, hosted) {
      hosting.sessions[path]?.told.restoration = document
    }
  }

  /// Tells the file that a session shows, and the title and the state of its window. A document in a tab behind another keeps its last title, and is in
  /// the background. `shown` is the document that the window shows, if it is known, and `title` the title with it.
  private func tell(_ path: ObjectPath, shown: DocumentPlace?, title: String?) async {
    guard let hosted = hosting.sessions[path], hosted.isConnected else { return }
    if let url = said(of: hosted), url != hosted.told.url,
      await set("UserActivity", url.map { Self.activity($0) } ?? "", of: path, hosted),
      // A delivery may have come meanwhile.
      hosting.sessions[path]?.told.url == hosted.told.url
    {
      hosting.sessions[path]?.told.url = url
    }
    // What is secret is told with its delivery only: until its host has heard of the next one, a session may be public without its knowledge.
    if !isSecret(hosting.sessions[path]?.told.url, of: hosted.entry) { await tellRestoration(path) }
    // A window that has come since is compared again.
    guard let window = window(of: hosted), let title else { return }
    var now = hosted.told
    let isShown = shown.map { hosted.document?.isSame(as: $0) ?? false }
    if isShown ?? true {
      let isHidden =
        isShown == nil
        ? mayBeSecret(window, of: hosted.entry)
        : isSecret(hosted.url, of: hosted.entry) || said(of: hosted) != .some(hosted.url)
      if !isHidden { now.title = title }
      now.state = display.active == window ? "foregroundActive" : "foregroundInactive"
    } else {
      now.state = "background"
    }
    if now.title != hosted.told.title, await set("Title", now.title, of: path, hosted) {
      hosting.sessions[path]?.told.title = now.title
    }
    if now.state == hosted.told.state { return }
    // The service may not have read the answer to its delivery yet, and then says that the session is not connected.
    let isTaken = await takes(hosted, unless: .invalidArgs) {
      try await connection.call(to: Self.service, at: path, Self.session, "SetState", now.state) as ()
    }
    if isTaken { hosting.sessions[path]?.told.state = now.state }
  }

  private func set(
    _ property: MemberName, _ value: String, of path: ObjectPath, _ hosted: HostedSession
  ) async -> Bool {
    await takes(hosted) { try await connection.object(Self.service, at: path, Self.session).set(property, to: value) }
  }

  /// Whether the service has taken what it is told of a session, or will never take it. It may also have no space on its disk, or not answer in time: the
  /// session is then compared again, after pauses that grow.
  private func takes(
    _ hosted: HostedSession, unless passing: ErrorName? = nil, _ tell: () async throws -> Void
  ) async -> Bool {
    do {
      try await tell()
      return true
    } catch CallError.replied(let error)
      where error.name != passing && error.name != "org.stagedoor.Error.StorageFailed" && error.name != .noReply
    {
      return true
    } catch CallError.disconnected {
      // The bus has gone, and the understudy goes too.
      return false
    } catch {
      askAgain(hosted.entry) { self.windowsChanged(of: hosted.entry) }
      return false
    }
  }

  private static func activity(_ url: String, isPrivate: Bool = false) -> String {
    JSONObjectWriter.text { fields in
      fields["activityType"] = "org.stagedoor.understudy.document"
      fields["targetContentIdentifier"] = Text(url)
      if isPrivate { fields.set("userInfo", ["private": true]) }
    }.string
  }

  // MARK: Private deliveries

  // A session that was given a private file is private in the service, which hides what its host tells until the host reports another content. Nothing
  // hides what is said of other windows, and of the same window when it shows something else. So a window that has shown a private file is said to show
  // what a delivery gives to its sessions, and nothing else; and it gets no session.

  /// Keeps a file of a private delivery secret, before it is opened, unless a session of another delivery shows it to everyone.
  func keepSecret(_ document: DocumentPlace, of entry: String, but session: ObjectPath) {
    let isPublic = hosting.sessions.contains { path, hosted in
      path != session && hosted.entry == entry && hosted.document?.isSame(as: document) ?? false
    }
    if isPublic { return }
    let former = hosting.secrets.firstIndex { $0.application == entry && $0.document.isSame(as: document) }
    let windows = former.map { hosting.secrets.remove(at: $0).windows } ?? []
    hosting.secrets.append(SecretDocument(application: entry, document: document, windows: windows))
    if hosting.secrets.count > Hosting.mostSecrets { hosting.secrets.removeFirst() }
  }

  /// A public delivery has said it to everyone.
  func reveal(_ document: DocumentPlace, of entry: String) {
    hosting.secrets.removeAll { $0.application == entry && $0.document.isSame(as: document) }
  }

  /// Notes the windows that show files of private deliveries, and forgets the files whose windows have gone.
  private func noteSecrets(in shown: [WindowNumber: Shown], of entry: String) {
    hosting.secrets = hosting.secrets.compactMap { secret in
      var now = secret
      now.windows = secret.windows.filter { windows[$0]?.application == secret.application }
      if secret.application == entry {
        now.windows.formUnion(shown.filter { secret.document.isSame(as: $0.value.document) }.keys)
      }
      let mayCome = secret.windows.isEmpty && (secret.since + startTime > .now || isPresent(secret.application))
      return now.windows.isEmpty && !mayCome ? nil : now
    }
  }

  private func isSecret(_ url: String?, of entry: String) -> Bool {
    guard let url, hosting.secrets.contains(where: { $0.application == entry }) else { return false }
    let document = DocumentPlace(url)
    return hosting.secrets.contains { $0.application == entry && $0.document.isSame(as: document) }
  }

  private func isSecret(_ window: WindowNumber) -> Bool { hosting.secrets.contains { $0.windows.contains(window) } }

  /// Whether a window may show something secret, if its document is unknown.
  private func mayBeSecret(_ window: WindowNumber, of entry: String) -> Bool {
    hosting.secrets.contains { $0.application == entry && ($0.windows.isEmpty || $0.windows.contains(window)) }
  }

  /// What a session may be said to show: nothing in the place of a secret; `nil` if nothing may be said, because the session would not be private any more.
  private func said(of hosted: HostedSession) -> String?? {
    let given = hosted.told.url
    if hosted.url == given { return .some(given) }
    let isHidden =
      hosted.url == nil || isSecret(hosted.url, of: hosted.entry) || hosted.window.map { isSecret($0) } ?? false
    if isHidden { return isSecret(given, of: hosted.entry) ? .none : .some(nil) }
    return .some(hosted.url)
  }

  // MARK: Closed

  /// Asks the window to close, as its own button does. A window that others share stays.
  func close(_ session: ObjectPath) {
    guard let hosted = hosting.sessions.removeValue(forKey: session) else { return }
    let window = window(of: hosted)
    hosting.closed.append(
      ClosedDocument(application: hosted.entry, document: hosted.document, window: window))
    if let window, !isShared(window) { display.close(window) }
    takeEvents()
  }

  private func isShared(_ window: WindowNumber) -> Bool { hosting.sessions.values.contains { $0.window == window } }

  /// Forgets the closed documents whose windows have gone, or have had the time to come or go.
  private func noteClosed() {
    for place in hosting.closed.indices {
      let closed = hosting.closed[place]
      guard let process = closed.window.flatMap({ windows[$0]?.shown.process }) else { continue }
      hosting.closed[place].isAsking = windows.values.contains {
        !$0.shown.isMain && $0.shown.process == process && $0.appeared > closed.asked
      }
      // From the last look until now there was a dialog.
      if closed.isAsking { hosting.closed[place].since = .now }
    }
    hosting.closed.removeAll { closed in
      closed.since + startTime < .now && !closed.isAsking
        || closed.window.map { windows[$0]?.application != closed.application } ?? false
    }
  }

  /// Whether a window shows a document whose session was closed. If it has only come now, it is asked to close.
  private func isClosed(_ window: WindowNumber, _ document: DocumentPlace, of application: String) -> Bool {
    for place in hosting.closed.indices where hosting.closed[place].application == application {
      let closed = hosting.closed[place]
      let isSame = closed.document?.isSame(as: document) ?? false
      // A window that closes may show another of its documents, and ask about that.
      if closed.window == window, isSame || !isShared(window) { return true }
      if closed.window == nil, isSame, !isShared(window) {
        hosting.closed[place] = ClosedDocument(application: application, document: closed.document, window: window)
        display.close(window)
        return true
      }
    }
    return false
  }

  /// Somebody wants the document after its session was closed.
  func keep(_ url: String, of application: String) {
    if hosting.closed.isEmpty { return }
    let document = DocumentPlace(url)
    hosting.closed.removeAll { $0.application == application && $0.document?.isSame(as: document) ?? false }
  }
}
