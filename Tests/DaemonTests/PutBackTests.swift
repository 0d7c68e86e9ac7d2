import DBusTestSupport
import Glibc
import SceneModel
import Testing

/// What a session shows after a delivery has failed.
@Suite struct PutBackTests {
  /// A window that takes all cats, and shows cat1.
  private func window(in house: House) async throws -> Landing {
    let landing = try await house.deliver(Self.document("cat1"))
    try await house.set("CanActivatePredicate", of: landing.session, to: "SELF BEGINSWITH 'cat'")
    return landing
  }

  private static func document(_ key: String, options: String = "") -> String {
    Payloads.activity("viewCat", key, options: #""deadline": 3600"# + (options.isEmpty ? "" : ", \(options)"))
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a delivery that is cancelled puts back what its session showed before`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let window = try await window(in: house)
      try await house.watched { watch in
        let second = try await house.deliver(Self.document("cat2"))
        #expect(second.session == window.session)
        #expect(try await house.key(of: window.session) == "cat2")
        _ = try await house.call("CancelDelivery", "string:\(second.delivery)")
        #expect(try await house.key(of: window.session) == "cat1")
        #expect(
          try await house.property("UserActivity", of: window.session)
            == #"{"activityType":"viewCat","targetContentIdentifier":"cat1"}"#)
        let seen = try await watch.happenings()
        #expect(seen.map(\.name) == ["Routed", "DeliveryFailed"])
        let told = watch.signals.filter { $0.member == "PropertiesChanged" && $0.path == window.session }
          .compactMap { $0.arguments[1]["TargetContentIdentifier"]?.text }
        #expect(told == ["cat2", "cat1"])
      }
      // Routing knows it too.
      try await house.set("CanActivatePredicate", of: window.session, to: "")
      #expect(try await house.deliver(Self.document("cat1")).session == window.session)
      #expect(try await house.deliver(Self.document("cat2")).outcome == "created")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what was given to the session since stays`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let window = try await window(in: house)
      let second = try await house.deliver(Self.document("cat2"))
      let third = try await house.deliver(Self.document("cat2"))
      _ = try await house.call("CancelDelivery", "string:\(second.delivery)")
      #expect(try await house.key(of: window.session) == "cat2")
      // The second delivery, which the window got before the third, has failed too.
      _ = try await house.call("CancelDelivery", "string:\(third.delivery)")
      #expect(try await house.key(of: window.session) == "cat1")

      let fourth = try await house.deliver(Self.document("cat4"))
      let written = #"{"activityType":"viewCat","targetContentIdentifier":"cat4"}"#
      try await house.set("UserActivity", of: window.session, to: written)
      _ = try await house.call("CancelDelivery", "string:\(fourth.delivery)")
      #expect(try await house.key(of: window.session) == "cat4")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `it is put back after a kill as well, and stays so after another`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      let (window, second) = try await house.serving { daemon in
        let window = try await house.deliver(Self.document("cat1"))
        let named = Self.document("cat2", options: #""session": "\#(window.identifier)""#)
        let second = try await house.deliver(named)
        daemon.signal(SIGKILL)
        try await daemon.ended()
        return (window, second)
      }
      try await house.serving { daemon in
        #expect(try await house.key(of: window.session) == "cat2")
        _ = try await house.call("CancelDelivery", "string:\(second.delivery)")
        daemon.signal(SIGKILL)
        try await daemon.ended()
      }
      try await house.serving { _ in
        let shown = try await house.key(of: window.session)
        #expect(shown == "cat1")
        #expect(try await house.deliver(Self.document("cat1")).session == window.session)
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a delivery that is redirected leaves its window as it was, and the other when it is cancelled there`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.register(Manifests.cats)
      let window = try await window(in: house)
      let other = try await house.newSession("Default", of: "org.example.Cats")
      let second = try await house.deliver(Self.document("cat2"))
      _ = try await house.call("RedirectDelivery", "string:\(second.delivery)", "objpath:\(other)")
      #expect(try await house.key(of: window.session) == "cat1")
      #expect(try await house.key(of: other) == "cat2")
      _ = try await house.call("CancelDelivery", "string:\(second.delivery)")
      #expect(try await house.key(of: window.session) == "cat1")
      #expect(try await house.key(of: other) == "")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `scenes that were connected are not, when the service is back`(kind: PrivateBus.Kind) async throws {
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      let session = try house.leaveConnected(showing: "now", restoring: "then")
      for _ in 0..<2 {
        try await house.serving { daemon in
          #expect(try await house.property("State", of: session) == "unattached")
          #expect(try await house.property("Connected", of: session) == "false")
          #expect(try await house.key(of: session) == "now")
          daemon.signal(SIGKILL)
          try await daemon.ended()
        }
      }
      try await house.serving { _ in
        // "then" would restore the session, and "now" would not.
        let then = try await house.deliver(Self.document("then"))
        #expect(then.session == session)
        #expect(then.outcome == "restored")
        #expect(try await house.deliver(Self.document("now")).outcome == "created")
      }
    }
  }
}

extension House {
  fileprivate func key(of session: String) async throws -> String {
    try await property("TargetContentIdentifier", of: session)
  }
}
