import SceneModel
import SceneRouting
import Testing

/// What a session shows.
@Suite struct ShownActivityTests {
  private let cats = app("org.example.Cats", "view", takes: ["image/*"])

  @Test func `a connected one shows its current activity`() {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "current")) {
      $0.stateRestorationActivity = activity("view", "stored")
    }
    #expect(stage.drop("view", key: "stored") == .created("Default"))
    #expect(stage.drop("view", key: "current") == .activated("it"))
    #expect(stage.because == .onlyInTier)
  }

  @Test func `one that is not connected shows what it would be restored with`() {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "current")) {
      $0.stateRestorationActivity = activity("view", "stored")
      $0.isConnected = false
    }
    #expect(stage.drop("view", key: "current") == .created("Default"))
    #expect(stage.drop("view", key: "stored") == .restored("it"))
    #expect(stage.because == .onlyInTier)
  }

  @Test func `but one that would be restored with something else shows that first`() {
    var stage = Stage(cats)
    stage.session("it") {
      $0.stateRestorationActivity = activity("view", "stored")
      $0.isConnected = false
    }
    #expect(stage.drop("view", key: "new", on: "it") == .restored("it"))
    #expect(stage.drop("view", key: "new", .existingOnly) == .refused(.noMatchingSession))
    var other = stage
    #expect(other.drop("view", key: "stored") == .restored("it"))
    // Once it is connected, the session shows what it was given.
    stage.change("it") { $0.isConnected = true }
    #expect(stage.drop("view", key: "stored", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "new") == .activated("it"))
  }

  @Test func `what a decision hands over is shown at once`() {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "1"), can: "SELF == '2'")
    #expect(stage.drop("view", key: "2") == .activated("it"))
    stage.change("it") { $0.canActivatePredicate = "" }
    #expect(stage.drop("view", key: "2") == .activated("it"))
    #expect(stage.drop("view", key: "1") == .created("Default"))
  }

  @Test func `a restoration activity without a key hides what it showed last`() {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "current")) {
      $0.stateRestorationActivity = activity("view")
      $0.isConnected = false
    }
    #expect(stage.drop("view", key: "current") == .created("Default"))
  }

  @Test func `a session that was opened for a file is found by it, until an activity says what it shows`() {
    var stage = Stage(cats)
    let picture = [item(as: file("file:///a.png"))]
    #expect(stage.drop(items: picture) == .created("Default"))
    #expect(stage.drop(items: picture) == .activated("#1"))
    #expect(stage.drop("view", key: "1", on: "#1") == .activated("#1"))
    #expect(stage.drop(items: picture) == .created("Default"))
  }
}
