import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

/// The commands that declare applications: for as long as the service runs, or for good.
enum ManifestCommands {
  static func register(_ invocation: Invocation) async throws {
    let path = invocation.arguments[0]
    let file = try ManifestFile(path, defining: invocation.all(.define))
    guard let text = String(validating: file.bytes, as: UTF8.self) else {
      throw Problem.failed("\(path.printable) is binary; `plutil` or `plistutil` makes XML of it")
    }
    let client = try await Client(invocation)
    // The service has the last word. But only here one can define a variable, so the fault is looked for here too.
    if case .failure(let faults) = file.parsed, case let sentences = file.sentences(faults),
      sentences != faults.all.map({ "\($0)" })
    {
      throw Problem(.refused, sentences.joined(separator: "\n"))
    }
    try await client.stagedoor.register(manifest: text)
    if case .success(let manifest) = file.parsed {
      try Change.say("registered", manifest.identifier.string, manifest.name.string, invocation)
    }
  }

  static func unregister(_ invocation: Invocation, _ client: Client) async throws {
    let application = try await client.application(invocation.arguments[0])
    try await client.stagedoor.unregister(application)
    try Change.say("unregistered", application, "", invocation)
  }

  private static func directory() throws(Problem) -> String {
    guard let data = Directories.userData() else {
      throw .failed("there is no directory for manifests: set HOME, or XDG_DATA_HOME to an absolute path")
    }
    return "\(data)/stagedoor/applications"
  }

  static func install(_ invocation: Invocation) async throws {
    let directory = try directory()
    var files: [(manifest: Manifest, bytes: [UInt8], place: String, other: String)] = []
    // All manifests are checked before the first is installed.
    for path in invocation.arguments {
      let file = try ManifestFile(path, defining: invocation.all(.define))
      switch file.parsed {
      case .failure(let faults):
        throw Problem.failed(
          "\(path.printable) is not installed: \(file.sentences(faults)[0]); `stagedoor check` lists every fault")
      case .success(let manifest):
        let place = "\(directory)/\(manifest.identifier)"
        let ends = file.isJSON ? [".json", ".plist"] : [".plist", ".json"]
        files.append((manifest, file.bytes, place + ends[0], place + ends[1]))
      }
    }
    try OutputFile.makeDirectory(directory)
    let service = await RunningService(invocation)
    var (changed, unsure): (Set<String>, Set<String>) = ([], [])
    for file in files {
      let identifier = file.manifest.identifier.string
      let isKnown = await service?.file(of: identifier) == file.place
      let before = try? ManifestFile(file.place).parsed.get()
      if !isKnown || before != file.manifest { changed.insert(identifier) }
      // Of a broken file the service has the version before. If that is the same, the service has nothing to announce.
      if isKnown, before == nil, await service?.hasTypes(of: file.manifest) ?? false { unsure.insert(identifier) }
      try OutputFile.write(file.bytes, to: file.place)
      // Of two files of one application, the service would read only the ".json".
      if unlink(file.other) != 0, errno != ENOENT { throw Problem.failed("\(file.other): \(InputFile.reason)") }
      try Change.say("installed", identifier, file.place, invocation)
    }
    try Output.flush()
    if let service, case let unread = await service.unread(of: changed), let first = unread.subtracting(unsure).min() {
      let reason =
        await service.file(of: first)?.hasPrefix("\(directory)/") ?? false
        ? "has announced no change of \(first) within five seconds" : "does not read \(directory); restart it"
      Output.note("stagedoor install-manifest: the running service \(reason)")
    }
  }

  static func uninstall(_ invocation: Invocation) async throws {
    let directory = try directory()
    for name in invocation.arguments where !ApplicationIdentifier.isValid(Text(name)) {
      throw Problem.usage("\(name.printable) is not an application's identifier such as org.example.Gallery")
    }
    let service = await RunningService(invocation)
    for name in invocation.arguments {
      var removed: [String] = []
      for path in [".json", ".plist"].map({ "\(directory)/\(name)\($0)" }) {
        if unlink(path) == 0 {
          removed.append(path)
        } else if errno != ENOENT {
          throw Problem.failed("\(path): \(InputFile.reason)")
        }
      }
      guard let file = removed.first else {
        throw Problem.failed("no manifest of \(name.printable) is installed in \(directory)")
      }
      try Change.say("uninstalled", name, file, invocation)
    }
    try Output.flush()
    if let service, case let kept = await service.kept(of: invocation.arguments, in: directory), let first = kept.first
    {
      Output.note(
        "stagedoor uninstall-manifest: the running service still knows \(first) after five seconds; restart it")
    }
  }
}

/// The running service. It reads manifests by itself, a moment after they change, and announces each application that is new, has changed or has gone.
/// The next command of the caller needs a service that has done so.
private struct RunningService {
  private let stagedoor: Stagedoor
  private let announcements: SignalStream
  private let loop: EventLoop

  /// The longest time that the service gets: it waits until nobody has written for a moment, but no longer than a second.
  private static let patience = Duration.seconds(5)

  /// `nil` if no service runs, for this starts none, or if the service does not answer, which is said.
  init?(_ invocation: Invocation) async {
    guard let loop = invocation.loop, let client = try? await Client(invocation),
      let running = await client.stagedoor.withoutStarting(),
      let announcements = try? await client.stagedoor.connection.signals(
        MatchRule(sender: Client.service, pathNamespace: "/org/stagedoor/Interchange1"))
    else { return nil }
    (stagedoor, self.announcements, self.loop) = (running, announcements, loop)
    if await limited({ @Sendable in (try? await running.version()) != nil }) { return }
    Output.note("stagedoor \(invocation.command.name): the running service does not answer within five seconds")
    return nil
  }

  /// The file from which the service has read an application; `nil` without such an application.
  func file(of identifier: String) async -> String? {
    await limited { @Sendable in (try? await stagedoor.application(identifier))?.manifestPath }
  }

  /// Whether the service knows an application with the same types and configurations.
  func hasTypes(of manifest: Manifest) async -> Bool {
    let identifier = manifest.identifier.string
    let known = await limited { @Sendable in try? await stagedoor.application(identifier) }
    return known?.activityTypes.sorted() == manifest.activityTypes.map(\.string).sorted()
      && known?.configurations.map(\.name) == manifest.configurations.map(\.name.string)
  }

  /// Waits until the service has announced a manifest of each application. Returns those that it has not.
  func unread(of identifiers: Set<String>) async -> Set<String> {
    await limited { @Sendable in
      let announcements = announcements.makeAsyncIterator()
      var unread = identifiers
      while !unread.isEmpty, let signal = await announcements.next() {
        if let identifier = RunningService.announced(by: signal) { unread.remove(identifier) }
      }
      return unread
    }
  }

  /// Waits until the service knows none of these from a file in the directory. Returns those that it still knows.
  func kept(of identifiers: [String], in directory: String) async -> [String] {
    await limited { @Sendable in
      let announcements = announcements.makeAsyncIterator()
      var kept = identifiers
      while true {
        var still: [String] = []
        for identifier in kept where await file(of: identifier)?.hasPrefix("\(directory)/") ?? false {
          still.append(identifier)
        }
        // A question that was cancelled has no answer.
        if Task.isCancelled { return kept }
        kept = still
        if kept.isEmpty { return [] }
        if await announcements.next() == nil { return kept }
      }
    }
  }

  private func limited<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
    let waiting = loop.task { @Sendable () async -> Value in await body() }
    let timer = loop.task { @Sendable () async -> Void in
      await loop.sleep(for: RunningService.patience)
      waiting.cancel()
    }
    defer { timer.cancel() }
    return await waiting.value
  }

  /// The application whose manifest is new or has changed.
  private static func announced(by signal: ReceivedSignal) -> String? {
    switch signal.member {
    case "InterfacesAdded":
      return (try? signal.variants().first).flatMap { if case .objectPath(let path) = $0 { path.label } else { nil } }
    case "PropertiesChanged":
      // This also tells when the host of an application comes and goes.
      guard let (_, changed, hidden) = try? signal.values(as: String.self, [String: Variant].self, [String].self),
        changed["ActivityTypes"] != nil || hidden.contains("ActivityTypes")
      else { return nil }
      return signal.path.label
    default: return nil
    }
  }
}
