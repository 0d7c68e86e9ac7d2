import SceneModel
import SceneRouting
import Testing

/// 8: the candidates, and which of them want the key.
@Suite struct Step08CandidateTests {
  // MARK: Candidates

  private let cats = app("org.example.Cats", "cat.view", "cat.feed", "dog.view", takes: ["image/*"]) {
    window("Cat", "cat.view")
    window("Also", "cat.view")
    window("Family", "cat.*")
    window("Open")
    window("Feeding", "cat.feed")
    window("Pictures", takes: ["image/*"])
    window("Projector", role: externalDisplay)
  }

  @Test(
    arguments: [
      ("Cat", true), ("Also", true), ("Family", true), ("Open", true), ("Feeding", false), ("Pictures", false),
    ] as [(Text, Bool)])
  func `they are of a configuration that names the type, a family of it, or nothing`(name: Text, isOne: Bool) {
    var stage = Stage(cats)
    stage.session("it", name, prefers: "SELF == '1'")
    #expect(stage.drop("cat.view", key: "1") == (isOne ? .activated("it") : .created("Cat")))
    #expect(stage.because == (isOne ? .onlyInTier : .noCandidate))
    #expect(stage.configuration == "Cat")
  }

  @Test func `or of the one of step 4, though it names other types`() {
    var stage = Stage(
      app("org.example.Cats", "view", "feed") {
        window("Feeding", "feed"); window("More", "feed")
      })
    stage.session("feeding", "Feeding", prefers: "SELF == '1'")
    stage.session("more", "More", prefers: "SELF == '1'", state: .foregroundActive)
    #expect(stage.drop("view", key: "1") == .activated("feeding"))
    #expect(stage.whyConfiguration == .firstOfRole)
    #expect(stage.because == .onlyInTier)
  }

  @Test func `they are of the role`() {
    var stage = Stage(cats)
    stage.session("beamer", "Projector", role: externalDisplay)
    stage.change("beamer") { $0.userActivity = activity("cat.view", "1") }
    #expect(stage.drop("cat.view", key: "1") == .created("Cat"))
    #expect(stage.drop("cat.view", key: "1", role: externalDisplay) == .activated("beamer"))
  }

  @Test func `they are of the chosen application`() {
    var stage = Stage(cats, app("org.example.Dogs", "dog.bark"))
    stage.session("dogs", of: "org.example.Dogs", showing: activity("cat.view", "1"), prefers: "TRUEPREDICATE")
    #expect(stage.drop("cat.view", key: "1") == .created("Cat"))
    #expect(stage.because == .noCandidate)
  }

  @Test func `they need not be connected, nor ever have been`() {
    var stage = Stage(cats)
    stage.session("it", "Cat", prefers: "SELF == '1'", state: .unattached) { $0.isConnected = false }
    #expect(stage.drop("cat.view", key: "1") == .restored("it"))
    stage.change("it") { $0.hasBeenConnected = false }
    #expect(stage.drop("cat.view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
  }

  @Test func `one that was discarded is none`() {
    var stage = Stage(cats)
    stage.session("it", "Cat", prefers: "SELF == '1'")
    stage.discard("it")
    #expect(stage.drop("cat.view", key: "1") == .created("Cat"))
  }

  @Test func `of a configuration that is named, only its own`() {
    var stage = Stage(cats)
    stage.session("cat", "Cat", prefers: "SELF == '1'", state: .foregroundActive)
    stage.session("feeding", "Feeding", can: "SELF == '1'")
    #expect(stage.drop("cat.view", key: "1", in: "Feeding") == .activated("feeding"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.drop("cat.view", key: "1", in: "Open") == .created("Open"))
  }

  @Test func `by content they are of a configuration that takes it`() {
    var stage = Stage(cats)
    stage.session("pictures", "Pictures", prefers: "SELF ENDSWITH '.png'")
    stage.session("feeding", "Feeding", prefers: "SELF ENDSWITH '.png'", state: .foregroundActive)
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .activated("pictures"))
    #expect(stage.configuration == "Pictures")
  }

  @Test func `of as many configurations as there may be the last has candidates too`() throws {
    let names = (1...Limits.configurations).map { #"{"UISceneConfigurationName": "\#($0)"}"# }
    var stage = try Stage(
      manifests: #"""
        {
          "CFBundleIdentifier": "org.example.Cats", "NSUserActivityTypes": ["view"],
          "UIApplicationSceneManifest": {
            "UIApplicationSupportsMultipleScenes": true,
            "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": [\#(names.joined(separator: ","))]}
          }
        }
        """#)
    stage.session("it", Text("\(Limits.configurations)"), showing: activity("view", "1"))
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
  }

  // MARK: Tiers

  private let open = app("org.example.Cats", "view", "feed")

  @Test func `one that cannot is out, even where it prefers and shows it`() {
    var stage = Stage(open)
    stage.session("it", showing: activity("view", "1"), can: "SELF != '1'", prefers: "SELF == '1'")
    #expect(stage.drop("view", key: "1", asking: "it") == .created("Default"))
    #expect(stage.because == .noCandidate)
  }

  @Test func `one that prefers it comes before one that can`() {
    var stage = Stage(open)
    stage.session("can", can: "SELF == '1'", state: .foregroundActive, activated: 9)
    stage.session("prefers", prefers: "SELF == '1'", state: .unattached, activated: 1)
    #expect(stage.drop("view", key: "1", asking: "can") == .activated("prefers"))
    #expect(stage.because == .onlyInTier)
  }

  @Test func `one that shows it is as good as one that prefers it`() {
    var stage = Stage(open)
    stage.session("can", can: "TRUEPREDICATE", state: .foregroundActive)
    stage.session("shows", showing: activity("view", "1"), state: .background)
    #expect(stage.drop("view", key: "1") == .activated("shows"))
    #expect(stage.because == .onlyInTier)
    stage.session("prefers", prefers: "SELF == '1'", state: .foregroundInactive)
    #expect(stage.drop("view", key: "1") == .activated("prefers"))
    #expect(stage.because == .firstInTier)
  }

  @Test func `it has to show the same key of the same type`() {
    var stage = Stage(open)
    stage.session("it", showing: activity("view", "1"))
    #expect(stage.drop("feed", key: "1") == .created("Default"))
    #expect(stage.drop("view", key: "2") == .created("Default"))
    #expect(stage.drop("view", key: "1") == .activated("it"))
  }

  @Test func `without an activity it has to show the same key`() {
    var stage = Stage(app("org.example.Cats", "view", takes: ["image/*"]))
    let shown = UserActivity(activityType: "view", webpageURL: "file:///a.png")
    stage.session("it", showing: shown)
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .activated("it"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.drop(items: [item(as: file("file:///b.png"))]) == .created("Default"))
  }

  @Test func `a window that nobody set conditions for takes only what it shows`() {
    var stage = Stage(open)
    stage.session("it", showing: activity("view", "9"), state: .foregroundActive)
    #expect(stage.drop("view", key: "1", asking: "it") == .created("Default"))
    #expect(stage.because == .noCandidate)
  }

  @Test func `one whose host said that it can is taken where nobody prefers it`() {
    var stage = Stage(open)
    stage.session("it", can: "TRUEPREDICATE")
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
    stage.change("it") { $0.canActivatePredicate = "" }
    #expect(stage.drop("view", key: "2") == .created("Default"))
  }

  @Test func `so is one whose manifest said it`() {
    var stage = Stage(app("org.example.Cats", "view") { window("Default", can: "SELF BEGINSWITH 'cat'") })
    stage.session("it")
    #expect(stage.drop("view", key: "cat1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.drop("view", key: "dog1") == .created("Default"))
  }

  @Test func `what its host sets stands in place of the manifest's until it is put back`() {
    var stage = Stage(
      app("org.example.Cats", "view") { window("Default", can: "SELF == 'a'", prefers: "SELF == 'b'") })
    stage.session("it", can: "SELF == 'c'", prefers: "SELF == 'd'")
    #expect(stage.drop("view", key: "a", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "c", .existingOnly) == .activated("it"))
    stage.change("it") { ($0.canActivatePredicate, $0.prefersToActivatePredicate) = ("", "") }
    stage.change("it") { $0.userActivity = nil }
    #expect(stage.drop("view", key: "c", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "a", .existingOnly) == .activated("it"))
  }

  @Test func `preferring without being able to is a veto too`() {
    var stage = Stage(open)
    stage.session("it", can: "SELF == '1'", prefers: "SELF == '2'")
    #expect(stage.drop("view", key: "2") == .created("Default"))
    #expect(stage.drop("view", key: "1") == .activated("it"))
  }
}
