import DBusTestSupport
import Testing

/// Deliveries after their decision.
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
}
