import DBus
import DBusTestSupport
import Testing

/// What one caller may ask for at once.
@Suite struct LimitTests {
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
