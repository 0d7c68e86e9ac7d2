import SceneModel
import SceneRouting
import Testing

/// How content types find the applications that take them.
@Suite struct RoutedTypeTests {
  private let pictures = app("org.example.Pictures", takes: ["image/png"])

  private func strange(_ count: Int, then last: Representation) -> [Item] {
    let all = (0..<count).map { text(Text("application/x-strange-\($0)")) } + [last]
    return stride(from: 0, to: all.count, by: Limits.perItem).map { start in
      Item(representations: Array(all[start..<min(start + Limits.perItem, all.count)]))
    }
  }

  @Test func `a payload is routed past as many types as the limit says, less one, and no further`() {
    var stage = Stage(pictures)
    let last = file("file:///a.png")
    #expect(stage.drop(items: strange(Limits.routedTypes - 1, then: last)) == .created("Default"))
    #expect(stage.drop(items: strange(Limits.routedTypes, then: last)) == .refused(.noActivity))
  }

  @Test func `the same type counts once, however often it is there`() {
    var stage = Stage(pictures)
    let items = (0..<3 * Limits.routedTypes).map { _ in item(as: text("application/x-strange")) }
    #expect(stage.drop(items: items + [item(as: file("file:///a.png"))]) == .created("Default"))
  }

  @Test func `types that the named application does not take count too`() {
    var stage = Stage(app("org.example.All", takes: ["*/*"]), pictures)
    let last = file("file:///a.png")
    let (few, many) = (strange(Limits.routedTypes - 1, then: last), strange(Limits.routedTypes, then: last))
    #expect(stage.drop(items: few, to: "org.example.Pictures") == .created("Default"))
    #expect(stage.drop(items: many, to: "org.example.Pictures") == .refused(.noActivity))
  }

  @Test func `a batch of types that nobody takes has the steps of one decision, and is refused beyond these`() throws {
    var stage = Stage(pictures)
    let items = (0..<Limits.items).map { number in
      Item(representations: (0..<Limits.perItem).map { text(Text("application/x-\(number)-\($0)")) })
    }
    var payload = Payload(items: items)
    payload.options.batch = .bestEffort
    let decisions = decideEach(&stage.state, payload, at: stage.now) { UniqueIdentifier(high: 3, low: 1) }
    #expect(decisions.first?.outcome.refusedBecause == .noActivity)
    #expect(decisions.last?.outcome.refusedBecause == .limitsExceeded)
    #expect(decisions.reduce(0) { $0 + $1.steps } < Limits.conditionSteps + 4_096)
  }

  @Test(arguments: [1, 300])
  func `a type takes no more steps beside many manifests that declare others`(manifests: Int) {
    var stage = Stage(
      (0..<manifests).map { number in
        app(Text("org.example.Other\(number)"), takes: (0..<50).map { Text("application/x-\(number)-\($0)") })
      } + [pictures])
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .created("Default"))
    #expect(stage.decision?.steps ?? .max < 8_192)
  }

  @Test func `an application that is registered anew takes what it declares now`() {
    var stage = Stage(pictures)
    stage.state.register(app("org.example.Pictures", takes: ["text/plain"]))
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .refused(.noActivity))
    #expect(stage.drop(items: [item(as: text("text/html"))]) == .created("Default"))
    stage.state.unregister("org.example.Pictures")
    #expect(stage.drop(items: [item(as: text("text/html"))]) == .refused(.noActivity))
  }

  @Test func `parameters lead to who asks for them`() {
    var stage = Stage(
      app("org.example.Flowed", takes: ["text/plain;format=flowed"]),
      app("org.example.Both", takes: ["text/plain;delsp=yes;format=flowed"]))
    #expect(stage.drop(items: [item(as: text("text/plain"))]) == .refused(.noActivity))
    #expect(stage.drop(items: [item(as: text("text/plain;charset=utf-8;format=flowed"))]) == .created("Default"))
    #expect(stage.application == "org.example.Flowed")
    #expect(stage.drop(items: [item(as: text("text/plain;format=flowed;delsp=yes"))], .new) == .created("Default"))
    #expect(stage.decision?.explanation.applicationReason != .onlyOne)
  }

  @Test func `sessions of a configuration that a manifest has lost are found again when it is back`() {
    var stage = Stage(app("org.example.Cats", "view") { window("Cat") })
    stage.session("it", "Cat", showing: activity("view", "cat1"))
    stage.state.register(app("org.example.Cats", "view") { window("Other") })
    #expect(stage.drop("view", key: "cat1", .existingOnly) == .refused(.noMatchingSession))
    stage.state.register(app("org.example.Cats", "view") { window("Cat") })
    #expect(stage.drop("view", key: "cat1", .existingOnly) == .activated("it"))
  }
}
