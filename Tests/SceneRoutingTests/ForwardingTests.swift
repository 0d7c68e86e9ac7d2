import SceneModel
import SceneRouting
import Testing

/// Applications whose sessions stand for other places: only `session` leads to them.
@Suite struct ForwardingTests {
  private let relay = app("org.example.Relay", "view", takes: ["image/*"], forwards: true)
  private let viewer = app("org.example.Viewer", "view")

  private func stage() -> Stage {
    var stage = Stage(relay, viewer)
    stage.session("laptop", of: "org.example.Relay", prefers: "TRUEPREDICATE", state: .foregroundActive, activated: 99)
    return stage
  }

  @Test func `no step of routing chooses them, no preference and no requesting session`() throws {
    var stage = stage()
    stage.state.setPreferredApplication("org.example.Relay", for: "view")
    #expect(stage.drop("view", key: "1", asking: "laptop") == .created("Default"))
    #expect(stage.chosen == ("org.example.Viewer", .onlyOne))
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .refused(.noActivity))
    stage.state.unregister("org.example.Viewer")
    #expect(stage.drop("view", key: "1") == .refused(.activityTypeNotDeclared))
    #expect(
      stage.message
        == "org.example.Relay declares \"view\", but its sessions stand for other places: name a session")
    #expect(stage.drop("view", key: "1", by: Sender(isSandboxed: true)) == .refused(.activityTypeNotDeclared))
    #expect(stage.message?.hasPrefix("no application declares \"view\"") == true)
    #expect(try stage.state.handlers(of: "view").isEmpty)
  }

  @Test(arguments: PayloadOptions.Disposition.allCases)
  func `an application that is named does not choose them either`(disposition: PayloadOptions.Disposition) {
    var stage = stage()
    #expect(stage.drop("view", key: "1", disposition, to: "org.example.Relay") == .refused(.requestDenied))
    // The shorthand for NewSession is all that makes one.
    let empty = stage.drop(items: [], disposition, to: "org.example.Relay")
    #expect(empty == (disposition == .new ? .created("Default") : .refused(.requestDenied)))
  }

  @Test func `the named session gets the delivery, and shows what it showed`() {
    var stage = stage()
    #expect(stage.drop("anything", key: "1", on: "laptop") == .activated("laptop"))
    guard case .sessionActivated(_, at: _, showing: nil)? = stage.decision?.fact else {
      Issue.record("\(String(describing: stage.decision?.fact))")
      return
    }
    #expect(stage.routing?.activityType == "anything")
  }

  @Test func `a sandbox needs a declared type and a host that takes it`() {
    var stage = stage()
    var sandboxed = Sender(isSandboxed: true, application: "org.example.Mail")
    #expect(stage.drop("view", key: "1", on: "laptop", by: sandboxed) == .refused(.accessDenied))
    sandboxed.acceptedBy = "org.example.Relay"
    #expect(stage.drop("anything", key: "1", on: "laptop", by: sandboxed) == .refused(.accessDenied))
    #expect(stage.drop("view", key: "1", on: "laptop", by: sandboxed) == .activated("laptop"))
    #expect(stage.drop(items: [item(as: text("image/png"))], on: "laptop", by: sandboxed) == .activated("laptop"))
    #expect(stage.drop(items: [item(as: text("text/plain"))], on: "laptop", by: sandboxed) == .refused(.accessDenied))
    // What is not declared does not come along.
    _ = stage.drop(items: [item(activity("view", "1"), activity("anything"))], on: "laptop", by: sandboxed)
    #expect(stage.decision?.passedOn?.payload.items.first?.activities.map(\.activityType) == ["view"])
  }

  @Test func `an application that no longer forwards is found again`() {
    var stage = stage()
    stage.state.unregister("org.example.Viewer")
    stage.state.register(app("org.example.Relay", "view"))
    #expect(stage.drop("view", key: "1") == .activated("laptop"))
    stage.state.register(relay)
    #expect(stage.drop("view", key: "1") == .refused(.activityTypeNotDeclared))
  }
}
