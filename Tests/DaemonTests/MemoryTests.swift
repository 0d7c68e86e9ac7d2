import DBus
import DBusTestSupport
import Testing

/// What happens to calls when libdbus gets no memory: `Preloads/without_memory.c` refuses in the C library's place.
@Suite struct MemoryTests {
  /// Which allocations of libdbus fail.
  private struct Allocations {
    let preload: Preload

    /// How many allocations have failed since the last request.
    var failed: Int64 { preload[2] }

    /// After `first` allocations that succeed, `count` fail. The count starts it, so it is written last.
    func fail(_ count: Int64, after first: Int64 = 0) {
      for (place, value) in [(1, 0), (0, first), (2, 0), (1, count)] { preload.put(value, at: place) }
    }
  }

  /// There is a window already, so that each call changes as much as the previous one.
  private func withService(_ body: (RemoteObject, Allocations) async throws -> Void) async throws {
    try await withHouse(installing: Manifests.cats) { house in
      let preload = try await Preload("without_memory", in: house)
      try await house.serving(behind: preload) {
        let service = try house.service(house.watcher)
        #expect(try await Exchange.longCall.isDone(service))
        try await body(service, Allocations(preload: preload))
      }
    }
  }

  /// A small call with a small answer, a call that takes many reads, and a call with a long answer as well.
  private enum Exchange: CaseIterable {
    case small, longCall, longAnswer

    private static let key = String(repeating: "k", count: 12_000)
    private static let document =
      #"{"activity": {"activityType": "viewCat", "targetContentIdentifier": "\#(key)", "#
      + #""userInfo": {"x": "\#(String(repeating: "x", count: 100_000))"}}, "options": {"deadline": 3600}}"#

    /// Whether the call got the same answer as when there is memory.
    func isDone(_ service: RemoteObject) async throws(CallError) -> Bool {
      switch self {
      case .small:
        let number: UInt64 = try await service.get("EventSequence")
        return number > 0
      case .longCall:
        let (_, outcome, _) = try await service.call(
          "Deliver", Self.document, returning: ObjectPath.self, String.self, String.self)
        return ["activated", "created"].contains(outcome)
      case .longAnswer:
        return try await service.call("Explain", Self.document, returning: String.self).contains(Self.key)
      }
    }
  }

  @Test func `whichever allocation of libdbus fails, the call is answered`() async throws {
    try await withService { service, allocations in
      for exchange in Exchange.allCases {
        // libdbus keeps its memory for the next message, so not every call asks for as much as the previous one.
        var (count, failures, idle) = (0 as Int64, 0, 0)
        while idle < 10 {
          allocations.fail(1, after: count)
          do throws(CallError) {
            #expect(try await exchange.isDone(service), "\(exchange), \(count)")
          } catch {
            guard case .replied(let reply) = error, reply.name == .noMemory else { throw error }
          }
          if allocations.failed > 0 { (failures, idle) = (failures + 1, 0) } else { idle += 1 }
          count += 1
        }
        allocations.fail(0)
        // A release build makes one allocation for a small call.
        #expect(failures >= (exchange == .small ? 1 : 3), "\(exchange): else nothing was shown")
      }
    }
  }

  @Test func `what comes while libdbus gets no memory is answered when it gets some`() async throws {
    try await withService { service, allocations in
      for exchange in Exchange.allCases {
        allocations.fail(.max)
        let calls = (0..<3).map { _ in Task { try await exchange.isDone(service) } }
        // By then the service has tried again, although nobody sends anything else.
        try await eventually("failures") { allocations.failed >= 3 }
        allocations.fail(0)
        for call in calls { #expect(try await call.value) }
      }
    }
  }
}
