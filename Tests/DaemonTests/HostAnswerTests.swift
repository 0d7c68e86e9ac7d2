import DBus
import DBusTestSupport
import Testing

/// What a host's answer means: its return, its error, its silence, and its end.
@Suite struct HostAnswerTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `who waits until it is handled is answered when the host has taken it`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        for (member, outcome) in [("ConnectScene", "created"), ("ContinueScene", "activated")] {
          host.forget()
          host.next(member, .waits)
          // An answer after the acknowledgement changes nothing.
          host.next("ActivateScene", .refuses(.unwilling))
          async let landing = house.hand("viewCat", "cat1", options: #""wait": "handled""#)
          let call = try await host.asked(1)[0]
          #expect(call.member == member)
          let delivery = try #require(try call.options["delivery"]?.text)
          #expect(try await house.deliveryState(delivery) == "routed")
          host.goOn()
          #expect(try await landing == Landing(session: call.session, outcome: outcome, delivery: delivery))
          #expect(try await house.deliveryState(delivery) == "handled")
          try await host.asked(2)
        }
        #expect(try await house.events().map(\.name).filter { $0 == "DeliveryFailed" }.isEmpty)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `an error refuses the delivery, and the session made for it goes without a word to the host`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        try await house.watched { watch in
          host.next("ConnectScene", .refuses(.unwilling))
          let waiting = Payloads.patient("viewCat", "cat1", options: #""wait": "handled""#)
          let error = try await house.refusal("Deliver", "string:\(waiting)")
          #expect(error.name == "org.stagedoor.Error.HostRefused")
          #expect(error.message.contains("org.example.Error.Unwilling: not today"))
          let seen = try await watch.happenings()
          #expect(seen.map(\.name) == ["Routed", "DeliveryFailed", "SessionDiscarded"])
          #expect(seen[1].arguments["error"] == "org.stagedoor.Error.HostRefused")
          #expect(try await house.sessions().isEmpty)
          #expect(try await house.deliveries().map { $0[1] } == ["failed"])
          // The next delivery starts afresh.
          let next = try await house.hand("viewCat", "cat1")
          #expect(next.outcome == "created")
          try await house.waitUntil(next.delivery, is: "handled")
          try await host.asked(3)
          #expect(host.members == ["ConnectScene", "ConnectScene", "ActivateScene"])
        }
      }
    }
  }

  @Test func `what was shown before is shown again where the host refuses, unless something newer was set`()
    async throws
  {
    try await withService { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let made = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        func shown() async throws -> String {
          try await house.property("TargetContentIdentifier", of: made.session)
        }
        let options = #""session": "\#(made.session)""#
        host.next("ContinueScene", .waits)
        let first = try await house.hand("viewCat", "cat2", options: options)
        try await host.asked(1, "ContinueScene")
        #expect(try await shown() == "cat2")
        host.goOn(nil, .failure(ErrorReply.unwilling))
        try await house.waitUntil(first.delivery, is: "failed")
        #expect(try await shown() == "cat1")

        host.next("ContinueScene", .waits)
        let second = try await house.hand("viewCat", "cat3", options: options)
        try await host.asked(2, "ContinueScene")
        try await host.set(
          "UserActivity", of: made.session, to: #"{"activityType": "viewCat", "targetContentIdentifier": "cat4"}"#)
        host.goOn(nil, .failure(ErrorReply.unwilling))
        try await house.waitUntil(second.delivery, is: "failed")
        #expect(try await shown() == "cat4")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a silent host has until the deadline`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        host.next("ConnectScene", .waits)
        let late = Payloads.activity("viewCat", "cat1", options: #""wait": "handled", "deadline": 0.3"#)
        let error = try await house.refusal("Deliver", "string:\(late)")
        #expect(error.name == "org.stagedoor.Error.HostTimeout")
        #expect(try await house.sessions().isEmpty)
        #expect(try await house.deliveries().map { $0[1] } == ["failed"])
        // The host is not blamed.
        let next = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        #expect(next.outcome == "created")
        #expect(host.calls(of: "DidDiscardSceneSessions").isEmpty)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what a host had when it left is given to the next, with the next attempt`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let first = try await HostPlayer("org.example.Cats", in: house)
      try await first.attach()
      first.next("ConnectScene", .waits)
      let inHand = try await house.hand("viewCat", "cat1")
      try await first.asked(1)
      // This delivery waits behind the first, and the host never gets it.
      let behind = try await house.hand("viewCat", "cat1")
      await first.leave()
      try await house.waitUntil(inHand.delivery, is: "held")
      try await house.waitUntil(behind.delivery, is: "held")
      try await house.hosting { second in
        let calls = try await second.asked(4).filter { $0.member != "ActivateScene" }
        #expect(calls.map(\.member) == ["ConnectScene", "ContinueScene"])
        #expect(try calls.map { try $0.options["delivery"]?.text } == [inHand.delivery, behind.delivery])
        #expect(try calls.map { try $0.options["attempt"]?.number } == [2, 1])
        try await house.waitUntil(behind.delivery, is: "handled")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `for one session calls wait for each other, and different sessions do not`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        host.next("ConnectScene", .waits)
        host.next("ActivateScene", .accepts, .waits)
        let first = try await house.hand("viewCat", "cat1")
        let second = try await house.hand("viewCat", "cat1")
        let other = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
        #expect(host.calls.map(\.session).contains(other.session))
        #expect(host.calls.filter { $0.session == first.session }.map(\.member) == ["ConnectScene"])
        // ActivateScene is a call of the delivery too.
        host.goOn()
        try await house.waitUntil(first.delivery, is: "handled")
        try await host.asked(2, "ActivateScene")
        #expect(try await house.deliveryState(second.delivery) == "routed")
        #expect(host.calls(of: "ContinueScene").isEmpty)
        host.goOn()
        try await house.waitUntil(second.delivery, is: "handled")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a host that calls the service from within its calls is answered`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
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
