import DBus
import DBusTestSupport
import Glibc
import Testing

/// Deliveries whose application has no host, and deliveries that are redirected.
@Suite struct HostHeldTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a held delivery reaches its host when it attaches, and a cancelled one does not`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let first = try await house.hand("viewCat", "cat1")
      let second = try await house.hand("viewCat", "cat2")
      #expect(try await house.deliveries(in: "held").count == 2)
      _ = try await house.call("CancelDelivery", "string:\(first.delivery)")
      try await house.hosting { host in
        let calls = try await host.asked(2)
        #expect(calls.map(\.session) == [second.session, second.session])
        try await house.waitUntil(second.delivery, is: "handled")
        // The host heard nothing of a session that it never had.
        #expect(host.members == ["ConnectScene", "ActivateScene"])
        let late = try await house.refusal("CancelDelivery", "string:\(second.delivery)")
        #expect(late.name == "org.stagedoor.Error.RequestDenied")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `without a host a delivery is routed at its deadline, and only who waits is told of a time-out`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let late = Payloads.activity("viewCat", "cat1", options: #""deadline": 0.1, "wait": "handled""#)
      #expect(try await house.refusal("Deliver", "string:\(late)").name == "org.stagedoor.Error.HostTimeout")
      #expect(try await house.deliveries().map { $0[1] } == ["routed"])
      #expect(try await house.events().map(\.name) == ["Routed", "Unclaimed"])
      try await house.hosting { host in
        // The delivery has ended.
        let next = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
        #expect(host.calls.allSatisfy { $0.session == next.session })
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `with a host that is not ready, a delivery fails at its deadline`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.destroy(try await house.newSession("Default", of: "org.example.Cats"))
      try await house.hosting(connected: nil) { host in
        host.next("DidDiscardSceneSessions", .waits)
        try await host.attach()
        try await host.asked(1)
        let late = Payloads.activity("viewCat", "cat1", options: #""deadline": 0.1, "wait": "handled""#)
        #expect(try await house.refusal("Deliver", "string:\(late)").name == "org.stagedoor.Error.HostTimeout")
        #expect(try await house.sessions().isEmpty)
        host.goOn()
        _ = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
        #expect(host.calls(of: "DidDiscardSceneSessions").count == 1)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a redirected delivery goes to the other window with the next attempt`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let first = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        let second = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
        host.next("ContinueScene", .waits)
        let landing = try await house.hand("viewCat", "cat1")
        try await host.asked(1, "ContinueScene")
        let outcome = try await house.call(
          "RedirectDelivery", "string:\(landing.delivery)", "objpath:\(second.session)")
        #expect(outcome.map(\.text) == ["activated"])
        try await house.waitUntil(landing.delivery, is: "handled")
        let calls = host.calls(of: "ContinueScene")
        #expect(calls.map(\.session) == [first.session, second.session])
        #expect(try calls.map { try $0.options["attempt"]?.number } == [1, 2])
        #expect(try await house.property("TargetContentIdentifier", of: second.session) == "cat1")
        // The answer of the first window no longer counts.
        host.goOn(nil, .failure(ErrorReply.unwilling))
        let next = try await house.hand(
          "viewCat", "cat1", options: #""session": "\#(first.session)", "wait": "handled""#)
        #expect(next.session == first.session)
        #expect(try await house.deliveryState(landing.delivery) == "handled")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what the wrong window has taken already goes on to another one`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        let second = try await house.hand("viewCat", "cat2", options: #""wait": "handled""#)
        _ = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        _ = try await house.call("RedirectDelivery", "string:\(landing.delivery)", "objpath:\(second.session)")
        try await host.asked(2, "ContinueScene")
        try await house.waitUntil(landing.delivery, is: "handled")
        let calls = host.calls(of: "ContinueScene")
        #expect(calls.map(\.session) == [landing.session, second.session])
        #expect(try calls.map { try $0.options["attempt"]?.number } == [1, 2])
        let told = try await house.events().filter { $0.arguments["delivery"] == landing.delivery }
        #expect(told.map(\.name) == ["Routed", "Handled", "Routed", "Handled"])
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what is redirected to the window that just took it is given to it once more`(kind: PrivateBus.Kind) async throws
  {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      try await house.hosting { host in
        host.next("ActivateScene", .waits)
        let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
        try await host.asked(1, "ActivateScene")
        _ = try await house.call("RedirectDelivery", "string:\(landing.delivery)", "objpath:\(landing.session)")
        host.goOn()
        try await host.asked(1, "ContinueScene")
        try await house.waitUntil(landing.delivery, is: "handled")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what goes with its configuration is not redirected`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      let file = "\(house.applications)/org.example.Cats.json"
      try house.write(Manifests.cats, to: file)
      let (landing, other) = try await house.serving { _ in
        let landing = try await house.hand("viewCat", "cat1")
        return (landing, try await house.newSession("Default", of: "org.example.Cats"))
      }
      try house.write(Manifests.cats.replacing("Cat Detail", with: "Cat Portrait"), to: file)
      try await house.serving { _ in
        let error = try await house.refusal("RedirectDelivery", "string:\(landing.delivery)", "objpath:\(other)")
        #expect(error.name == "org.stagedoor.Error.RequestDenied", "\(error)")
        #expect(try await house.deliveryState(landing.delivery) == "failed")
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a service that comes back finds its hosts again, with the scenes that they still show`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      let (landings, host) = try await house.serving { daemon in
        let host = try await HostPlayer("org.example.Cats", in: house)
        try await host.attach()
        var landings: [Landing] = []
        for key in ["cat1", "cat2", "cat3"] {
          landings.append(try await house.hand("viewCat", key, options: #""wait": "handled""#))
        }
        host.next("ContinueScene", .waits)
        landings.append(try await house.hand("viewCat", "cat1"))
        try await host.asked(1, "ContinueScene")
        daemon.signal(SIGKILL)
        try await daemon.ended()
        return (landings, host)
      }
      // The host took the last delivery, and nobody heard of it.
      host.goOn()
      host.forget()
      try await house.serving { _ in
        // No session is connected until its host says so.
        for landing in landings { #expect(try await house.property("Connected", of: landing.session) == "false") }
        try await house.destroy(landings[2].session)
        let held = try await house.hand("viewCat", "cat2")
        let answer = try await host.attach(connected: landings[..<3].map(\.session))
        #expect(answer.discarded == [landings[2].session])
        for landing in landings[..<2] {
          #expect(try await house.property("Connected", of: landing.session) == "true")
        }
        let calls = try await host.asked(5).filter { $0.member != "ActivateScene" }
        #expect(calls[0].member == "DidDiscardSceneSessions")
        #expect(calls[0].arguments == [landings[2].identifier])
        #expect(calls[1...].map(\.member) == ["ContinueScene", "ContinueScene"])
        #expect(try calls[1...].map { try $0.options["delivery"]?.text } == [landings[3].delivery, held.delivery])
        #expect(try calls[1...].map { try $0.options["attempt"]?.number } == [2, 1])
        try await house.waitUntil(held.delivery, is: "handled")
      }
      await host.leave()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a hundred drops that come with the host arrive once each, those of a session in their order`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let sender = try await house.bus.connect()
      let object = sender.object(House.name, at: try ObjectPath(House.root), "org.stagedoor.Interchange1")
      let host = try await HostPlayer("org.example.Cats", in: house)
      // The calls of one connection are decided in the order in which they are sent; the host attaches somewhere in between.
      async let attached: Void = { _ = try await host.attach() }()
      var sent: [String] = []
      for number in 0..<100 {
        let document = Payloads.patient("viewCat", "cat\(number % 3)")
        let (_, _, delivery) = try await object.call(
          "Deliver", document, returning: ObjectPath.self, String.self, String.self)
        sent.append(delivery)
      }
      try await attached
      try await eventually("all to be handled") { try await house.deliveries(in: "handled").count == 100 }
      let given = try host.calls.filter { $0.member != "ActivateScene" }.map {
        ($0.session, try $0.options["delivery"]?.text)
      }
      #expect(Set(given.map(\.1)).count == 100 && given.count == 100)
      for (session, deliveries) in Dictionary(grouping: given, by: \.0) {
        let numbers = deliveries.compactMap { delivery in sent.firstIndex { $0 == delivery.1 } }
        #expect(numbers == numbers.sorted(), "\(session)")
      }
      await host.leave()
      await sender.close()
    }
  }
}
