import DBus
import DBusTestSupport
import Testing

/// Deliveries after their decision: in lists, and waited for by as many calls as there may be.
@Suite struct DeliveryTests {
  private static let nowhere = "00000000-0000-4000-8000-000000000000"

  @Test(arguments: PrivateBus.Kind.available)
  func `a delivery is held, and listed newest first, page by page`(kind: PrivateBus.Kind) async throws {
    try await withService(kind, registering: Manifests.cats) { house in
      var landings: [Landing] = []
      for key in ["cat1", "cat2", "cat1"] { landings.append(try await house.drop("viewCat", key)) }
      let shown = try await house.call("GetDelivery", "string:\(landings[0].delivery)")
      #expect(shown[0].text == "held")
      let decision = try Document(shown[1].text)
      #expect(decision["outcome"]?.text == "created")
      #expect(decision["configuration"]?["chosen"]?.text == "Cat Detail")
      #expect(decision["candidates"] == nil, "the decision is kept without its candidates")
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

  private static let patient = Payloads.activity("viewCat", "cat1", options: #""wait": "handled", "deadline": 3600"#)

  @Test(arguments: PrivateBus.Kind.available)
  func `of one sender a thousand calls wait for a host, and others are not concerned`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind, registering: Manifests.cats) { house in
      let sender = try await house.bus.connect()
      let object = try house.service(sender)
      func deliver() async throws(CallError) -> String {
        try await object.call(
          "Deliver", Self.patient, timeout: nil, returning: ObjectPath.self, String.self, String.self
        ).2
      }
      let calls = (0..<1_000).map { _ in Task { try await deliver() } }
      try await eventually("they wait") { try await house.deliveries(in: "held").count == 1_000 }
      let reply = try #require(try await refused { _ = try await deliver() })
      #expect(reply.name == .limitsExceeded)
      #expect(reply.text.contains("1000"))
      #expect(try await house.eventSequence() == "1000", "what was refused has done nothing")
      #expect(try await house.drop("viewCat", "cat1").outcome == "activated")

      // An answered call makes room for another.
      let delivery = try await house.deliveries(in: "held")[500][0]
      try await object.call("CancelDelivery", delivery)
      let next = Task { try await deliver() }
      try await eventually("it waits") { try await house.deliveries(in: "held").count == 1_001 }
      await sender.close()
      for call in calls + [next] { await #expect(throws: (any Error).self) { try await call.value } }
    }
  }
}
