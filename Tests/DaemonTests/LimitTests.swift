import DBus
import DBusTestSupport
import Testing

/// What one caller may ask for at once.
@Suite struct LimitTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `more items than a payload may have are refused, and as many as it may have are not`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      func payload(_ count: Int) -> String {
        let items = (0..<count).map {
          #"{"activities": [{"activityType": "viewCat", "targetContentIdentifier": "\#($0)"}]}"#
        }
        return #"{"items": [\#(items.joined(separator: ","))]}"#
      }
      // Longer than an argument of a command may be, so a program sends them.
      let object = house.watcher.object(House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1")
      for member in ["Deliver", "DeliverEach"] as [MemberName] {
        let error = await #expect(throws: CallError.self) { try await object.call(member, payload(1_001)) }
        guard case .replied(let reply) = error else {
          Issue.record("\(member): \(String(describing: error))")
          continue
        }
        #expect(reply.name == .limitsExceeded)
        #expect(reply.text.contains("1000") || reply.text.contains("1,000"), "\(reply)")
      }
      #expect(try await house.eventSequence() == "0")
      let results: [Structure<ObjectPath, String, String>] = try await object.call("DeliverEach", payload(1_000))
      #expect(results.count == 1_000)
      #expect(try await house.eventSequence() == "1000")
      // In payload order.
      let keys = try await house.events().map { $0.arguments["target_content_identifier"] }
      #expect(keys == (0..<1_000).map { "\($0)" })
      #expect(try await Set(house.sessions().map { $0[0] }).count == 1_000)
    }
  }
}
