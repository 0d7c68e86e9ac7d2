import SceneModel
import SceneRouting
import Testing

/// 3: which of several applications a payload is for, where the types are not in the generated worlds of `ReferenceLaws`.
@Suite struct FitTests {
  @Test(
    arguments: [
      ("text/plain", "text/*"), ("text/plain", "public.data"), ("text/*", "public.content"), ("text/*", "public.data"),
      ("public.data", "*/*"), ("public.data", "public.item"), ("public.item", "*/*"),
    ] as [(Text, Text)])
  func `the nearer type comes first, and those for almost everything last`(nearer: Text, farther: Text) {
    var stage = Stage(app("org.example.Z", takes: [nearer]), app("org.example.A", takes: [farther]))
    stage.session("used", of: "org.example.A", prefers: "TRUEPREDICATE", state: .foregroundActive, activated: 99)
    _ = stage.drop(items: [item(as: file("file:///a.md", "text/markdown"))])
    #expect(stage.chosen == ("org.example.Z", .listsNearestType))
  }

  @Test func `of fewer steps is nearer`() {
    var stage = Stage(
      app("org.example.A", takes: ["public.source-code"]), app("org.example.Z", takes: ["public.script"]))
    _ = stage.drop(items: [item(as: file("file:///a.py", "text/x-python"))])
    #expect(stage.application == "org.example.Z")
  }

  @Test func `types are compared by their bytes`() {
    var stage = Stage(app("org.example.Cats", "view", "viewCat"))
    for type in ["viewcat", "viewCat ", "VIEWCAT"] as [Text] {
      #expect(stage.drop(type) == .refused(.activityTypeNotDeclared))
    }
  }

  @Test func `families are those of configurations, and declare nothing`() {
    var stage = Stage(app("org.example.Cats", "com.example.*") { window("Default") })
    #expect(stage.drop("com.example.a") == .refused(.activityTypeNotDeclared))
  }

  // MARK: Links

  @Test func `a link goes to who takes its scheme, then to who takes links, and to no editor`() {
    let editor = app("org.example.Editor", takes: ["text/plain", "text/*", "public.data"])
    let mail = app("org.example.Mail", takes: ["x-scheme-handler/mailto"])
    let links = app("org.example.Links", takes: ["text/uri-list"])
    let letter = [Item(representations: Representation.link(to: "MAILTO:ann@example.org"))]
    let page = [Item(representations: Representation.link(to: "https://example.org"))]
    var stage = Stage(editor, mail, links)
    _ = stage.drop(items: letter)
    #expect(stage.application == "org.example.Mail")
    #expect(stage.key == "mailto:ann@example.org")
    _ = stage.drop(items: page)
    #expect(stage.application == "org.example.Links")
    #expect(stage.key == "https://example.org/")
    stage.state.unregister("org.example.Links")
    #expect(stage.drop(items: page) == .refused(.noActivity))
  }
}
