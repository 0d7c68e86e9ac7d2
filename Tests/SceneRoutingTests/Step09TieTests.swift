import SceneModel
import SceneRouting
import Testing

/// 9: the best of the highest tier. In each case the later criteria favour the other window.
@Suite struct Step09TieTests {
  private let cats = app("org.example.Cats", "view")

  /// How a window gets into the tier.
  enum Way: CaseIterable, Sendable { case prefers, shows, can }

  private func put(
    _ name: String, _ way: Way, on stage: inout Stage, state: SceneState, created: Int64, activated: Int64,
    number: UInt64
  ) {
    stage.session(
      name, showing: way == .shows ? activity("view", "1") : nil, can: way == .can ? "SELF == '1'" : .empty,
      prefers: way == .prefers ? "SELF == '1'" : .empty, state: state, created: created, activated: activated,
      number: number)
  }

  @Test(arguments: Way.allCases)
  func `the requesting session itself`(way: Way) {
    var stage = Stage(cats)
    put("requesting", way, on: &stage, state: .unattached, created: 9, activated: 1, number: 2)
    put("other", way, on: &stage, state: .foregroundActive, created: 1, activated: 9, number: 1)
    #expect(stage.drop("view", key: "1", asking: "requesting") == .activated("requesting"))
    #expect(stage.because == .requestingSession)
  }

  static let states: [(SceneState, SceneState)] = [
    (.foregroundActive, .foregroundInactive), (.foregroundInactive, .background), (.background, .unattached),
    (.foregroundActive, .unattached),
  ]

  @Test(arguments: states, Way.allCases)
  func `then the state, the nearest to the user first`(states: (SceneState, SceneState), way: Way) {
    var stage = Stage(cats)
    put("near", way, on: &stage, state: states.0, created: 9, activated: 1, number: 2)
    put("far", way, on: &stage, state: states.1, created: 1, activated: 9, number: 1)
    #expect(stage.drop("view", key: "1") == .activated("near"))
    #expect(stage.because == .firstInTier)
  }

  @Test(arguments: Way.allCases)
  func `then the one that was activated last`(way: Way) {
    var stage = Stage(cats)
    put("late", way, on: &stage, state: .background, created: 9, activated: 11, number: 2)
    put("early", way, on: &stage, state: .background, created: 1, activated: 10, number: 1)
    #expect(stage.drop("view", key: "1") == .activated("late"))
    #expect(stage.because == .firstInTier)
  }

  @Test(arguments: Way.allCases)
  func `then the one that was made first`(way: Way) {
    var stage = Stage(cats)
    put("old", way, on: &stage, state: .background, created: 1, activated: 10, number: 2)
    put("young", way, on: &stage, state: .background, created: 2, activated: 10, number: 1)
    #expect(stage.drop("view", key: "1") == .activated("old"))
  }

  @Test(arguments: Way.allCases, [(1, 2), (0xF, 0x10), (0x9, 0xA)] as [(UInt64, UInt64)])
  func `then the first by identifier, byte by byte`(way: Way, numbers: (UInt64, UInt64)) {
    var stage = Stage(cats)
    put("second", way, on: &stage, state: .background, created: 1, activated: 10, number: numbers.1)
    put("first", way, on: &stage, state: .background, created: 1, activated: 10, number: numbers.0)
    #expect(stage.drop("view", key: "1") == .activated("first"))
  }

  @Test func `who comes in by two ways is still one`() {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "1"), can: "SELF != '2'", prefers: "SELF BEGINSWITH '1'")
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
  }
}
