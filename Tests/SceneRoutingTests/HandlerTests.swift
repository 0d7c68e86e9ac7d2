import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// The applications that take a type, beginning with the one that a payload of the type goes to.
@Suite struct HandlerTests {
  private let viewer = app("org.example.Viewer", "view", takes: ["image/*"])
  private let editor = app("org.example.Editor", "view", takes: ["image/png"])
  private let player = app("org.example.Player", "play", takes: ["video/*"])

  @Test func `applications that nobody used come by identifier`() throws {
    let stage = Stage(viewer, player, editor)
    #expect(try stage.state.handlers(of: "view") == ["org.example.Editor", "org.example.Viewer"])
    #expect(try stage.state.handlers(of: "image/png") == ["org.example.Editor", "org.example.Viewer"])
    #expect(try stage.state.handlers(of: "public.jpeg") == ["org.example.Viewer"])
    #expect(try stage.state.handlers(of: "play") == ["org.example.Player"])
    #expect(try stage.state.handlers(of: "sing").isEmpty)
    #expect(try stage.state.handlers(of: "").isEmpty)
  }

  @Test func `the application that was used last comes first, and the preferred one before it`() throws {
    var stage = Stage(viewer, editor)
    stage.session("viewer", of: "org.example.Viewer", activated: 5)
    #expect(try stage.state.handlers(of: "view") == ["org.example.Viewer", "org.example.Editor"])
    stage.state.setPreferredApplication("org.example.Editor", for: "view")
    #expect(try stage.state.handlers(of: "view") == ["org.example.Editor", "org.example.Viewer"])
    // It lists the type itself.
    #expect(try stage.state.handlers(of: "image/png") == ["org.example.Editor", "org.example.Viewer"])
    // Both are names of one type.
    stage.state.setPreferredApplication("org.example.Viewer", for: "public.png")
    #expect(try stage.state.handlers(of: "image/png") == ["org.example.Viewer", "org.example.Editor"])
  }

  @Test func `applications that declare the activity type come before those that take the content`() throws {
    let stage = Stage(app("org.example.A", takes: ["public.image"]), app("org.example.B", "public.image"))
    #expect(try stage.state.handlers(of: "public.image") == ["org.example.B", "org.example.A"])
  }

  @Test func `understudies, farther types and lower ranks come later, and the rank None not at all`() throws {
    var stage = Stage(
      app("org.example.A", takes: ["text/markdown"], understudy: .registrar), app("org.example.B", takes: ["text/*"]),
      app("org.example.C", takes: ["text/plain"]), app("org.example.D", takes: ["text/markdown"]),
      app("org.example.E", takes: ["text/markdown"], ranks: ["text/markdown": .owner]),
      app("org.example.F", takes: ["text/markdown"], ranks: ["text/markdown": .none]))
    let letters = { (text: String) in text.map { Text("org.example.\($0)") } }
    #expect(try stage.state.handlers(of: "text/markdown") == letters("EDCBA"))
    stage.state.setPreferredApplication("org.example.F", for: "text/markdown")
    #expect(try stage.state.handlers(of: "text/markdown") == letters("FEDCBA"))
  }

  @Test func `a taker of everything takes no activity type that others declare`() throws {
    let stage = Stage(app("org.example.A", takes: ["public.data"]), app("org.example.B", "org.example.B.open"))
    #expect(try stage.state.handlers(of: "org.example.B.open") == ["org.example.B"])
    #expect(try stage.state.handlers(of: "org.example.b.document") == ["org.example.A"])
    #expect(try stage.state.handlers(of: "image/png") == ["org.example.A"])
  }

  @Test func `the first handler is who gets a payload of the type alone, in generated worlds`() throws {
    for seed in 0..<300 {
      var generator = WorldGenerator(seed: seed)
      let world = generator.world()
      for type in Set(world.manifests.flatMap(\.activityTypes)) {
        let request = Request(Payload(items: [item(activity(type))]), newSession: UniqueIdentifier(high: 9, low: 9))
        let state = Case(world: world, request: request).state()
        let decision = decided(state, request, at: WorldGenerator.now)
        #expect(try state.handlers(of: type).first == decision.explanation.application, "seed \(seed): \(type)")
      }
    }
  }

  @Test func `sessions that the state does not know are asked for, of several applications only`() {
    var state = State(types: Stage.types)
    state.register(viewer)
    #expect(throws: Never.self) { try state.handlers(of: "view") }
    state.register(editor)
    for application: Text in ["org.example.Editor", "org.example.Viewer"] {
      #expect(need(of: state) == .allSessions(of: application))
      state.noteComplete(application)
    }
    #expect(need(of: state) == nil)
  }

  private func need(of state: State) -> Need? {
    do throws(Stop) {
      _ = try state.handlers(of: "view")
      return nil
    } catch {
      if case .needs(let need) = error { return need }
      return nil
    }
  }
}
