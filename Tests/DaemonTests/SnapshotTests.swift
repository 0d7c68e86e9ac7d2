import DBus
import DBusTestSupport
import FoundationEssentials
import Testing

/// Pictures of windows.
@Suite struct SnapshotTests {
  /// A window, as its host or another program uses it.
  private func set(_ text: String, _ type: String = "image/png", of window: RemoteObject) async throws {
    try await window.call("SetSnapshot", type, try OwnedFileDescriptor.pipe(of: Array(text.utf8)))
  }

  private func snapshot(of window: RemoteObject) async throws -> String {
    let (type, data) = try await window.call("OpenSnapshot", returning: String.self, OwnedFileDescriptor.self)
    return "\(type) \(String(decoding: try await data.everything(), as: UTF8.self))"
  }

  private func expectNone(of window: RemoteObject) async throws {
    try await expectError("org.stagedoor.Error.NoSuchItem") { _ = try await snapshot(of: window) }
  }

  /// Gives a window a public activity. Until its host has taken that, the window may still show the private one.
  private func makePublic(_ session: String, _ host: HostPlayer) async throws {
    let landing = try await host.deliver(Payloads.activity("viewCat", "cat2", options: #""session": "\#(session)""#))
    try await host.house.waitUntil(landing.delivery, is: "handled")
  }

  /// The tests of the baggage store know how large a picture may be, and those of the portal how many calls of one sender wait.
  @Test(.house) func `the last picture of a window is there for all, until its session goes`() async throws {
    let session = try await house.carrying { host in
      let session = try await host.deliver(Payloads.activity("viewCat", "cat1")).session
      let (own, others) = (try host.object(session), try house.object(session, House.session))
      try await expectNone(of: others)
      try await set("first", of: own)
      try await set("second", "image/webp", of: own)
      #expect(try await snapshot(of: others) == "image/webp second")
      try await expectError(.accessDenied) { try await set("x", of: others) }
      try await expectError(.invalidArgs) { try await set("x", "png", of: own) }
      #expect(try house.spooled.count == 2)
      return session
    }
    // The picture outlives the service.
    try await house.serving { _ in
      let window = try house.object(session, House.session)
      #expect(try await snapshot(of: window) == "image/webp second")
      try await house.destroy(session)
      try await house.spoolIsEmptied(but: ["snapshots"])
      try await expectError(.unknownObject) { _ = try await snapshot(of: window) }
      try await expectError(.unknownObject) { try await set("x", of: window) }
    }
  }

  @Test(.house) func `a private picture of a service that was killed is removed by the next`() async throws {
    let folder = "\(house.state)/spool/snapshots"
    let (session, name, picture) = try await house.carrying { host in
      let session = try await host.deliver(Payloads.activity("viewCat", "cat1", options: #""private": true"#)).session
      try await host.asked(1, "ConnectScene")
      try await set("secret", of: try host.object(session))
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
      let picture = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
      try await makePublic(session, host)
      return (session, name, picture)
    }
    try picture.write(to: URL(filePath: "\(folder)/\(name)"))
    try await house.serving { _ in
      try await eventually("the picture to be gone") { !FileManager.default.fileExists(atPath: "\(folder)/\(name)") }
      try await expectNone(of: try house.object(session, House.session))
    }
    // Somebody may ask before it is removed, and it may be that it cannot be removed.
    try picture.write(to: URL(filePath: "\(folder)/\(name)"))
    let deep = (0..<20).reduce("\(house.state)/spool") { path, _ in path + "/deep" }
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    try await house.serving { _ in
      try await eventually("the picture to be gone") { !FileManager.default.fileExists(atPath: "\(folder)/\(name)") }
      try picture.write(to: URL(filePath: "\(folder)/\(name)"))
      try await expectNone(of: try house.object(session, House.session))
    }
  }

  @Test(.host) func `the picture of what is private is its host's`() async throws {
    let session = try await host.deliver(Payloads.activity("viewCat", "cat1", options: #""private": true"#)).session
    let (own, others) = (try host.object(session), try house.object(session, House.session))
    try await host.asked(1, "ConnectScene")
    try await set("secret", of: own)
    #expect(try await snapshot(of: own) == "image/png secret")
    try await expectNone(of: others)
    // A public activity replaces the secret one, but the picture still shows the secret.
    try await makePublic(session, host)
    for window in [others, own] { try await expectNone(of: window) }
    try await set("public", of: own)
    #expect(try await snapshot(of: others) == "image/png public")
  }
}
