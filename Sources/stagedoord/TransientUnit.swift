import DBus
import SceneModel

/// An application that the user's systemd starts, as `systemd-run --user` does. A child process of ours would live in our sandbox, and end
/// with us. See `docs/decisions/0005-the-units-sandbox.md`.
struct TransientUnit: Sendable {
  static let systemd: BusName = "org.freedesktop.systemd1"
  private static let unitInterface: InterfaceName = "org.freedesktop.systemd1.Unit"
  /// How long a unit may take to begin, that is, to run its program: as long as a call may take.
  private static let begunBy = Duration.seconds(25)

  let connection: Connection
  let name: String

  init(for application: Text, on connection: Connection) {
    self.connection = connection
    // The other characters of an identifier are letters, digits, "." and "_".
    let identifier = application.string.replacing("-", by: #"\x2d"#)
    name = "app-stagedoor-\(identifier)@\(String(UInt32.random(in: .min ... .max), radix: 16)).service"
  }

  /// Whether a systemd is on the bus.
  static func isPossible(on connection: Connection) async -> Bool {
    (try? await connection.owner(of: systemd)) != nil
  }

  /// Returns when the unit has ended, with the reason if it did not begin or failed.
  func run(_ words: [String], _ environment: [String], about application: Text) async -> String? {
    let manager = connection.object(Self.systemd, at: "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
    do throws(CallError) {
      // systemd sends signals to subscribers only. The error that we have subscribed already is harmless.
      do { try await manager.call("Subscribe") } catch .replied {}
      let removed = try await manager.signals("JobRemoved")
      // systemd forgets a unit that has failed, so its end is followed from before its beginning.
      let unit = connection.object(Self.systemd, at: path, Self.unitInterface)
      let changes = try await unit.propertyChanges()
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
      return await end(unit, changes)
    } catch {
      return "systemd could not start \(name): \(error)"
    }
  }

  private func properties(
    _ words: [String], _ environment: [String], about application: Text
  ) -> [Structure<String, Variant>] {
    // env looks up the program on the PATH that the unit gets. A dollar sign names no variable.
    let command = Structure(
      "/usr/bin/env", ["/usr/bin/env", "--"] + words.map { $0.replacing("$", by: "$$") }, false)
    return [
      Structure("Description", "\(application), for what was dropped".variant), Structure("Type", "exec".variant),
      Structure("Slice", "app.slice".variant), Structure("CollectMode", "inactive-or-failed".variant),
      Structure("Environment", environment.variant), Structure("ExecStart", [command].variant),
    ]
  }

  /// The path of the unit's object, which follows from its name.
  private var path: ObjectPath {
    let units: ObjectPath = "/org/freedesktop/systemd1/unit"
    return units.appending(label: name)
  }

  private func end(_ unit: RemoteObject, _ changes: SignalStream) async -> String? {
    // A unit that is gone already has told its last state.
    var state: String? = try? await unit.get("ActiveState")
    if state == "inactive" { state = nil }
    let seen = changes.makeAsyncIterator()
    while state != "failed", state != "inactive", let signal = await seen.next() {
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
