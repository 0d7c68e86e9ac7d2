import DBus
import DBusTestSupport
import Glibc
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
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
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

  @Test func `what is destroyed in the moment in which another asks for it does not come back`() async throws {
    try await withHouse { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      try house.leave((1...5000).map { Self.cat($0) })
      try await house.serving { _ in
        let caller = House.Caller(house)
        try await caller.drop("cat1")
        try await withThrowingTaskGroup { group in
          for number in 4801...5000 {
            group.addTask { try await caller.destroy(Self.path(number)) }
            group.addTask { try await caller.drop("cat\(number)") }
          }
          try await group.waitForAll()
        }
        let listed = Set(try await house.sessions().map { $0[0] })
        for number in 4801...5000 {
          let landing = try await caller.drop("cat\(number)")
          #expect(landing[0] != Self.path(number))
          #expect(!listed.contains(Self.path(number)))
          #expect(landing[1] == (listed.contains(landing[0]) ? "activated" : "created"))
        }
      }
    }
  }

  @Test func `where very many may be concerned, all are read first`() async throws {
    try await withHouse { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      try house.leave(
        (1...600).map { number in
          var cat = Self.cat(number)
          cat.canActivatePredicate = "SELF BEGINSWITH 'cat'"
          return cat
        })
      try await house.serving { _ in
        let caller = House.Caller(house)
        let first = try await caller.drop("cat5")
        #expect(first == [Self.path(5), "activated"])
        #expect(try await caller.drop("cat-of-nobody") == [Self.path(5), "activated"])
        #expect(try await caller.candidates("cat600") == (Self.path(600), 600))
      }
    }
  }

  @Test func `what nobody asks for follows by itself`() async throws {
    try await withHouse { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
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

  @Test func `one that somebody asked for before its manifest came is discarded with the others`() async throws {
    try await withHouse { house in
      try house.leave((1...10).map { Self.cat($0) } + [Self.cat(11, configuration: "Lost")])
      try await house.serving { _ in
        let caller = House.Caller(house)
        // The result does not matter: the service knows the session from now on.
        _ = try? await caller.drop("cat11", into: Self.path(11))
        try await house.register(Manifests.cats)
        #expect(try await caller.drop("cat1") == [Self.path(1), "activated"])
        try await eventually("what has no configuration is discarded") { try await house.sessions().count == 10 }
      }
    }
  }

  @Test func `a manifest that changes meanwhile counts for all of them`() async throws {
    try await withHouse { house in
      try house.leave((1...1500).map { Self.cat($0, configuration: $0 > 1000 ? "Main" : "Cat Detail") })
      try await house.serving { _ in
        let caller = House.Caller(house)
        try await house.register(Manifests.cats.replacing("\"Default\"", with: "\"Main\""))
        #expect(try await caller.drop("cat7") == [Self.path(7), "activated"])
        try await house.register(Manifests.mainOnly)
        #expect(try await house.sessions().count == 500)
        #expect(try await caller.drop("cat1400") == [Self.path(1400), "activated"])
        #expect(try await caller.candidates("cat1400") == (Self.path(1400), 500))
      }
    }
  }

  @Test func `one that ends meanwhile has lost none`() async throws {
    try await withHouse { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      try house.leave((1...3000).map { Self.cat($0) })
      for signal in [SIGTERM, SIGKILL] {
        try await house.serving { daemon in
          let caller = House.Caller(house)
          #expect(try await caller.drop("cat30") == [Self.path(30), "activated"])
          daemon.signal(signal)
          let status = try await daemon.ended()
          #expect(status == (signal == SIGTERM ? .exited(0) : .signalled(SIGKILL)))
        }
      }
      try await house.serving { _ in
        let caller = House.Caller(house)
        let landing = try await caller.drop("cat2999")
        #expect(landing == [Self.path(2999), "activated"])
        let (chosen, count) = try await caller.candidates("cat30")
        #expect((chosen, count) == (Self.path(30), 3000))
      }
    }
  }
}
