import DBus
import DBusTestSupport
import ExitTestSupport
import Testing

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
