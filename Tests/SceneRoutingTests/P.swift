import SceneModel
import SceneRouting
import Testing

@Suite struct FirstTests {
  @Test func `a drop makes a session and finds it again`() throws {
    let rules = ReadingRules(types: TypeCatalog())
    let manifest = try Manifest(
      Array(
        #"""
        {"CFBundleIdentifier":"org.example.Cats","NSUserActivityTypes":["viewCat"],
         "UIApplicationSceneManifest":{"UIApplicationSupportsMultipleScenes":true,"UISceneConfigurations":{
          "UIWindowSceneSessionRoleApplication":[{"UISceneConfigurationName":"Default"},
           {"UISceneConfigurationName":"Cat Detail","StagedoorActivityTypes":["viewCat"]}]}}}
        """#.utf8), types: rules.types)
    var state = State(types: rules.types)
    state.register(manifest)
    let payload = try Payload(
      json: #"{"activity":{"activityType":"viewCat","targetContentIdentifier":"cat1"}}"#, rules)
    let one = UniqueIdentifier(high: 1, low: 1)
    let decision = decide(state, Request(payload, newSession: one), at: Instant(microseconds: 5))
    #expect(decision.outcome == .created(one))
    for fact in decision.facts { state.apply(fact) }
    let again = decide(state, Request(payload, newSession: UniqueIdentifier(high: 2, low: 1)), at: Instant(microseconds: 6))
    #expect(again.outcome == .activated(one))
  }
}
