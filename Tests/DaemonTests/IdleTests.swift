import DBus
import DBusTestSupport
import Glibc
import Testing

/// What the service does when nobody needs it.
@Suite struct IdleTests {
  @Test func `once all is stored and put in order no thread of it wakes, whatever came and went`() async throws {
    let cats = Manifests.application(
      "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main"),
      more: #" "StagedoorExec": "/bin/false","#)
    try await withDaemon(installing: cats) { house, daemon in
      let waits = Payloads.activity("viewCat", "cat1", options: #""wait": "handled""#)
      #expect(try await house.refusal("Deliver", "string:\(waits)").name == "org.stagedoor.Error.LaunchFailed")
      try await house.hosting { host in
        _ = try await house.deliver(waits)
        try await daemon.rests()
      }
      // The deadline of what is held does not pass during the test.
      try await house.register(Manifests.oneScene)
      _ = try await house.hand("play")
      try await daemon.rests()
      // SIGHUP makes the service read the manifests again. Afterwards it must rest too.
      daemon.signal(SIGHUP)
      try await daemon.rests()
    }
  }

  @Test(.daemon(installing: Manifests.cats))
  func `once it is quiet, it lets go of the code that it has run`() async throws {
    try await eventually("it takes less than three quarters") {
      _ = try await house.hand("viewCat", "cat1")
      let busy = try daemon.memory("RssFile")
      try await ContinuousClock().sleep(for: .seconds(4))
      return try daemon.memory("RssFile") * 4 < busy * 3
    }
  }

  @Test(.daemon(with: "--durability", "memory")) func `applications that came and went leave nothing`() async throws {
    let service = try house.service(house.watcher)
    func comeAndGo(_ numbers: Range<Int>) async throws {
      for number in numbers {
        let types = (0..<150).map { #""org.example.app\#(number).a-type-with-a-long-name-\#($0)""# }.joined(
          separator: ", ")
        let manifest = """
          {"CFBundleIdentifier": "org.example.App\(number)", "NSUserActivityTypes": [\(types)],
           "UIApplicationSceneManifest": {"UISceneConfigurations": {"UIWindowSceneSessionRoleApplication":
             [{"UISceneConfigurationName": "Main\(number)"}]}}}
          """
        _ = try await service.call("RegisterApplication", manifest, returning: ObjectPath.self)
        try await service.call("UnregisterApplication", "org.example.App\(number)")
      }
    }
    try await comeAndGo(0..<100)
    let before = try daemon.memory("RssAnon")
    try await comeAndGo(100..<700)
    let grown = try daemon.memory("RssAnon") - before
    #expect(grown < 5 << 20, "\(grown) bytes stay")
  }
}
