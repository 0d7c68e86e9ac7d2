import SceneModel
import SceneRouting
import Testing

/// 3: the application, for a payload without an activity of a declared type.
@Suite struct Step03ContentTests {
  private let viewer = app("org.example.Viewer", "view", takes: ["image/*"])
  private let editor = app("org.example.Editor", takes: ["image/*", "public.plain-text"])

  @Test func `the first representation that an application takes routes, in order of registration`() {
    var stage = Stage(viewer, editor)
    let things = item(
      as: text("application/zip"), file("file:///a.txt", "text/plain"), file("file:///a.jpg", "image/jpeg"))
    #expect(stage.drop(items: [things]) == .created("Default"))
    #expect(stage.chosen == ("org.example.Editor", .onlyOne))
    #expect(stage.decision?.explanation.contentType == "text/plain")
    #expect(stage.routing == nil)
  }

  @Test func `applications take types by conformance`() {
    var stage = Stage(viewer)
    #expect(stage.drop(items: [item(as: file("file:///a.jpg", "public.jpeg"))]) == .created("Default"))
    #expect(stage.whyApplication == .onlyOne)
    #expect(stage.drop(items: [item(as: file("file:///a.jpg", "image/x-of-tomorrow"))]) == .activated("#1"))
    #expect(stage.drop(items: [item(as: file("file:///a.mp4", "video/mp4"))]) == .refused(.noActivity))
  }

  @Test func `an activity of a declared type comes before all that an item can be shown as, and another does not`() {
    var stage = Stage(viewer, editor)
    let items = [item(as: file("file:///a.txt", "text/plain")), item(activity("view", "1"))]
    #expect(stage.drop(items: items) == .created("Default"))
    #expect(stage.application == "org.example.Viewer")
    #expect(stage.routing == RoutingActivity(item: 1, activity: 0, activityType: "view"))
    #expect(stage.decision?.explanation.contentType == nil)
    let undeclared = [item(activity("nobody's", "1"), as: file("file:///a.png"))]
    #expect(stage.drop(items: undeclared, to: "org.example.Editor") == .created("Default"))
    #expect(stage.routing == nil)
    #expect(stage.decision?.explanation.contentType == "image/png")
    #expect(stage.key == "file:///a.png")
  }

  @Test func `one that is named has to take it`() {
    var stage = Stage(viewer, editor)
    let words = [item(as: file("file:///a.txt", "text/plain"))]
    #expect(stage.drop(items: words, to: "org.example.Viewer") == .refused(.noActivity))
    #expect(
      stage.message
        == #"there is no activity in it, and org.example.Viewer does not take "text/plain": "#
        + "add an activity, or the type to CFBundleDocumentTypes")
  }
}
