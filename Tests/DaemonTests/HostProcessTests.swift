import DBusTestSupport
import Glibc
import Testing

/// The service with a host that knows only the contract, each in a process of its own.
@Suite struct HostProcessTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a host in Python plays the whole round, through restarts of the service and of itself`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind, installing: Manifests.cats) { house in
      try await house.host().whileRunning { host in
        let (first, second) = try await house.serving { daemon in
          let attached = try await host.told("attached")
          #expect(attached[1].text == "\(House.root)/application/org_2eexample_2eCats")
          let first = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
          let connected = try await host.told("ConnectScene")
          #expect(connected.dropFirst().prefix(2).map(\.text) == [first.session, "Cat Detail"])
          try await host.told("ActivateScene")
          let again = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
          #expect(again.outcome == "activated")
          try await host.told("ContinueScene")
          let second = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
          daemon.signal(SIGKILL)
          try await daemon.ended()
          return (first, second)
        }
        try await house.serving { _ in
          // The host attaches by itself, with the windows that it still shows.
          #expect(try await host.told("attached")[2].elements.isEmpty)
          for landing in [first, second] {
            #expect(try await house.property("Connected", of: landing.session) == "true")
          }
          try await house.destroy(second.session, "decline")
          #expect(try await host.told("DestroyScene").dropFirst().map(\.text) == [second.session, "decline"])
          #expect(try await host.told("DidDiscardSceneSessions")[1].elements.map(\.text) == [second.identifier])
          host.signal(SIGKILL)
          try await host.ended()
          let held = try await house.hand("viewCat", "cat1")
          #expect(held.outcome == "restored" || held.outcome == "activated")
          try await house.host().whileRunning { next in
            #expect(try await next.told("ConnectScene")[1].text == first.session)
            try await house.waitUntil(held.delivery, is: "handled")
          }
        }
      }
    }
  }

  @Test(arguments: [("--refuse", "HostRefused"), ("--silent", "HostTimeout")])
  func `its error refuses, and its silence is a time-out`(manner: String, name: String) async throws {
    try await withService(registering: Manifests.cats) { house in
      try await house.host("org.example.Cats", manner, "ConnectScene").whileRunning { host in
        try await host.told("attached")
        let deadline = name == "HostTimeout" ? 0.3 : 3600
        let document = Payloads.activity("viewCat", "cat1", options: #""wait": "handled", "deadline": \#(deadline)"#)
        let refusal = try await house.refusal("Deliver", "string:\(document)")
        #expect(refusal.name == "org.stagedoor.Error.\(name)")
      }
    }
  }
}
