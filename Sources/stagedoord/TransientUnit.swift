import DBus
import SceneModel

/// An application that the user's systemd starts, as `systemd-run --user` does: what we started ourselves would live in our sandbox, and
/// end with us. `docs/decisions/0005-the-units-sandbox.md` says more.
struct TransientUnit: Sendable {
  static let systemd: BusName = "org.freedesktop.systemd1"
  private static let unitInterface: InterfaceName = "org.freedesktop.systemd1.Unit"
  /// How long a unit may take to begin, which is to run a program: as long as a call may take.
  private static let begunBy = Duration.seconds(25)

  let connection: Connection
  let name: String

  init(for application: Text, on connection: Connection) {
    self.connection = connection
    // An identifier has letters, digits, "." and "_" besides.
    let identifier = application.string.replacing("-", by: #"\x2d"#)
    name = "app-stagedoor-\(identifier)@\(String(UInt32.random(in: .min ... .max), radix: 16)).service"
  }

  /// Whether there is a systemd that could be asked.
  static func isPossible(on connection: Connection) async -> Bool {
    (try? await connection.owner(of: systemd)) != nil
  }

  /// Stays until it has ended. Answers why it did not begin, or did not end well.
  func run(_ words: [String], _ environment: [String], about application: Text) async -> String? {
    let manager = connection.object(Self.systemd, at: "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
    do throws(CallError) {
      // It tells its subscribers only. That we are one already is no error worth a word.
      do { try await manager.call("Subscribe") } catch .replied {}
      let removed = try await manager.signals("JobRemoved")
      let job: ObjectPath = try await manager.call(
        "StartTransientUnit", name, "fail", properties(words, environment, about: application),
        [Structure<String, [Structure<String, Variant>]>]())
      let loop = connection.loop
      let limit = loop.task {
        await loop.sleep(for: Self.begunBy)
        removed.cancel()
      }
      defer { limit.cancel() }
      var result: String?
      for await signal in removed {
        guard let (_, path, _, said) = try? signal.values(as: UInt32.self, ObjectPath.self, String.self, String.self),
          path == job
        else { continue }
        result = said
        break
      }
      guard let result else { return "systemd did not start \(name) within \(Self.begunBy.components.seconds) seconds" }
      if result != "done" { return "systemd could not start \(name): \(result)" }
      return try await end(manager)
    } catch {
      return "systemd could not start \(name): \(error)"
    }
  }

  private func properties(
    _ words: [String], _ environment: [String], about application: Text
  ) -> [Structure<String, Variant>] {
    // The program is looked for on the PATH that it is given, by env. No dollar names a variable.
    let command = Structure(
      "/usr/bin/env", ["/usr/bin/env", "--"] + words.map { $0.replacing("$", by: "$$") }, false)
    return [
      Structure("Description", "\(application), for what was dropped".variant), Structure("Type", "exec".variant),
      Structure("Slice", "app.slice".variant), Structure("CollectMode", "inactive-or-failed".variant),
      Structure("Environment", environment.variant), Structure("ExecStart", [command].variant),
    ]
  }

  private func end(_ manager: RemoteObject) async throws(CallError) -> String? {
    let path: ObjectPath
    do {
      path = try await manager.call("GetUnit", name)
    } catch .replied {
      // It is gone already.
      return nil
    }
    let unit = connection.object(Self.systemd, at: path, Self.unitInterface)
    let changes = try await unit.propertyChanges()
    var state: String? = try? await unit.get("ActiveState")
    let seen = changes.makeAsyncIterator()
    while state.map({ !["failed", "inactive"].contains($0) }) ?? false, let signal = await seen.next() {
      guard let (_, changed, _) = try? signal.values(as: String.self, [String: Variant].self, [String].self) else {
        continue
      }
      if let changed = changed["ActiveState"] { state = try? String(changed) }
    }
    return state == "failed" ? "\(name) ended in a failure; journalctl --user -u '\(name)' says more" : nil
  }
}

extension String {
  fileprivate func replacing(_ scalar: Unicode.Scalar, by text: String) -> String {
    unicodeScalars.reduce(into: "") { if $1 == scalar { $0 += text } else { $0.unicodeScalars.append($1) } }
  }
}
