import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// A turn that the store refuses leaves no trace: the core knows what it knew before, and reacts to the same cue like a core that never got the cue.
@Suite struct RefusedTurnTests {
  private static let cat: Text = "org.example.Cats"

  /// Plays `act` on two equal stages; on one of them, first in a refused turn.
  private func expectNoTrace(
    _ stage: Stage, _ act: (inout Stage) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) rethrows {
    var (refused, other) = (stage, stage)
    (refused.isCopy, other.isCopy) = (true, true)
    var (before, after) = (Portrait(), Portrait())
    let portrait = before.lines(of: refused.book)
    try refused.turn(refused: true, act)
    #expect(after.lines(of: refused.book) == portrait, sourceLocation: sourceLocation)
    #expect(refused.shelf == stage.shelf, sourceLocation: sourceLocation)
    for (identifier, session) in refused.memory.sessions.values {
      #expect(session == refused.shelf.sessions[identifier], sourceLocation: sourceLocation)
    }
    for (identifier, delivery) in refused.memory.recent.values {
      #expect(delivery == refused.shelf.deliveries[identifier], sourceLocation: sourceLocation)
    }
    let one = try played(&refused, act)
    let two = try played(&other, act)
    #expect(one.difference(from: two).map { "\($0)" } == [], sourceLocation: sourceLocation)
    #expect(!two.isEmpty, sourceLocation: sourceLocation)
  }

  private func played(_ stage: inout Stage, _ act: (inout Stage) throws -> Void) rethrows -> [String] {
    var portrait = Portrait()
    var lines: [String] = []
    try stage.turn { stage in
      try act(&stage)
      for step in stage.steps { lines += portrait.lines(of: step) }
    }
    // Both stages share one ledger, which counts each of them.
    return lines
      + portrait.lines(of: stage.book).filter { line in !Resource.allCases.contains { line.hasPrefix("\($0) ") } }
  }

  private func staged(_ prepare: (inout Stage) -> Void = { _ in }) -> Stage {
    var stage = Stage(cats(configurations: ["Default", "Other"], isDynamic: true))
    prepare(&stage)
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
    let stage = staged { stage in
      stage.drop(key: "1")
      stage.call(
        .attach(application: Self.cat, shown: [], unknown: ["/x"], HostOptions(choosesConfiguration: true)),
        by: .host)
    }
    expectNoTrace(stage) { $0.play(.ownership($0.lastCall, isOwner: true)) }
    expectNoTrace(staged()) { stage in
      stage.call(.attach(application: Self.cat, shown: [], unknown: [], HostOptions()), by: .host)
    }
  }

  @Test func `attaching with scenes, in place of another host`() {
    var stage = showing("1")
    let shown = [stage.sessions()[0].identifier]
    stage.call(.attach(application: Self.cat, shown: shown, unknown: [], HostOptions()), by: .other)
    expectNoTrace(stage) { $0.play(.ownership($0.lastCall, isOwner: true)) }
  }

  @Test func `an acknowledgement, a refusal, a silence and a departure`() {
    let stage = staged { stage in
      stage.attach()
      stage.drop(key: "1") { $0.wait = .handled }
      stage.hostAnswers(.configuration("Other"))
    }
    let errand = stage.asked[0].errand
    for answer in [HostAnswer.done, .refused("no"), .timedOut, .failed("no"), .gone(neverReached: false)] {
      expectNoTrace(stage) { $0.play(.hostAnswered(errand, answer)) }
    }
  }

  @Test func `the host's choice of configuration`() {
    let stage = staged { stage in
      stage.attach()
      stage.drop(key: "1")
    }
    let errand = stage.asked[0].errand
    expectNoTrace(stage) { $0.play(.hostAnswered(errand, .configuration("Other"))) }
    expectNoTrace(stage) { $0.play(.hostAnswered(errand, .configuration("Third"))) }
  }

  @Test func `a redirect of what is held, and of what was handled`() {
    let held = staged { stage in
      stage.drop(key: "1")
      stage.drop(key: "2")
    }
    expectNoTrace(held) { stage in
      stage.call(.redirect(stage.shelf.deliveryOrder[1], to: stage.sessions()[0].identifier))
    }
    expectNoTrace(showing("1", "2")) { stage in
      stage.call(.redirect(stage.shelf.deliveryOrder[1], to: stage.sessions()[0].identifier))
    }
  }

  @Test func `SetState, a title, a disconnection and a refresh`() {
    let stage = showing("1")
    let session = stage.sessions()[0].identifier
    expectNoTrace(stage) { $0.call(.setState(session, .foregroundActive), by: .host) }
    expectNoTrace(stage) { $0.call(.write(session, .title("Cat")), by: .host) }
    expectNoTrace(stage) { $0.call(.disconnect(session), by: .host) }
    expectNoTrace(stage) { $0.call(.refresh(session)) }
  }

  @Test func `destroying, with a host and without`() {
    let alone = staged { $0.drop(key: "1") }
    expectNoTrace(alone) { $0.call(.destroy($0.sessions()[0].identifier, animation: "standard")) }
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
    var stage = staged { $0.drop(key: "1") { $0.wait = .handled } }
    stage.pass(seconds: 21)
    expectNoTrace(stage) { stage in
      stage.play(.launch(application: Self.cat, number: 1, .unknown))
      stage.play(.moment)
    }
  }

  @Test func `a beginning`() {
    var stage = showing("1")
    stage.drop(key: "2")
    stage.book = PromptBook(types: Stage.types, seed: (5, 6))
    stage.book.recall(stage.shelf.remembered, at: stage.now)
    stage.play(.declared(cats()))
    expectNoTrace(stage) { $0.play(.began) }
  }
}
