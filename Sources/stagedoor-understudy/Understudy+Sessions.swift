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
  func remember(_ url: String?, in session: ObjectPath) async {
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
  ///
  /// - Parameter shown: The document that the window shows, if it is known.
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

  // MARK: Closed

  /// Asks the window to close, as its own button does. A window that others share stays.
  func close(_ session: ObjectPath) {
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
}
