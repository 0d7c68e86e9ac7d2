import SceneModel
import SceneRouting
import Testing

/// 3: which of several applications a payload is for, before anyone looks at their sessions.
@Suite struct Step03FitTests {
  private func markdown(_ name: Text = "a.md") -> [Item] { [item(as: file(Text("file:///\(name)"), "text/markdown"))] }

  /// Drops a Markdown file on two applications, of which the second has been used.
  private func dropped(_ one: Manifest, _ other: Manifest) -> (Text?, ApplicationReason?) {
    var stage = Stage(one, other)
    stage.session("used", of: other.identifier, prefers: "TRUEPREDICATE", state: .foregroundActive, activated: 99)
    _ = stage.drop(items: markdown())
    return (stage.application, stage.whyApplication)
  }

  @Test func `the type itself comes before the types that it conforms to, whoever was used last`() {
    let notes = app("org.example.Notes", takes: ["text/markdown"])
    for other in ["text/plain", "text/*", "public.data", "*/*"] as [Text] {
      #expect(dropped(notes, app("org.example.Editor", takes: [other])) == ("org.example.Notes", .listsType))
    }
  }

  @Test(
    arguments: [
      ("text/plain", "text/*"), ("text/plain", "public.data"), ("text/*", "public.content"), ("text/*", "public.data"),
      ("public.data", "*/*"), ("public.data", "public.item"), ("public.item", "*/*"),
    ] as [(Text, Text)])
  func `the nearer type comes first, and those for almost everything last`(nearer: Text, farther: Text) {
    let (one, other) = (app("org.example.Z", takes: [nearer]), app("org.example.A", takes: [farther]))
    #expect(dropped(one, other) == ("org.example.Z", .listsNearestType))
  }

  @Test func `of fewer steps is nearer`() {
    var stage = Stage(
      app("org.example.A", takes: ["public.source-code"]), app("org.example.Z", takes: ["public.script"]))
    _ = stage.drop(items: [item(as: file("file:///a.py", "text/x-python"))])
    #expect(stage.application == "org.example.Z")
  }

  @Test func `a type without parameters is an ancestor of the same with parameters`() {
    var stage = Stage(
      app("org.example.A", takes: ["text/plain"]), app("org.example.Z", takes: ["text/plain;charset=utf-8"]))
    _ = stage.drop(items: [item(as: text("text/plain; charset=UTF-8"))])
    #expect(stage.chosen == ("org.example.Z", .listsType))
    _ = stage.drop(items: [item(as: text("text/plain"))])
    #expect(stage.chosen == ("org.example.A", .onlyOne))
  }

  @Test func `of those that list the nearest type the one of the highest rank`() {
    let ranks: [Manifest.HandlerRank] = [.owner, .default, .alternate]
    for (place, higher) in ranks.enumerated() {
      for lower in ranks[(place + 1)...] {
        let one = app("org.example.Z", takes: ["text/markdown"], ranks: ["text/markdown": higher])
        let other = app("org.example.A", takes: ["text/markdown"], ranks: ["text/markdown": lower])
        #expect(dropped(one, other) == ("org.example.Z", .highestRank))
      }
    }
    // A rank of a farther type says nothing.
    let one = app("org.example.Z", takes: ["text/markdown"], ranks: ["text/markdown": .alternate])
    let other = app("org.example.A", takes: ["text/plain"], ranks: ["text/plain": .owner])
    #expect(dropped(one, other) == ("org.example.Z", .listsType))
  }

  @Test func `an application of the rank None takes what somebody chose it for, and nothing else`() {
    let notes = app("org.example.Notes", takes: ["text/markdown"], ranks: ["text/markdown": .none])
    let editor = app("org.example.Editor", takes: ["text/plain"], ranks: ["text/plain": .alternate])
    var stage = Stage(notes, editor)
    _ = stage.drop(items: markdown())
    #expect(stage.chosen == ("org.example.Editor", .highestRank))
    _ = stage.drop(items: markdown(), to: "org.example.Notes")
    #expect(stage.whyApplication == .named)
    stage.session("notes", of: "org.example.Notes")
    _ = stage.drop(items: markdown(), asking: "notes")
    #expect(stage.chosen == ("org.example.Notes", .ofRequestingSession))
    stage.state.setPreferredApplication("org.example.Notes", for: "text/markdown")
    _ = stage.drop(items: markdown())
    #expect(stage.whyApplication == .preferred)
    stage.state.setPreferredApplication(nil, for: "text/markdown")
    stage.state.unregister("org.example.Editor")
    #expect(stage.drop(items: markdown()) == .refused(.noActivity))
  }

  @Test func `an understudy yields to every application that declares itself`() {
    let native = app("org.example.Z", takes: ["*/*"], ranks: ["*/*": .alternate])
    let understudied = app(
      "org.example.A", takes: ["text/markdown"], ranks: ["text/markdown": .owner], understudy: .registrar)
    #expect(dropped(native, understudied) == ("org.example.Z", .noUnderstudy))
    // Not when somebody chose it.
    var stage = Stage(native, understudied)
    stage.state.setPreferredApplication("org.example.A", for: "text/markdown")
    _ = stage.drop(items: markdown())
    #expect(stage.application == "org.example.A")
    // Among themselves understudies are as others.
    let second = app("org.example.B", takes: ["text/plain"], understudy: .owner("org.example.Understudy"))
    #expect(dropped(understudied, second) == ("org.example.A", .listsType))
    // For activities it yields too.
    stage = Stage(app("org.example.A", "view", understudy: .registrar), app("org.example.Z", "view"))
    _ = stage.drop("view", key: "1")
    #expect(stage.chosen == ("org.example.Z", .noUnderstudy))
  }

  @Test func `equals are told apart as before`() {
    let (one, other) = (app("org.example.A", takes: ["text/markdown"]), app("org.example.B", takes: ["text/markdown"]))
    #expect(dropped(one, other) == ("org.example.B", .hasPreferringSession))
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
