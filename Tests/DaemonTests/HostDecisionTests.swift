import DBus
import DBusTestSupport
import Testing

/// A host that calls the service while the service calls it.
@Suite struct HostDecisionTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a host that calls the service from within its calls is answered`(kind: PrivateBus.Kind) async throws {
    try await withService(kind, registering: Manifests.cats) { house in
      try await house.hosting { host in
        let ask = HostPlayer.Manner.after { host, call in
          let state: String = try await host.object(call.session).get("State")
          #expect(state == (call.member == "ConnectScene" ? "unattached" : "foregroundInactive"))
          try await host.set("Title", of: call.session, to: "\(call.member) \(state)")
          if call.member != "ActivateScene" {
            // The scene is the host's own, and the service does not keep a host waiting for itself.
            _ = try await host.deliver(
              Payloads.patient("viewCat", "from \(call.member)", options: #""wait": "handled""#))
          } else {
            try await host.setState("foregroundActive", of: call.session)
          }
        }
        host.next("ConnectScene", ask)
        // The host also gets the call for a window that it opens by itself.
        host.next("ActivateScene", ask, ask)
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await eventually("the state it set") {
          try await house.property("State", of: landing.session) == "foregroundActive"
        }
        #expect(try await house.property("Title", of: landing.session) == "ActivateScene foregroundInactive")
        try await eventually("all of it to be handled") { try await house.deliveries(in: "handled").count == 2 }
        #expect(try await house.sessions().count == 2)
      }
    }
  }
}
