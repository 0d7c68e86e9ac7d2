import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// The applications that take a type, beginning with the one that a payload of the type goes to.
@Suite struct HandlerTests {
  private let viewer = app("org.example.Viewer", "view", takes: ["image/*"])
  private let editor = app("org.example.Editor", "view", takes: ["image/png"])

  @Test func `applications that declare the activity type come before those that take the content`() throws {
    let stage = Stage(app("org.example.A", takes: ["public.image"]), app("org.example.B", "public.image"))
    #expect(try stage.state.handlers(of: "public.image") == ["org.example.B", "org.example.A"])
  }

  @Test func `a taker of everything takes no activity type that others declare`() throws {
    let stage = Stage(app("org.example.A", takes: ["public.data"]), app("org.example.B", "org.example.B.open"))
    #expect(try stage.state.handlers(of: "org.example.B.open") == ["org.example.B"])
    #expect(try stage.state.handlers(of: "org.example.b.document") == ["org.example.A"])
    #expect(try stage.state.handlers(of: "image/png") == ["org.example.A"])
    #expect(try stage.state.handlers(of: "").isEmpty)
  }

  /// A content is empty here: without a key no session is asked.
  @Test func `a payload of the type alone goes to the first, and without it to the next, in generated worlds`() throws {
    for seed in 0..<300 {
      var generator = WorldGenerator(seed: seed)
      let world = generator.world()
      for type in generator.pool.activityTypes + generator.pool.carried.map(\.text) {
        let isDeclared = world.manifests.contains { $0.activityTypes.contains(type) }
        let content = ContentType(type).map { item(as: Representation(type: $0, .text(""))) }
        guard let asked = isDeclared ? item(activity(type)) : content else { continue }
        let request = Request(Payload(items: [asked]), newSession: UniqueIdentifier(high: 9, low: 9))
        var state = Case(world: world, request: request).state()
        let handlers = try state.handlers(of: type)
        var order: [Text] = []
        while let application = decided(state, request, at: WorldGenerator.now).explanation.application {
          order.append(application)
          state.unregister(application)
        }
        #expect(handlers == order, "seed \(seed): \(type)")
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
