import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// A turn that the store refuses leaves no trace: the core knows what it knew before, and reacts to the same cue like a core that never got the cue.
@Suite struct RefusedTurnTests {
  private static let cat: Text = "org.example.Cats"

  /// Plays `act` on two equal stages; on one of them, first in a refused turn.
  private func expectNoTrace(
    _ make: @autoclosure () -> Stage, _ act: (Stage) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) rethrows {
    let (refused, other) = (make(), make())
    var (before, after) = (Portrait(), Portrait())
    let (portrait, shelf) = (before.lines(of: refused.book), refused.shelf)
    try refused.turn(refused: true, act)
    #expect(after.lines(of: refused.book) == portrait, sourceLocation: sourceLocation)
    #expect(refused.shelf == shelf, sourceLocation: sourceLocation)
    for (identifier, session) in refused.memory.sessions.values {
      #expect(session == shelf.sessions[identifier], sourceLocation: sourceLocation)
    }
    for (identifier, delivery) in refused.memory.recent.values {
      #expect(delivery == shelf.deliveries[identifier], sourceLocation: sourceLocation)
    }
    other.lastCall = refused.lastCall
    let one = try played(refused, act)
    let two = try played(other, act)
    #expect(one.difference(from: two).map { "\($0)" } == [], sourceLocation: sourceLocation)
    #expect(!two.isEmpty, sourceLocation: sourceLocation)
  }

  private func played(_ stage: Stage, _ act: (Stage) throws -> Void) rethrows -> [String] {
    var portrait = Portrait()
    return try stage.turn(act).flatMap { portrait.lines(of: $0) } + portrait.lines(of: stage.book)
  }

  private func staged(_ prepare: (Stage) -> Void = { _ in }) -> Stage {
    let stage = Stage(cats(configurations: ["Default", "Other"], isDynamic: true))
    prepare(stage)
    return stage
  }

  /// A stage whose host shows windows of these keys.
  private func showing(_ keys: Text...) -> Stage {
    staged { stage in
      stage.attach()
      for key in keys { stage.drop(key: key) }
      stage.hostAnswersAll()
    }
  }

  @Test func `a drop that makes a session`() { expectNoTrace(staged()) { $0.drop(key: "1") } }

  @Test func `a drop that activates a session`() {
    expectNoTrace(staged { $0.drop(key: "1") }) { $0.drop(key: "1") }
    // A drop that changes what the session shows.
    expectNoTrace(staged { $0.drop(key: "1") }) { stage in
      let session = stage.sessions()[0].identifier
      stage.drop(key: "2", to: session)
    }
  }

  @Test func `attaching`() {
    let attaching: (Stage) -> Void = { stage in
      stage.drop(key: "1")
      stage.call(
        .attach(application: Self.cat, shown: [], unknown: ["/x"], HostOptions(choosesConfiguration: true)),
        by: .host)
    }
    expectNoTrace(staged(attaching)) { $0.play(.ownership($0.lastCall, isOwner: true)) }
    expectNoTrace(staged()) { stage in
      stage.call(.attach(application: Self.cat, shown: [], unknown: [], HostOptions()), by: .host)
    }
  }

  @Test func `attaching with scenes, in place of another host`() {
    func attaching() -> Stage {
      let stage = showing("1")
      let shown = [stage.sessions()[0].identifier]
      stage.call(.attach(application: Self.cat, shown: shown, unknown: [], HostOptions()), by: .other)
      return stage
    }
    expectNoTrace(attaching()) { $0.play(.ownership($0.lastCall, isOwner: true)) }
  }

  @Test func `an acknowledgement, a refusal, a silence and a departure`() {
    let asking: (Stage) -> Void = { stage in
      stage.attach()
      stage.drop(key: "1") { $0.wait = .handled }
      stage.hostAnswers(.configuration("Other"))
    }
    for answer in [HostAnswer.done, .refused("no"), .timedOut, .failed("no"), .gone(neverReached: false)] {
      expectNoTrace(staged(asking)) { $0.play(.hostAnswered($0.asked[0].errand, answer)) }
    }
  }

  @Test func `the host's choice of configuration`() {
    for name in ["Other", "Third"] as [Text] {
      expectNoTrace(
        staged { stage in
          stage.attach()
          stage.drop(key: "1")
        }
      ) { $0.play(.hostAnswered($0.asked[0].errand, .configuration(name))) }
    }
  }

  @Test func `a redirect of what is held, and of what was handled`() {
    let redirect: (Stage) -> Void = { stage in
      stage.call(.redirect(stage.shelf.deliveryOrder[1], to: stage.sessions()[0].identifier))
    }
    expectNoTrace(staged { stage in for key in ["1", "2"] as [Text] { stage.drop(key: key) } }, redirect)
    expectNoTrace(showing("1", "2"), redirect)
  }

  @Test func `SetState, a title, a disconnection and a refresh`() {
    let session = showing("1").sessions()[0].identifier
    for ask in [.setState(session, .foregroundActive), .write(session, .title("Cat")), .disconnect(session)] as [Ask] {
      expectNoTrace(showing("1")) { $0.call(ask, by: .host) }
    }
    expectNoTrace(showing("1")) { $0.call(.refresh(session)) }
  }

  @Test func `destroying, with a host and without`() {
    expectNoTrace(staged { $0.drop(key: "1") }) {
      $0.call(.destroy($0.sessions()[0].identifier, animation: "standard"))
    }
    expectNoTrace(showing("1")) { $0.call(.destroy($0.sessions()[0].identifier, animation: "commit")) }
  }

  @Test func `cancelling`() {
    expectNoTrace(staged { $0.drop(key: "1") }) { $0.call(.cancel($0.shelf.deliveryOrder[0])) }
  }

  @Test func `registering, unregistering and preferring`() {
    expectNoTrace(staged()) { $0.call(.register(cats("org.example.Dogs"), size: 100)) }
    expectNoTrace(staged { $0.drop(key: "1") }) { $0.call(.register(cats(configurations: ["Third"]), size: 100)) }
    expectNoTrace(staged { $0.drop(key: "1") }) { $0.call(.unregister(Self.cat)) }
    expectNoTrace(staged()) { $0.call(.prefer(Self.cat, type: "view")) }
  }

  @Test func `a batch`() {
    expectNoTrace(staged { $0.drop(key: "1") }) { stage in
      let items = ["1", "2", "2"].map {
        Item(activities: [UserActivity(activityType: "view", targetContentIdentifier: $0)])
      }
      stage.call(.deliverEach(Payload(items: items), digest: "d", size: 100))
    }
  }

  @Test func `a deadline`() {
    let late: (Stage) -> Void = { stage in
      stage.drop(key: "1") { $0.wait = .handled }
      stage.pass(seconds: 21)
    }
    expectNoTrace(staged(late)) { stage in
      stage.play(.launch(application: Self.cat, number: 1, .unknown))
      stage.play(.moment)
    }
  }

  @Test func `a beginning`() {
    func starting() -> Stage {
      let stage = showing("1")
      stage.drop(key: "2")
      stage.restart(cats(), begins: false)
      return stage
    }
    expectNoTrace(starting()) { $0.play(.began) }
  }
}
