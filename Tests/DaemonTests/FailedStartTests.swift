import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// What thousands of held deliveries cost others when the start of their application fails, and what applications leave that come and go.
@Suite struct FailedStartTests {
  private static let held = 5_000

  /// The tests of the core show that they fail some at a time. `make stress` measures how much longer a question waits.
  @Test(.enabled(if: getenv("STAGEDOOR_STRESS") != nil))
  func `nobody waits while the start fails that five thousand deliveries wait for`() async throws {
    try await withHouse { house in
      let home = house.home
      let (script, gate) = ("\(home)/start.sh", "\(home)/gate")
      // The start fails as soon as somebody writes to the pipe.
      try house.write("mkfifo \(gate).new; mv \(gate).new \(gate); read line <\(gate); exit 1\n", to: script)
      try house.write(
        Manifests.application(
          "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main"),
          more: #" "StagedoorExec": "/bin/sh \#(script)","#), to: "\(house.applications)/org.example.Cats.json")
      try await house.serving("--durability", "memory") { _ in
        let (senders, neighbour) = (try await house.bus.connect(), try await house.bus.connect())
        let asked = try house.service(neighbour)
        let begun = try await house.longestWait {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.held {
              if number >= 50 { try await group.next() }
              group.addTask {
                _ = try await house.deliver(Payloads.activity("viewCat", "cat\(number)"), over: senders)
              }
            }
            try await group.waitForAll()
          }
        }
        try await eventually("the start") { FileManager.default.fileExists(atPath: gate) }
        let first: UInt64 = try await asked.get("EventSequence")
        let descriptor = open(gate, O_WRONLY | O_CLOEXEC)
        _ = write(descriptor, "\n", 1)
        close(descriptor)
        // Each has DeliveryFailed, and its session SessionDiscarded.
        let failing = try await house.longestWait {
          try await eventually("all to have failed") {
            let sequence: UInt64 = try await asked.get("EventSequence")
            return sequence >= first + 2 * UInt64(Self.held)
          }
        }
        #expect(try await house.deliveries(in: "held").isEmpty)
        #expect(try await house.sessions().isEmpty)
        // A busy machine is slow in both.
        #expect(failing < .milliseconds(200) + begun * 3, "\(failing), and \(begun) while they came")
        await senders.close()
        await neighbour.close()
      }
    }
  }

  @Test func `a host that gives its name back and takes it again in one breath stays the host`() async throws {
    try await withDaemon(installing: Manifests.mainOnly, with: "--durability", "memory") { house, daemon in
      let host = try await HostPlayer("org.example.Cats", in: house)
      try await host.attach()
      // The service reads all of this at once: its own news of the loss, and then the call.
      try await daemon.freeze()
      _ = try await host.connection.releaseName("org.example.Cats")
      try await host.own()
      async let attached = host.attach()
      // The bus has the call when it answers a later one.
      try await eventually("the call is on its way") {
        _ = try await host.connection.owner(of: "org.example.Cats")
        return true
      }
      daemon.signal(SIGCONT)
      _ = try await attached
      let landing = try await house.hand("viewCat", "cat1", options: #""wait": "handled""#)
      #expect(host.members.contains("ConnectScene"))
      #expect(try await house.property("HostAttached", of: House.cats, in: House.application) == "true")
      await host.leave()
      try await house.waitUntilGone(landing.session)
    }
  }

  @Test func `applications that came and went leave nothing`() async throws {
    try await withDaemon(with: "--durability", "memory") { house, daemon in
      let connection = try await house.bus.connect()
      let service = try house.service(connection)
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
      await connection.close()
    }
  }
}
