import DBusTestSupport
import DaemonTestSupport
import Testing

/// One token, one answer, and nothing happens twice.
@Suite struct TokenTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a batch under a token is answered once, also after a restart`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      let batch = Payloads.items(("viewCat", "a"), ("viewCat", "b"), options: #""token": "t""#)
      let first = try await house.serving { _ in
        try await house.register(Manifests.cats)
        let first = try await house.call("DeliverEach", "string:\(batch)")
        #expect(try await house.call("DeliverEach", "string:\(batch)") == first)
        let other = Payloads.items(("viewCat", "a"), options: #""token": "t""#)
        #expect(try await house.refusal("DeliverEach", "string:\(other)").name == "org.stagedoor.Error.InvalidPayload")
        #expect(try await house.refusal("Deliver", "string:\(batch)").name == "org.stagedoor.Error.InvalidPayload")
        return first
      }
      try await house.serving { _ in
        try await house.register(Manifests.cats)
        #expect(try await house.call("DeliverEach", "string:\(batch)") == first)
        #expect(try await Record(of: house).deliveries.count == 2)
      }
    }
  }
}
