import DBusTestSupport
import DaemonTestSupport
import Testing

/// One token gets one answer, and nothing happens twice.
@Suite struct TokenTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `who waits for a host that never came hears the same again`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let document = Payloads.activity("viewCat", "cat1", options: #""token": "t", "wait": "handled", "deadline": 0.1"#)
      let first = try await house.refusal("Deliver", "string:\(document)")
      let second = try await house.refusal("Deliver", "string:\(document)")
      #expect(first.name == "org.stagedoor.Error.HostTimeout")
      #expect(second == first)
      #expect(try await house.eventSequence() == "2", "it happened once, and ended once")
    }
  }

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
