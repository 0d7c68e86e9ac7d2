import DBus
import DBusTestSupport
import SceneModel
import Testing

/// A service that starts with thousands of sessions answers before it has read them. A call that comes during the reading, or after it, gets the same
/// answer as if the service had known all sessions.
@Suite struct BringingInTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `the first drops find their windows, and nothing is lost or comes back`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind, installing: Manifests.cats) { house in
      var lions = Session.cat(5001)
      lions.canActivatePredicate = "SELF BEGINSWITH 'lion'"
      var tiger = Session.cat(5002)
      tiger.prefersToActivatePredicate = "SELF == 'tiger'"
      try house.leave((1...5000).map { Session.cat($0) } + [lions, tiger])
      try await house.serving { _ in
        let caller = House.Caller(house)
        #expect(try await caller.drop("cat1234") == [Session.path(ofCat: 1234), "activated"])
        #expect(try await caller.drop("lion7") == [Session.path(ofCat: 5001), "activated"])
        #expect(try await caller.drop("tiger") == [Session.path(ofCat: 5002), "activated"])
        let ocelot = try await caller.drop("ocelot")
        #expect(ocelot[1] == "created")
        #expect(try await caller.drop("ocelot") == [ocelot[0], "activated"])

        try await caller.destroy(Session.path(ofCat: 4999))
        let again = try await caller.drop("cat4999")
        #expect(again[1] == "created")
        #expect(again[0] != Session.path(ofCat: 4999))
        #expect(
          try await caller.drop("puma", into: Session.path(ofCat: 5000)) == [Session.path(ofCat: 5000), "activated"])
        let other = try await caller.drop("cat5000")
        #expect(other[1] == "created")
        #expect(try await caller.drop("puma") == [Session.path(ofCat: 5000), "activated"])

        // A list needs all of them.
        for _ in 0..<2 { #expect(try await caller.candidates("cat77") == (Session.path(ofCat: 77), 5004)) }
        #expect(try await caller.drop("cat4999") == [again[0], "activated"])
        #expect(try await caller.drop("cat5000") == [other[0], "activated"])
        #expect(try await caller.drop("puma") == [Session.path(ofCat: 5000), "activated"])
        #expect(try await caller.drop("lion8") == [Session.path(ofCat: 5001), "activated"])
        #expect(try await house.sessions().count == 5004)
      }
    }
  }
}
