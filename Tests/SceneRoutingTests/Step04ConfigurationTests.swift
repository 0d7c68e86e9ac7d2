import SceneModel
import SceneRouting
import Testing

/// 4: the configuration.
@Suite struct Step04ConfigurationTests {
  // MARK: A named configuration

  private let named = app("org.example.Cats", "viewCat", "feedCat") {
    window("Default")
    window("Cat", "viewCat")
    window("Feeding", "feedCat")
    window("Projector", role: externalDisplay)
    window("Default", role: externalDisplay)
  }

  @Test func `the one that is named is taken, whether or not it names the type`() {
    var stage = Stage(named)
    for name in ["Default", "Cat", "Feeding"] {
      #expect(stage.drop("viewCat", key: Text(name), in: Text(name)) == .created(name))
      #expect(stage.whyConfiguration == .named)
    }
  }

  @Test func `one that exists in another role only is refused by that`() {
    var stage = Stage(named)
    #expect(stage.drop("viewCat", in: "Projector") == .refused(.roleMismatch))
    #expect(
      stage.message
        == #"the configuration "Projector" of org.example.Cats is of the role "\#(externalDisplay)", "#
        + #"and asked for in "UIWindowSceneSessionRoleApplication""#)
    #expect(stage.drop("viewCat", in: "Cat", role: externalDisplay) == .refused(.roleMismatch))
    #expect(stage.drop("viewCat", in: "Projector", role: externalDisplay) == .created("Projector"))
    // A name may belong to several roles.
    #expect(stage.drop("viewCat", in: "Default", role: externalDisplay) == .created("Default"))
    #expect(stage.sessions["#2"]?.role == externalDisplay)
  }

  @Test func `one that exists nowhere is refused, and those that exist are listed`() {
    var stage = Stage(named)
    #expect(stage.drop("viewCat", in: "cat") == .refused(.noSuchConfiguration))
    #expect(
      stage.message == #"org.example.Cats has no configuration "cat"; there are "Default", "Cat" and "Feeding""#)
    #expect(stage.configuration == nil)
    #expect(stage.application == "org.example.Cats")
    #expect(stage.drop("viewCat", in: "cat", by: Sender(isSandboxed: true)) == .refused(.noSuchConfiguration))
    #expect(stage.message == #"org.example.Cats has no configuration "cat""#)
  }

  // MARK: No named configuration

  @Test func `the first that names the type, else a family of it, else no types, else the first of the role`() {
    let windows = [
      window("Projector", role: externalDisplay), window("Feeding", "cat.feed"), window("Pictures", takes: ["image/*"]),
      window("Open"), window("Open Too"), window("Family", "cat.*"), window("Family Too", "cat.*"),
      window("One", "cat.view"), window("Two", "cat.view"),
    ]
    for (count, name, because) in [
      (9, "One", .namesType), (7, "Family", .namesFamily), (5, "Open", .namesNoTypes), (3, "Feeding", .firstOfRole),
    ] as [(Int, String, ConfigurationReason)] {
      var stage = Stage(
        app("org.example.Cats", "cat.view", "cat.feed", takes: ["image/*"]) { Array(windows.prefix(count)) })
      #expect(stage.drop("cat.view", key: "1") == .created(name))
      #expect(stage.whyConfiguration == because)
      #expect(stage.drop("cat.view", key: "1", role: externalDisplay) == .created("Projector"))
    }
  }

  @Test func `a role without any is refused, and the others are listed`() {
    var stage = Stage(named)
    #expect(stage.drop("viewCat", role: "CarPlay") == .refused(.noSuchConfiguration))
    #expect(
      stage.message
        == #"org.example.Cats has no configuration in the role "CarPlay"; there are some in "#
        + #""UIWindowSceneSessionRoleApplication" and "\#(externalDisplay)""#)
  }

  @Test func `families are those of configurations, and declare nothing`() {
    var stage = Stage(app("org.example.Cats", "com.example.*") { window("Default") })
    #expect(stage.drop("com.example.a") == .refused(.activityTypeNotDeclared))
  }

  // MARK: By content

  private let pictures = app("org.example.Pictures", "view", takes: ["image/*", "text/*"]) {
    window("Default")
    window("Any", takes: ["image/*"])
    window("PNG", takes: ["public.png"])
    window("View", "view")
  }

  @Test func `without an activity the content types are asked, and with one they are not`() {
    var stage = Stage(pictures)
    #expect(stage.drop(items: [item(as: file("file:///a.png", "image/png"))]) == .created("PNG"))
    #expect(stage.whyConfiguration == .namesType)
    #expect(stage.drop(items: [item(as: file("file:///a.jpg", "image/jpeg"))]) == .created("Any"))
    #expect(stage.whyConfiguration == .namesFamily)
    #expect(stage.drop(items: [item(as: file("file:///a.txt", "text/plain"))]) == .created("Default"))
    #expect(stage.whyConfiguration == .namesNoTypes)
    #expect(stage.drop(items: [item(activity("view", "1"), as: file("file:///a.png"))]) == .created("View"))
    #expect(stage.whyConfiguration == .namesType)
  }
}
