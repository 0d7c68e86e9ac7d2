import DBusTestSupport
import DaemonTestSupport
import Testing

/// Callers that do not wait for an answer.
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

  @Test(arguments: PrivateBus.Kind.available)
  func `a method that comes as a signal does nothing, and the log says how to call it`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      try await house.serving("--durability", "memory") { daemon in
        try await house.register(Manifests.cats)
        for interface in ["org.example.Other", House.interchange] {
          _ = try await house.command(
            "dbus-send", "--session", "--dest=\(House.name)", House.root, "\(interface).Drop", "string:viewCat",
            "string:cat1", "dict:string:string:"
          ).output()
        }
        try await eventually("the hint") {
          daemon.standardError.contains(
            "Drop came as a signal, and nothing happens: with dbus-send, write --print-reply before it")
        }
        #expect(daemon.standardError.split(separator: "\n").filter { $0.contains("as a signal") }.count == 1)
        #expect(daemon.standardError.contains("--print-reply"))
        #expect(try await house.sessions().isEmpty)
      }
    }
  }
}
