import DBusTestSupport
import Testing

/// A clock that somebody sets: `Preloads/another_time.c` gives the time of day.
@Suite struct ClockTests {
  private static let day: Int64 = 86_400

  @Test(.house) func `a clock that is set neither ends a delivery nor keeps it`() async throws {
    let preload = try await Preload("another_time", in: house)
    try await house.serving(behind: preload) {
      try await house.register(Manifests.cats)
      func deliver(_ key: String, seconds: Double) async throws -> String {
        try await house.deliver(Payloads.activity("viewCat", key, options: #""deadline": \#(seconds)"#)).delivery
      }
      let patient = try await deliver("patient", seconds: 3600)
      for days in [1, -2] as [Int64] {
        let waiting = try await deliver("cat\(days)", seconds: 1)
        preload.put(preload[0] + days * Self.day, at: 0)
        // Nothing can start the application, so the delivery is held no longer. If the service waited for the time of day, this would take two
        // days.
        try await house.waitUntil(waiting, is: "routed")
        #expect(try await house.deliveryState(patient) == "held")
        // A later delivery has the new time.
        let late = try await deliver("late\(days)", seconds: 0.1)
        try await house.waitUntil(late, is: "routed")
        var created: [String] = []
        for delivery in [patient, late] {
          let story = try parsed(try await house.call("GetDelivery", "string:\(delivery)")[1].text)
          created.append(try #require(story["created"]?.string))
        }
        #expect((created[0] < created[1]) == (days > 0), "\(created)")
      }
      #expect(try await house.deliveryState(patient) == "held")
    }
  }
}
