import DBusTestSupport
import Testing

/// Those who leave before anyone could look who they are.
@Suite struct StrangerTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a drop that nobody waits for is taken`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      // Without --print-reply, dbus-send leaves as soon as it has sent.
      _ = try await house.command(
        "dbus-send", "--session", "--type=method_call", "--dest=\(House.name)", House.root, "\(House.interchange).Drop",
        "string:viewCat", "string:cat1", "dict:string:string:"
      ).output()
      try await eventually("the session of the drop") { try await house.sessions().map { $0[4] } == ["cat1"] }
    }
  }
}
