import SceneModel
import SceneRouting
import Testing

/// What a state knows about sessions that it does not hold.
@Suite struct KnowledgeTests {
  private let cats = app("org.example.Cats", "view") { window("Default") }
  private let cat1 = Request(Payload(activity("view", "cat1")), newSession: UniqueIdentifier(high: 9, low: 9))

  private func state() -> State {
    var state = State(types: Stage.types)
    state.register(cats)
    return state
  }

  private func session(_ number: UInt64, showing key: Text) -> Session {
    Session(
      identifier: UniqueIdentifier(high: 1, low: number), application: "org.example.Cats", configuration: "Default",
      created: moment(0), userActivity: activity("view", key))
  }

  private func need(_ state: State, _ request: Request) -> Need? {
    if case .needs(let need) = decide(state, request, at: moment(1)) { need } else { nil }
  }

  @Test func `a decision needs the sessions that are concerned with its key, until the state knows them`() {
    var state = state()
    let concerned = Need.sessions(of: "org.example.Cats", concernedWith: "cat1")
    #expect(need(state, cat1) == concerned)
    #expect(!state.knows(concerned))
    state.learn([session(1, showing: "cat1")], answering: concerned)
    #expect(state.knows(concerned))
    #expect(decided(state, cat1, at: moment(1)).outcome == .activated(UniqueIdentifier(high: 1, low: 1)))
  }

  @Test func `a session that is named is needed alone, and once it is known not to exist it is refused`() {
    var state = state()
    var request = cat1
    let identifier = UniqueIdentifier(high: 1, low: 1)
    request.payload.options.session = Text("\(identifier)")
    #expect(need(state, request) == .session(identifier))
    state.learn([], answering: .session(identifier))
    #expect(decided(state, request, at: moment(1)).outcome.refusedBecause == .noSuchSession)
  }

  @Test func `an explanation, and an application that is opened, need all sessions of the application`() {
    var state = state()
    let all = Need.allSessions(of: "org.example.Cats")
    var explained = cat1
    explained.listsCandidates = true
    var opened = Request(Payload(items: []), newSession: UniqueIdentifier(high: 9, low: 9))
    opened.payload.options.application = "org.example.Cats"
    #expect(need(state, explained) == all)
    #expect(need(state, opened) == all)
    state.noteComplete("org.example.Cats")
    #expect(need(state, explained) == nil)
    #expect(need(state, opened) == nil)
  }

  @Test func `what the state holds is newer than what it learns, and what was discarded does not come back`() {
    var state = state()
    state.update(session(1, showing: "cat2"))
    state.update(session(2, showing: "cat1"))
    state.discard(session(2, showing: "cat1").identifier)
    state.learn(
      [session(1, showing: "cat1"), session(2, showing: "cat1")],
      answering: .sessions(of: "org.example.Cats", concernedWith: "cat1"))
    #expect(decided(state, cat1, at: moment(1)).outcome == .created(cat1.newSession))
    #expect(state.sessionCount == 1)
  }

  @Test func `a change of a session that the state did not know is put back as not known`() {
    var state = state()
    let concerned = Need.sessions(of: "org.example.Cats", concernedWith: "cat1")
    let undo = state.update(session(1, showing: "cat2"))
    // In the store the session still shows cat1. The state ignores this, since it holds a newer version.
    state.learn([session(1, showing: "cat1")], answering: concerned)
    #expect(state.knows(concerned))
    state.revert(undo)
    #expect(!state.knows(concerned))
  }

  @Test func `a session that was made and put back was not there before, so that nothing is forgotten`() {
    var state = state()
    let concerned = Need.sessions(of: "org.example.Cats", concernedWith: "cat1")
    state.learn([], answering: concerned)
    let made = decided(state, cat1, at: moment(1))
    guard let fact = made.fact else { preconditionFailure("it was refused") }
    state.revert(state.apply(fact))
    #expect(state.knows(concerned))
    #expect(state.knows(.session(cat1.newSession)))
    #expect(decided(state, cat1, at: moment(1)).fact == fact)
  }

  @Test(arguments: [(4_097, 8), (60, 12_800)])
  func `old keys are forgotten before they take much room, and the last ones are known`(count: Int, bytes: Int) {
    var state = state()
    func need(_ number: Int) -> Need {
      let digits = "\(number)"
      let padding = String(repeating: "0", count: bytes - digits.utf8.count)
      return .sessions(of: "org.example.Cats", concernedWith: Text(padding + digits))
    }
    for number in 0..<count { state.learn([], answering: need(number)) }
    #expect(!state.knows(need(0)))
    #expect((count - 20..<count).allSatisfy { state.knows(need($0)) })
  }

  @Test func `an answer that only needs sessions takes no steps`() {
    let state = state()
    var steps = 1_000
    guard case .needs = decide(state, cat1, at: moment(1), within: &steps) else {
      Issue.record("it decided")
      return
    }
    #expect(steps == 1_000)
  }
}
