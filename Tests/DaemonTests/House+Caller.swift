import DBus
import SceneModel
import Testing

extension House {
  /// Calls over an open connection, so that the service has hardly begun to read when the next call comes.
  struct Caller {
    let house: House

    init(_ house: House) { self.house = house }

    private func object(_ path: String, _ interface: String) throws -> RemoteObject {
      house.watcher.object(House.name, at: try ObjectPath(path), try InterfaceName(interface))
    }

    /// (session, outcome)
    @discardableResult
    func drop(_ key: String, into session: String? = nil) async throws -> [String] {
      let options = session.map { #""session": "\#($0)""# } ?? ""
      let (path, outcome, _) = try await object(House.root, House.interchange)
        .call(
          "Deliver", Payloads.activity("viewCat", key, options: options), returning: ObjectPath.self, String.self,
          String.self)
      return [path.rawValue, outcome]
    }

    func activate(_ session: String) async throws {
      _ = try await object(session, House.session).call("Activate", "", returning: String.self, String.self)
    }

    func destroy(_ session: String) async throws {
      try await object(session, House.session).call("Destroy", "standard")
    }

    /// The session that would take the drop, and the number of candidates.
    func candidates(_ key: String) async throws -> (session: String, count: Int) {
      let text = try await object(House.root, House.interchange)
        .call("Explain", Payloads.activity("viewCat", key), returning: String.self)
      let document = try Document(text)
      let chosen = try #require(document["chosen"]?["session"]?.text)
      let count = (document["candidates"]?.elements.count ?? 0) + (document["candidatesLeftOut"]?.number ?? 0)
      let identifier = try #require(UniqueIdentifier(Text(chosen)))
      return (SessionReference.path(of: identifier).string, count)
    }
  }
}

extension Session {
  /// A window that shows a cat. Windows are made in the order of their numbers.
  static func cat(_ number: Int, configuration: Text = "Cat Detail") -> Session {
    Session(
      identifier: UniqueIdentifier(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number)),
      application: "org.example.Cats", configuration: configuration,
      created: Instant(microseconds: 1_777_000_000_000_000 + Int64(number)),
      userActivity: UserActivity(activityType: "viewCat", targetContentIdentifier: Text("cat\(number)")))
  }

  static func path(ofCat number: Int) -> String { SessionReference.path(of: cat(number).identifier).string }
}
