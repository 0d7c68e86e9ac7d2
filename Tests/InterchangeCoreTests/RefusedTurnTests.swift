import SceneModel
import SceneRouting
import Testing
import Theatre

@testable import InterchangeCore

/// A turn that the store refuses leaves no trace: the core knows what it knew before, and reacts to the same cue like a core that never got the cue.
@Suite struct RefusedTurnTests {
  private static let cat: Text = "org.example.Cats"

  private typealias Act = @Sendable (Stage) -> Void

  private struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let prepare: Act
    let act: Act

    init(_ description: String, after prepare: @escaping Act = { _ in }, _ act: @escaping Act) {
      (testDescription, self.prepare, self.act) = (description, prepare, act)
    }
  }

  private static func holding(_ keys: Text...) -> Act {
    { stage in for key in keys { stage.drop(key: key) } }
  }

  /// A host that shows windows of these keys.
  private static func showing(_ keys: Text...) -> Act {
    { stage in
      stage.attach()
      for key in keys { stage.drop(key: key) }
      stage.hostAnswersAll()
    }
  }

  /// A host that is asked about a drop: for the configuration, and then to connect the scene.
  private static func asking(_ answers: HostAnswer...) -> Act {
    { stage in
      stage.attach()
      stage.drop(key: "1") { $0.wait = .handled }
      for answer in answers { stage.hostAnswers(answer) }
    }
  }

  private static func attach(_ shown: [UniqueIdentifier] = []) -> Ask {
    .attach(application: cat, shown: shown, unknown: [], HostOptions())
  }

  private static func onFirst(_ ask: @escaping @Sendable (UniqueIdentifier) -> Ask, by caller: Caller = .shell) -> Act {
    { $0.call(ask($0.sessions()[0].identifier), by: caller) }
  }

  /// A drag, and a window of a host.
  private static let dragging: Act = { stage in
    showing("1")(stage)
    stage.begin(.text())
  }

  private static func onDrag(
    by caller: Caller = .shell, _ ask: @escaping @Sendable (Stage, UniqueIdentifier) -> Ask
  ) -> Act {
    { stage in if let drag = stage.memory.drags.values.keys.first { stage.call(ask(stage, drag), by: caller) } }
  }

  private static let redirect: Act = { stage in
    stage.call(.redirect(stage.shelf.deliveryOrder[1], to: stage.sessions()[0].identifier))
  }

  private static func answers(_ answer: HostAnswer) -> Act {
    { $0.play(.hostAnswered($0.asked[0].errand, answer)) }
  }

  private static let cases: [Case] = [
    Case("a drop that makes a session", holding("1")),
    Case("a drop that activates a session", after: holding("1"), holding("1")),
    Case("a drop that changes what the session shows", after: holding("1")) { stage in
      stage.drop(key: "2", to: stage.sessions()[0].identifier)
    },
    Case("a call to attach") { $0.call(attach(), by: .host) },
    Case("an acknowledgement", after: asking(.configuration("Other")), answers(.done)),
    Case("a refusal", after: asking(.configuration("Other")), answers(.refused("no"))),
    Case("a silence", after: asking(.configuration("Other")), answers(.timedOut)),
    Case("a failure", after: asking(.configuration("Other")), answers(.failed("no"))),
    Case("a departure", after: asking(.configuration("Other")), answers(.gone(neverReached: false))),
    Case("the host's choice of configuration", after: asking(), answers(.configuration("Other"))),
    Case("a choice that is none", after: asking(), answers(.configuration("Third"))),
    Case("a redirect of what is held", after: holding("1", "2"), redirect),
    Case("a redirect of what was handled", after: showing("1", "2"), redirect),
    Case("SetState", after: showing("1"), onFirst({ .setState($0, .foregroundActive) }, by: .host)),
    Case("a title", after: showing("1"), onFirst({ .write($0, .title("Cat")) }, by: .host)),
    Case("a disconnection", after: showing("1"), onFirst({ .disconnect($0) }, by: .host)),
    Case("a refresh", after: showing("1"), onFirst { .refresh($0) }),
    Case("destroying without a host", after: holding("1"), onFirst { .destroy($0, animation: "standard") }),
    Case("destroying with a host", after: showing("1"), onFirst { .destroy($0, animation: "commit") }),
    Case("cancelling", after: holding("1")) { $0.call(.cancel($0.shelf.deliveryOrder[0])) },
    Case("a drop whose contents are packed") { $0.drop(.descriptor()) },
    Case(
      "a release",
      after: { stage in
        stage.attach()
        _ = try? stage.handled(.descriptor())
      }, { $0.call(.release($0.shelf.deliveryOrder[0]), by: .host) }),
    Case("a drag that begins") { $0.begin(.text()) },
    Case(
      "the ticket of a drag", after: dragging,
      onDrag(by: .target) { .openDrag(ticket: $0.memory.drags[$1]?.ticket ?? .empty) }),
    Case(
      "more items of a drag", after: dragging,
      onDrag { .addItems([Item(representations: [.text("b")])], to: $1, size: 1) }),
    Case("a proposal", after: dragging, onDrag { .propose($1, on: $0.sessions()[0].identifier) }),
    Case(
      "the drop of a drag", after: dragging, onDrag { .drop($1, on: $0.sessions()[0].identifier, operation: "copy") }),
    Case("the end of a drag", after: dragging, onDrag { .cancelDrag($1) }),
    Case("registering") { $0.call(.register(cats("org.example.Dogs"), size: 100)) },
    Case("registering again", after: holding("1")) { $0.call(.register(cats(configurations: ["Third"]), size: 100)) },
    Case("unregistering", after: holding("1")) { $0.call(.unregister(cat)) },
    Case("preferring") { $0.call(.prefer(cat, type: "view")) },
    Case("a batch", after: holding("1")) { stage in
      let items = ["1", "2", "2"].map { stage.activity("view", $0).items[0] }
      stage.call(.deliverEach(Payload(items: items), digest: "d", size: 100))
    },
    Case(
      "a deadline",
      after: { stage in
        stage.drop(key: "1") { $0.wait = .handled }
        stage.pass(seconds: 21)
      },
      { stage in
        stage.play(.launch(application: cat, number: 1, .unknown))
        stage.play(.moment)
      }),
    Case(
      "a beginning",
      after: { stage in
        showing("1")(stage)
        stage.drop(key: "2")
        stage.restart(cats(), begins: false)
      }, { $0.play(.began) }),
  ]

  @Test func `an attachment that cannot be stored is answered so, and changes nothing`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    stage.call(Self.attach(), by: .other)
    let shelf = stage.shelf
    stage.turn(refused: true) { $0.play(.ownership($0.lastQuestion, isOwner: true)) }
    #expect(stage.answer?.refusal?.name == .storageFailed)
    #expect(stage.shelf == shelf)
    #expect(stage.memory.hosts[Self.cat]?.connection == Caller.host.connection)
    #expect(!stage.hasBacklog)
    stage.attach(as: .other)
    #expect(stage.shelf.sessions[window]?.isConnected == false)
    #expect(stage.memory.hosts[Self.cat]?.connection == Caller.other.connection)
  }

  @Test(arguments: cases) private func `it leaves no trace`(of one: Case) {
    func stage() -> Stage {
      let stage = Stage(cats(configurations: ["Default", "Other"], isDynamic: true))
      one.prepare(stage)
      return stage
    }
    let (refused, other) = (stage(), stage())
    let (before, shelf, parcels) = (portrait(of: refused.book), refused.shelf, refused.parcels)
    refused.turn(refused: true, one.act)
    #expect(portrait(of: refused.book).difference(from: before).map { "\($0)" } == [])
    #expect(refused.shelf == shelf && refused.parcels == parcels && refused.baggage.packings.isEmpty)
    for (identifier, session) in refused.memory.sessions.values { #expect(session == shelf.sessions[identifier]) }
    for (identifier, delivery) in refused.memory.recent.values { #expect(delivery == shelf.deliveries[identifier]) }
    other.lastCall = refused.lastCall
    let (again, first) = (portrait(of: refused.turn(one.act)), portrait(of: other.turn(one.act)))
    #expect(again.difference(from: first).map { "\($0)" } == [])
    #expect(!first.isEmpty)
  }
}
