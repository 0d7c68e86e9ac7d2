import DBus
import DBusTestSupport
import Testing

/// Deliveries after their decision: asked for, and waited for by as many calls as there may be.
@Suite struct DeliveryTests {
  /// The tests of StagedoorKit list and page them.
  @Test func `what names no delivery and no state is refused, and a decision is kept without its candidates`()
    async throws
  {
    try await withService(registering: Manifests.cats) { house in
      let landing = try await house.drop("viewCat", "cat1")
      let decision = try Document(try await house.call("GetDelivery", "string:\(landing.delivery)")[1].text)
      #expect(decision["configuration"]?["chosen"]?.text == "Cat Detail")
      #expect(decision["candidates"] == nil)
      let nowhere = "00000000-0000-4000-8000-000000000000"
      for name in ["GetDelivery", "CancelDelivery"] {
        for unknown in [nowhere, "", "cat1"] {
          let error = try await house.refusal(name, "string:\(unknown)")
          #expect(error.name == "org.stagedoor.Error.NoSuchDelivery")
          #expect(error.message.contains("\"\(unknown)\""))
        }
      }
      let after = try await house.refusal("ListDeliveries", "string:", "string:\(nowhere)", "uint32:0")
      #expect(after.name == "org.stagedoor.Error.NoSuchDelivery")
      let session = try await house.refusal("ListSessions", "string:", "string:cat1", "uint32:0")
      #expect(session.name == "org.stagedoor.Error.NoSuchSession")
      let state = try await house.refusal("ListDeliveries", "string:lost", "string:", "uint32:0")
      #expect(state.name == "org.freedesktop.DBus.Error.InvalidArgs")
      #expect(state.message.contains("\"held\"") && state.message.contains("\"lost\""))
    }
  }

  @Test func `of one sender a thousand calls wait for a host, and others are not concerned`() async throws {
    try await withService(registering: Manifests.cats) { house in
      let sender = try await house.bus.connect()
      let patient = Payloads.activity("viewCat", "cat1", options: #""wait": "handled""#)
      func deliver() async throws { _ = try await house.deliver(patient, over: sender, timeout: nil) }
      let calls = (0..<1_000).map { _ in Task { try await deliver() } }
      try await eventually("they wait") { try await house.deliveries(in: "held").count == 1_000 }
      let reply = try #require(try await refused { try await deliver() })
      #expect(reply.name == .limitsExceeded)
      #expect(reply.text.contains("1000"))
      #expect(try await house.eventSequence() == "1000", "what was refused has done nothing")
      #expect(try await house.drop("viewCat", "cat1").outcome == "activated")

      // An answered call makes room for another.
      let delivery = try await house.deliveries(in: "held")[500][0]
      _ = try await house.call("CancelDelivery", "string:\(delivery)")
      let next = Task { try await deliver() }
      try await eventually("it waits") { try await house.deliveries(in: "held").count == 1_001 }
      await sender.close()
      for call in calls + [next] { await #expect(throws: (any Error).self) { try await call.value } }
    }
  }
}
