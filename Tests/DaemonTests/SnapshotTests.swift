import DBus
import DBusTestSupport
import FoundationEssentials
import Testing

/// Pictures of windows.
@Suite struct SnapshotTests {
  private func set(_ text: String, _ type: String = "image/png", of session: String, by connection: Connection)
    async throws
  {
    let object = connection.object(House.name, at: try ObjectPath(session), "org.stagedoor.SceneSession1")
    try await object.call("SetSnapshot", type, try OwnedFileDescriptor.pipe(of: Array(text.utf8)))
  }

  private func snapshot(of session: String, for connection: Connection) async throws -> String {
    let object = connection.object(House.name, at: try ObjectPath(session), "org.stagedoor.SceneSession1")
    let (type, data) = try await object.call("OpenSnapshot", returning: String.self, OwnedFileDescriptor.self)
    return "\(type) \(String(decoding: try await data.everything(), as: UTF8.self))"
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `the last picture of a window is there for all, until its session goes`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      let session = try await house.carrying { host in
        let landing = try await host.deliver(Payloads.activity("viewCat", "cat1"))
        let none = try await refused { _ = try await snapshot(of: landing.session, for: house.watcher) }
        #expect(none?.name == "org.stagedoor.Error.NoSuchItem")
        try await set("first", of: landing.session, by: host.connection)
        try await set("second", "image/webp", of: landing.session, by: host.connection)
        #expect(try await snapshot(of: landing.session, for: house.watcher) == "image/webp second")
        let stranger = try await refused { try await set("x", of: landing.session, by: house.watcher) }
        #expect(stranger?.name == .accessDenied)
        let typeless = try await refused { try await set("x", "png", of: landing.session, by: host.connection) }
        #expect(typeless?.name == .invalidArgs)
        let large = String(repeating: "x", count: 1 << 20)
        try await set(large, of: landing.session, by: host.connection)
        let larger = try await refused { try await set(large + "x", of: landing.session, by: host.connection) }
        #expect(larger?.name == .limitsExceeded)
        #expect(try await snapshot(of: landing.session, for: house.watcher) == "image/png \(large)")
        #expect(try house.spooled.count == 2)
        // A picture from a shell.
        let picture = try house.file("window.png", "from a shell")
        let script =
          "gdbus call -e -d \(House.name) -o \(landing.session) -m org.stagedoor.SceneSession1.SetSnapshot image/png 0 <\(picture)"
        let result = try await house.command("sh", "-c", script).run()
        #expect(result.standardError.contains("AccessDenied"), "\(result)")
        return landing.session
      }
      // The picture outlives the service.
      try await house.serving { _ in
        #expect(try await snapshot(of: session, for: house.watcher).count == (1 << 20) + 10)
        try await house.destroy(session)
        try await house.spoolIsEmptied(but: ["snapshots"])
        let gone = try await refused { _ = try await snapshot(of: session, for: house.watcher) }
        #expect(gone?.name == .unknownObject)
        let late = try await refused { try await set("x", of: session, by: house.watcher) }
        #expect(late?.name == .unknownObject)
      }
    }
  }

  @Test func `the picture of what is private is its host's`() async throws {
    try await withHost { house, host in
      let landing = try await host.deliver(Payloads.activity("viewCat", "cat1", options: #""private": true"#))
      try await host.asked(1, "ConnectScene")
      try await set("secret", of: landing.session, by: host.connection)
      #expect(try await snapshot(of: landing.session, for: host.connection) == "image/png secret")
      let other = try await refused { _ = try await snapshot(of: landing.session, for: house.watcher) }
      #expect(other?.name == "org.stagedoor.Error.NoSuchItem")
      // A public activity replaces the secret one, but the picture still shows the secret.
      let options = #""session": "\#(landing.session)""#
      _ = try await host.deliver(Payloads.activity("viewCat", "cat2", options: options))
      try await host.asked(1, "ContinueScene")
      for connection in [house.watcher, host.connection] {
        let gone = try await refused { _ = try await snapshot(of: landing.session, for: connection) }
        #expect(gone?.name == "org.stagedoor.Error.NoSuchItem")
      }
      try await set("public", of: landing.session, by: host.connection)
      #expect(try await snapshot(of: landing.session, for: house.watcher) == "image/png public")
    }
  }

  @Test func `a host hands in as many pictures at the same time as it may, and not one more`() async throws {
    try await withHost { house, host in
      let landing = try await host.deliver(Payloads.activity("viewCat", "cat1"))
      let object = try host.object(landing.session)
      let silent = try OwnedFileDescriptor.pipe()
      // More than four calls with descriptors at once would be refused without waiting.
      var calls: [Task<ErrorReply?, any Error>] = []
      for _ in 0..<80 {
        calls.append(Task { try await refused { try await object.call("SetSnapshot", "image/png", silent.readEnd) } })
        try await ContinuousClock().sleep(for: .milliseconds(5))
      }
      #expect(try await house.drop("viewCat", "cat1").outcome == "activated")
      silent.writeEnd.close()
      var errors: [String] = []
      for call in calls { errors.append(try await call.value?.text ?? "") }
      #expect(errors.contains { $0.contains("64 calls of this sender have snapshots that are read") }, "\(errors)")
      try await set("a cat", of: landing.session, by: host.connection)
    }
  }
}
