import DBus
import DBusTestSupport
import SceneModel
import Testing

/// A service that starts with thousands of sessions answers before it has read them. A call that comes during the reading, or after it, gets the same
/// answer as if the service had known all sessions.
@Suite struct BringingInTests {
  private static func cat(_ number: Int, configuration: Text = "Cat Detail") -> Session {
    Session.cat(number, configuration: configuration)
  }

  private static func path(_ number: Int) -> String { Session.path(ofCat: number) }

  @Test(arguments: PrivateBus.Kind.available)
  func `the first drops find their windows, and nothing is lost or comes back`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind, installing: Manifests.cats) { house in
      var lions = Self.cat(5001)
      lions.canActivatePredicate = "SELF BEGINSWITH 'lion'"
      var tiger = Self.cat(5002)
      tiger.prefersToActivatePredicate = "SELF == 'tiger'"
      try house.leave((1...5000).map { Self.cat($0) } + [lions, tiger])
      try await house.serving { _ in
        let caller = House.Caller(house)
        #expect(try await caller.drop("cat1234") == [Self.path(1234), "activated"])
        #expect(try await caller.drop("lion7") == [Self.path(5001), "activated"])
        #expect(try await caller.drop("tiger") == [Self.path(5002), "activated"])
        let ocelot = try await caller.drop("ocelot")
        #expect(ocelot[1] == "created")
        #expect(try await caller.drop("ocelot") == [ocelot[0], "activated"])

        try await caller.destroy(Self.path(4999))
        let again = try await caller.drop("cat4999")
        #expect(again[1] == "created")
        #expect(again[0] != Self.path(4999))
        #expect(try await caller.drop("puma", into: Self.path(5000)) == [Self.path(5000), "activated"])
        let other = try await caller.drop("cat5000")
        #expect(other[1] == "created")
        #expect(try await caller.drop("puma") == [Self.path(5000), "activated"])

        // A list needs all of them.
        for _ in 0..<2 { #expect(try await caller.candidates("cat77") == (Self.path(77), 5004)) }
        #expect(try await caller.drop("cat4999") == [again[0], "activated"])
        #expect(try await caller.drop("cat5000") == [other[0], "activated"])
        #expect(try await caller.drop("puma") == [Self.path(5000), "activated"])
        #expect(try await caller.drop("lion8") == [Self.path(5001), "activated"])
        #expect(try await house.sessions().count == 5004)
      }
    }
  }

  @Test func `what nobody asks for follows by itself`() async throws {
    try await withHouse(installing: Manifests.cats) { house in
      let lost = (2001...2600).map { Self.cat($0, configuration: "Lost") }
      try house.leave((1...2000).map { Self.cat($0) } + lost)
      try await house.serving { _ in
        let caller = House.Caller(house)
        // The manifest no longer has this configuration, so the service discards the session as soon as it sees it.
        await #expect(throws: CallError.self) { try await caller.drop("cat2600", into: Self.path(2600)) }
        #expect(try await caller.drop("cat1") == [Self.path(1), "activated"])
        try await eventually("those of the lost configuration are discarded") {
          try await house.sessions().count == 2000
        }
      }
    }
  }
}
