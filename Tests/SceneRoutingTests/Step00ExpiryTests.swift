import SceneModel
import SceneRouting
import Testing

/// 0: everything is validated before anything changes.
@Suite struct Step00ExpiryTests {
  private func cat(expiring date: Instant, type: Text = "viewCat", visibility: Visibility = .all) -> UserActivity {
    UserActivity(
      activityType: type, targetContentIdentifier: "cat1", expirationDate: date, visibility: visibility)
  }

  @Test func `an activity whose date has passed is refused, and nothing is made`() {
    var stage = Stage(app("org.example.Cats", "viewCat"))
    #expect(stage.drop(Payload(cat(expiring: moment(999)))) == .refused(.activityExpired))
    #expect(stage.state.sessionCount == 0)
    #expect(
      stage.message == #"the activity "viewCat" expired at 1970-01-01T00:16:39Z, and it is 1970-01-01T00:16:40Z"#)
    #expect(stage.because == nil)
    #expect(stage.application == nil)
  }

  @Test func `at its date it has not passed, a microsecond later it has`() {
    var stage = Stage(app("org.example.Cats", "viewCat"))
    let now = stage.now
    #expect(stage.drop(Payload(cat(expiring: now))) == .created("Default"))
    stage.now = Instant(microseconds: now.microseconds + 1)
    #expect(stage.drop(Payload(cat(expiring: now))) == .refused(.activityExpired))
  }

  @Test func `any activity of it counts, whether or not it would route`() {
    var stage = Stage(app("org.example.Cats", "viewCat"))
    stage.session("main")
    let fresh = activity("viewCat", "cat1")
    let others = [
      cat(expiring: moment(1)), cat(expiring: moment(1), type: "nobody's"),
      cat(expiring: moment(1), visibility: .ownProcess),
    ]
    for other in others {
      #expect(stage.drop(items: [item(fresh), item(fresh, other)]) == .refused(.activityExpired))
      #expect(stage.drop(items: [item(fresh, other)], on: "main") == .refused(.activityExpired))
    }
  }

  @Test func `it is looked at before the session, the application and the configuration that are named`() {
    var stage = Stage(app("org.example.Cats", "viewCat"))
    var payload = Payload(cat(expiring: moment(1)))
    payload.options.session = "no session"
    #expect(stage.drop(payload) == .refused(.activityExpired))
    payload.options.session = nil
    payload.options.application = "org.example.Nobody"
    #expect(stage.drop(payload) == .refused(.activityExpired))
    payload.options.application = nil
    payload.options.configuration = "Nothing"
    #expect(stage.drop(payload) == .refused(.activityExpired))
  }
}
