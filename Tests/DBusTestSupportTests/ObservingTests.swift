import DBus
import DBusTestSupport
import ExitTestSupport
import Glibc
import Testing

/// Counts cover the whole process, and other tests run in it, so each test looks at a process of its own.
@Suite struct ObservingTests {
  @Test func `an open file shows among the descriptors of its process, under its path`() async throws {
    let descriptor = open("/dev/full", O_RDONLY | O_CLOEXEC)
    #expect(OpenDescriptors.list[descriptor] == "/dev/full")
    #expect(OpenDescriptors.count >= 4)
    close(descriptor)
    try await Command("sh", "-c", "exec 9</dev/full; echo ready; exec sleep 1000").whileRunning { running in
      try await running.nextLine()
      #expect(OpenDescriptors.of(process: running.processIdentifier)[9] == "/dev/full")
    }
  }

  @Test func `a thread that waits is seen to`() async throws {
    let before = ContextSwitches.now()
    let mine = try #require(before.first { $0.thread == getpid() })
    #expect(!mine.name.isEmpty)
    try await Command("cat", input: "").whileRunning { _ in }
    try await withPeers { _, client in
      try await client.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping")
      try await eventually("the loop to have waited") {
        ContextSwitches.since(before).contains { $0.name == "dbus-loop" && $0.voluntary > 0 }
      }
    }
  }
}

/// Each test runs in a process of its own, where nobody else opens or closes a descriptor. Swift's executor opens a few of its own at any time; fifty
/// that leak one each are more than that.
@Suite(.ownThreads) struct LeakTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `fifty buses leave no descriptor behind`(kind: PrivateBus.Kind) async throws {
    await #expect(processExitsWith: .success) { [name = kind.rawValue as String] in
      let kind = try #require(PrivateBus.Kind(rawValue: name))
      try await expectNoneLeft {
        try await withPrivateBus(kind) { bus in
          try await bus.install("org.example.Nobody", executable: "true")
          let connection = try await bus.connect()
          await connection.close()
        }
      }
    }
  }

  @Test func `fifty commands leave no descriptor behind`() async throws {
    await #expect(processExitsWith: .success) {
      try await expectNoneLeft { _ = try await Command("cat", input: "hello").run() }
    }
  }
}

private func expectNoneLeft(by use: () async throws -> Void) async throws {
  try await use()
  let before = OpenDescriptors.count
  for _ in 1...50 { try await use() }
  try await eventually("the last of them is closed") { OpenDescriptors.count < before + 25 }
}
