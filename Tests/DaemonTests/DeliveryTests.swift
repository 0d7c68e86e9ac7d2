import DBusTestSupport
import Glibc
import Testing

/// Deliveries after their decision: read, listed, cancelled, redirected, over.
@Suite struct DeliveryTests {
  private static let nowhere = "00000000-0000-4000-8000-000000000000"

  @Test(arguments: PrivateBus.Kind.available)
  func `a delivery is held, and listed newest first, page by page`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      var landings: [Landing] = []
      for key in ["cat1", "cat2", "cat1"] { landings.append(try await house.drop("viewCat", key)) }
      let shown = try await house.call("GetDelivery", "string:\(landings[0].delivery)")
      #expect(shown[0].text == "held")
      #expect(try Document(shown[1].text)["outcome"]?.text == "created")
      let rows = landings.reversed().map { [$0.delivery, "held", "org.example.Cats", $0.session] }
      #expect(try await house.deliveries() == rows)
      #expect(try await house.deliveries(in: "held") == rows)
      #expect(try await house.deliveries(in: "cancelled").isEmpty)
      let page = try await house.call("ListDeliveries", "string:", "string:", "uint32:2")
      #expect(page[0].elements.map { $0.elements[0].text } == [landings[2].delivery, landings[1].delivery])
      let rest = try await house.call("ListDeliveries", "string:", "string:\(landings[1].delivery)", "uint32:2")
      #expect(rest[0].elements.map { $0.elements[0].text } == [landings[0].delivery])

      for name in ["GetDelivery", "CancelDelivery"] {
        for unknown in [Self.nowhere, "", "cat1"] {
          let error = try await house.refusal(name, "string:\(unknown)")
          #expect(error.name == "org.stagedoor.Error.NoSuchDelivery")
          #expect(error.message.contains("\"\(unknown)\""))
        }
      }
      let after = try await house.refusal("ListDeliveries", "string:", "string:\(Self.nowhere)", "uint32:0")
      #expect(after.name == "org.stagedoor.Error.NoSuchDelivery")
      let state = try await house.refusal("ListDeliveries", "string:lost", "string:", "uint32:0")
      #expect(state.name == "org.freedesktop.DBus.Error.InvalidArgs")
      #expect(state.message.contains("\"held\"") && state.message.contains("\"lost\""))
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a delivery that is cancelled takes the session along that was made for it`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.watched { watch in
        let landing = try await house.drop("viewCat", "cat1")
        #expect(try await house.call("CancelDelivery", "string:\(landing.delivery)").isEmpty)
        let seen = try await watch.happenings()
        #expect(seen.map(\.name) == ["Routed", "DeliveryFailed", "SessionDiscarded"])
        #expect(seen[1].arguments["error"] == "org.stagedoor.Error.Cancelled")
        #expect(seen[2].arguments["session"] == landing.session)
        #expect(try await house.call("GetDelivery", "string:\(landing.delivery)")[0].text == "cancelled")
        #expect(try await house.sessions().isEmpty)
        let again = try await house.refusal("CancelDelivery", "string:\(landing.delivery)")
        #expect(again.name == "org.stagedoor.Error.RequestDenied")
        #expect(again.message.contains("cancelled"))
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a session that a failed delivery made stays for those that joined it, and goes with the last of them`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.watched { watch in
        let first = try await house.drop("viewCat", "cat1")
        let second = try await house.drop("viewCat", "cat1")
        _ = try await house.call("CancelDelivery", "string:\(first.delivery)")
        #expect(try await house.sessions().count == 1)
        #expect(try await house.deliveries().map { $0[1] } == ["held", "cancelled"])
        _ = try await house.call("CancelDelivery", "string:\(second.delivery)")
        #expect(try await house.sessions().isEmpty)
        let failed = try await watch.happenings().filter { $0.name == "DeliveryFailed" }
        #expect(failed.map { $0.arguments["delivery"] } == [first.delivery, second.delivery])
        #expect(
          failed.map { $0.arguments["error"] } == [
            "org.stagedoor.Error.Cancelled", "org.stagedoor.Error.Cancelled",
          ])
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a delivery can be redirected to another window of its application`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.register(Manifests.oneScene)
      try await house.watched { watch in
        let landing = try await house.drop("viewCat", "cat1")
        let other = try await house.newSession("Default", of: "org.example.Cats")
        let foreign = try await house.drop("play", "song")
        let outcome = try await house.call("RedirectDelivery", "string:\(landing.delivery)", "objpath:\(other)")
        #expect(outcome.map(\.text) == ["activated"])
        let last = try #require(try await watch.happenings().last)
        #expect(last.name == "Routed")
        #expect(last.arguments["session"] == other)
        #expect(last.arguments["delivery"] == landing.delivery)
        #expect(try await house.deliveries().first { $0[0] == landing.delivery }?[3] == other)

        let wrongs = [
          (Self.nowhere, other, "NoSuchDelivery"), (landing.delivery, "/nowhere", "NoSuchSession"),
          (landing.delivery, foreign.session, "RequestDenied"),
        ]
        for (delivery, session, name) in wrongs {
          let error = try await house.refusal("RedirectDelivery", "string:\(delivery)", "objpath:\(session)")
          #expect(error.name == "org.stagedoor.Error.\(name)", "\(error)")
        }
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what nobody hosts is routed at its deadline, and its session stays`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let landing = try await house.deliver(Payloads.activity("viewCat", "cat1", options: #""deadline": 0.05"#))
      try await eventually("it is routed") {
        try await house.call("GetDelivery", "string:\(landing.delivery)")[0].text == "routed"
      }
      #expect(try await house.sessions().map { $0[0] } == [landing.session])
      #expect(try await house.events().map(\.name) == ["Routed", "Unclaimed"])
      let error = try await house.refusal("CancelDelivery", "string:\(landing.delivery)")
      #expect(error.name == "org.stagedoor.Error.RequestDenied")
      let redirect = try await house.refusal(
        "RedirectDelivery", "string:\(landing.delivery)", "objpath:\(landing.session)")
      #expect(redirect.name == "org.stagedoor.Error.RequestDenied")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `who waits until it is handled hears of the end in each case`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let late = Payloads.activity("viewCat", "cat1", options: #""wait": "handled", "deadline": 0.05"#)
      #expect(try await house.refusal("Deliver", "string:\(late)").name == "org.stagedoor.Error.HostTimeout")
      let waiting = Payloads.activity("viewCat", "cat2", options: #""wait": "handled", "deadline": 600"#)
      for ending in ["Cancelled", "NoSuchSession"] {
        async let refusal = house.refusal("Deliver", "string:\(waiting)")
        try await eventually("it is held") { try await house.deliveries(in: "held").count == 1 }
        let row = try #require(try await house.deliveries(in: "held").first)
        if ending == "Cancelled" {
          _ = try await house.call("CancelDelivery", "string:\(row[0])")
        } else {
          _ = try await house.call("Destroy", "string:standard", at: row[3], in: House.session)
        }
        #expect(try await refusal.name == "org.stagedoor.Error.\(ending)")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what was held when the service went is held when it is back, until its deadline`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      let (long, short) = try await house.serving { daemon in
        let long = try await house.deliver(Payloads.activity("viewCat", "cat1"))
        let short = try await house.deliver(Payloads.activity("viewCat", "cat2", options: #""deadline": 0.2"#))
        daemon.signal(SIGKILL)
        try await daemon.ended()
        return (long, short)
      }
      try await house.serving { _ in
        try await eventually("the short one is over") { try await house.deliveries(in: "held").count == 1 }
        #expect(try await house.deliveries(in: "held").map { $0[0] } == [long.delivery])
        #expect(try await house.deliveries(in: "routed").map { $0[0] } == [short.delivery])
        #expect(try await house.call("CancelDelivery", "string:\(long.delivery)").isEmpty)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a batch is each item on its own, all or nothing unless it says otherwise`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let results = try await house.deliverEach(
        Payloads.items(("viewCat", "a"), ("viewCat", "b"), ("viewCat", "a"), options: #""deadline": 3600"#))
      #expect(results.map(\.outcome) == ["created", "created", "activated"])
      #expect(results[0].session == results[2].session)
      #expect(Set(results.map(\.delivery)).count == 3)
      #expect(try await house.deliveries().map { $0[0] } == results.reversed().map(\.delivery))
      let before = try await Record(of: house)
      let error = try await house.refusal("DeliverEach", "string:\(Payloads.items(("viewCat", "c"), ("viewDog", "d")))")
      #expect(error.name == "org.stagedoor.Error.ActivityTypeNotDeclared")
      #expect(try await Record(of: house) == before)
      let best = try await house.deliverEach(
        Payloads.items(("viewDog", "d"), ("viewCat", "c"), options: #""batch": "bestEffort""#))
      #expect(best.map(\.outcome) == ["org.stagedoor.Error.ActivityTypeNotDeclared", "created"])
      #expect(best[0].session == "/")
      #expect(best[0].delivery.hasPrefix("no application declares \"viewDog\""))
    }
  }
}
