import SceneModel
import SceneRouting
import Testing

/// A stored predicate that no longer parses.
@Suite struct UnreadablePredicateTests {
  private let cats = app("org.example.Cats", "view", "one", "feed") {
    window("Default", can: "TRUEPREDICATE", prefers: "TRUEPREDICATE")
    window("One", "one", launch: .single)
  }

  private static func breakCan(_ session: inout Session) { session.canActivatePredicate = "SELF BETWEEN '.*'" }
  private static func breakPrefers(_ session: inout Session) { session.prefersToActivatePredicate = "SELF ==" }
  static let breaks: [@Sendable (inout Session) -> Void] = [{ breakCan(&$0) }, { breakPrefers(&$0) }]

  @Test(arguments: [0, 1])
  func `its session is out of keyed routing, whatever it shows and whatever else it says`(which: Int) {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "1"))
    stage.change("it", Self.breaks[which])
    #expect(stage.drop("view", key: "1", asking: "it") == .created("Default"))
    #expect(stage.because == .noCandidate)
    // Nor does its session win if another one takes the key.
    #expect(stage.drop("view", key: "1", asking: "it") == .activated("#1"))
    #expect(stage.because == .onlyInTier)
  }

  @Test(arguments: [0, 1])
  func `it says so`(which: Int) {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "1"))
    stage.change("it", Self.breaks[which])
    _ = stage.play { Request(Payload(activity("view", "1")), newSession: $0, listsCandidates: true) }
    let candidate = stage.decision?.explanation.candidates.first
    #expect(candidate?.tier == .out)
    #expect(candidate?.can == nil)
    #expect(candidate?.because.hasPrefix("a stored predicate of it does not parse: column ") == true)
  }

  @Test(arguments: [0, 1])
  func `one that is set right, or put back, is asked again`(which: Int) {
    var stage = Stage(cats)
    stage.session("it")
    stage.change("it", Self.breaks[which])
    #expect(stage.drop("view", key: "1", .existingOnly) == .refused(.noMatchingSession))
    stage.change("it") { ($0.canActivatePredicate, $0.prefersToActivatePredicate) = ("", "") }
    #expect(stage.drop("view", key: "1", .existingOnly) == .activated("it"))
  }

  @Test func `another manifest does not mend it`() {
    var stage = Stage(cats)
    stage.session("it", can: "SELF ==")
    stage.state.register(cats)
    #expect(stage.drop("view", key: "1", .existingOnly) == .refused(.noMatchingSession))
  }

  @Test func `a drop that it gets all the same does not mend it`() {
    var stage = Stage(cats)
    stage.session("it", can: "SELF ==")
    #expect(stage.drop("view", key: "1", on: "it") == .activated("it"))
    #expect(stage.drop("view", key: "1", .existingOnly) == .refused(.noMatchingSession))
  }
}
