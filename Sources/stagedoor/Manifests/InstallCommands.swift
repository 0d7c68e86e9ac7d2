import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

enum InstallCommands {
  private static func directory() throws(Problem) -> String {
    guard let data = Directories.userData() else {
      throw .failed("there is no place to install it: set HOME, or XDG_DATA_HOME to an absolute path")
    }
    return "\(data)/stagedoor/applications"
  }

  static func install(_ invocation: Invocation) async throws -> Status {
    let directory = try directory()
    var files: [(bytes: [UInt8], name: String, identifier: String)] = []
    // All manifests are checked before the first is installed.
    for path in invocation.arguments {
      switch try ManifestFile.read(path) {
      case .failure(let faults):
        throw Problem.failed(
          "\(path.printable) is not installed: \(faults.all[0]); `stagedoor check` lists every fault")
      case .success(let manifest):
        let bytes = try InputFile.read(path, limit: Limits.manifest)
        let identifier = manifest.identifier.string
        files.append((bytes, identifier + (ManifestFile.isJSON(bytes) ? ".json" : ".plist"), identifier))
      }
    }
    try makeDirectory(directory)
    let service = await RunningService(invocation)
    for file in files {
      let place = "\(directory)/\(file.name)"
      try OutputFile.write(file.bytes, to: place)
      // Of two files of one application, the service would read only the ".json".
      let other = "\(directory)/\(file.identifier)" + (file.name.hasSuffix(".json") ? ".plist" : ".json")
      if unlink(other) != 0, errno != ENOENT { throw Problem.failed("\(other): \(InputFile.reason)") }
      if !invocation.has(.quiet) { try Output.line(place.printable) }
    }
    try Output.flush()
    if let service, await !service.knows(files.map(\.identifier)) {
      Output.note("stagedoor install-manifest: the running service does not read \(directory); restart it")
    }
    return .done
  }

  static func uninstall(_ invocation: Invocation) async throws -> Status {
    let directory = try directory()
    for name in invocation.arguments {
      guard ApplicationIdentifier.isValid(Text(name)) else {
        throw Problem.usage("\(name.printable) is not an application's identifier such as org.example.Gallery")
      }
      var found = false
      for end in [".json", ".plist"] {
        if unlink("\(directory)/\(name)\(end)") == 0 {
          found = true
        } else if errno != ENOENT {
          throw Problem.failed("\(directory)/\(name)\(end): \(InputFile.reason)")
        }
      }
      if !found {
        throw Problem.failed("no manifest of \(name.printable) is installed in \(directory)")
      }
    }
    return .done
  }

  private static func makeDirectory(_ path: String) throws(Problem) {
    var whole = ""
    for part in path.split(separator: "/") {
      whole += "/\(part)"
      if mkdir(whole, 0o777) != 0, errno != EEXIST, errno != EISDIR { throw .failed("\(whole): \(InputFile.reason)") }
    }
  }
}

/// The running service. It reads newly installed manifests by itself, a moment later.
private struct RunningService {
  private let stagedoor: Stagedoor
  /// The signals for added and removed applications.
  private let changes: SignalStream
  private let loop: EventLoop

  /// `nil` if no service runs: this does not start one.
  init?(_ invocation: Invocation) async {
    guard let loop = invocation.loop, let client = try? await Client(invocation),
      (try? await client.stagedoor.connection.owner(of: "org.stagedoor.Interchange1")) ?? nil != nil,
      let changes = try? await client.stagedoor.connection.signals(
        MatchRule(
          sender: "org.stagedoor.Interchange1", path: "/org/stagedoor/Interchange1",
          interface: "org.freedesktop.DBus.ObjectManager"))
    else { return nil }
    (stagedoor, self.changes, self.loop) = (client.stagedoor, changes, loop)
  }

  /// Waits until the service knows the applications, for the caller's next command. A service that reads another directory never knows them.
  func knows(_ identifiers: [String]) async -> Bool {
    let (stagedoor, changes, loop) = (stagedoor, changes, loop)
    let waiting = loop.task { @Sendable () async -> Bool in
      let changes = changes.makeAsyncIterator()
      repeat {
        let known = (try? await stagedoor.applications().map(\.identifier)) ?? []
        if identifiers.allSatisfy({ known.contains($0) }) { return true }
      } while await changes.next() != nil
      return false
    }
    let timer = loop.task { @Sendable () async -> Void in
      await loop.sleep(for: .seconds(5))
      waiting.cancel()
    }
    defer { timer.cancel() }
    return await waiting.value
  }
}
