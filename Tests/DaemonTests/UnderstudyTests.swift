import DBus
import DBusTestSupport
import Testing

/// A program that stands in for an application, on the bus.
@Suite struct UnderstudyTests {
  private static let path: ObjectPath = "/org/example/Understudy/cats"

  private static let manifest = Manifests.application(
    "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Document"),
    more: #" "StagedoorUnderstudy": true,"#)

  private func options(path: ObjectPath = path) -> [String: Variant] {
    ["understudy": Variant(true), "path": Variant(path)]
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `it is asked at its path, and yields to the application's own host`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      let understudy = try await HostPlayer("org.example.Cats", in: house, isOwner: false, at: Self.path)
      try await understudy.register(Self.manifest)
      try await understudy.attach(with: options())
      let landing = try await house.hand("viewCat", "cat1", options: #""activationToken": "let-me-in""#)
      let told = try await understudy.asked(2)
      #expect(told[1].arguments == ["activation-token=let-me-in", "desktop-startup-id=let-me-in"])
      try await house.waitUntil(landing.delivery, is: "handled")
      try await house.hosting { host in
        #expect(try await house.property("Connected", of: landing.session) == "false")
        let again = try await house.hand("viewCat", "cat1")
        #expect((again.session, again.outcome) == (landing.session, "restored"))
        try await host.asked(2)
        try await expectError("org.stagedoor.Error.RequestDenied") { try await understudy.attach(with: options()) }
      }
      #expect(understudy.members == ["ConnectScene", "ActivateScene"])
      await understudy.leave()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `it needs an object at its path and the right to be there, and is attached until it leaves the bus`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      let understudy = try await HostPlayer("org.example.Cats", in: house, isOwner: false, at: Self.path)
      try await understudy.register(Self.manifest)
      try await expectError("org.stagedoor.Error.NotHost") {
        try await understudy.attach(with: options(path: "/org/example/Nowhere"))
      }
      let other = try await HostPlayer("org.example.Cats", in: house, isOwner: false, at: Self.path)
      try await expectError("org.stagedoor.Error.NotHost") { try await other.attach(with: options()) }
      try await understudy.attach(with: options())
      try await expectError("org.stagedoor.Error.InvalidPayload") { _ = try await understudy.adopt("a cat", title: "") }
      let window = try await understudy.adopt(#"{"activityType": "viewCat"}"#, title: "My cat")
      #expect(try await house.property("Title", of: window) == "My cat")
      await understudy.leave()
      await other.leave()
      try await house.waitUntilGone(window)
    }
  }
}
