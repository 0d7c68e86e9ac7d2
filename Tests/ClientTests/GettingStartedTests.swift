import DBus
import DBusTestSupport
import DaemonTestSupport
import Testing

/// The page that takes a newcomer from nothing to a service and a client.
@Suite struct GettingStartedTests {
  private static let files = ["examples/greeter/Service.swift", "examples/greeter/Client.swift"]

  @Test func `the page shows the example files as they are`() throws {
    let page = try Repository.text(of: "Sources/DBus/DBus.docc/GettingStarted.md")
    let blocks = page.split(separator: "```swift\n").dropFirst().map { block in
      block.split(separator: "```\n", omittingEmptySubsequences: false)[0]
    }
    #expect(blocks == (try Self.files.map { try Repository.text(of: $0)[...] }))
  }

  @Test func `service and client are forty lines at most`() throws {
    let lines = try Self.files.flatMap { try Repository.text(of: $0).split(separator: "\n") }
    #expect(lines.count > 20)
    #expect(lines.count <= 40)
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `the client greets through the service, whichever begins`(kind: PrivateBus.Kind) async throws {
    for clientBegins in [false, true] {
      try await withPrivateBus(kind) { bus in
        let watcher = try await bus.connect()
        let service = Command.built("greeter-service", environment: bus.environment)
        let client = Command.built("greeter-client", environment: bus.environment)
        let (first, second) = clientBegins ? (client, service) : (service, client)
        try await first.whileRunning { first in
          if clientBegins {
            try await eventually("the client is on the bus") {
              let names: [String] = try await watcher.call(
                to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames")
              return names.count == 3
            }
          } else {
            _ = try await watcher.owners(of: "org.example.Greeter").first { $0 != nil }
          }
          try await second.whileRunning { second in
            let client = clientBegins ? first : second
            let status = try await client.ended()
            #expect(status == .exited(0))
            #expect(client.standardOutput == "Hello, Ann!\neveryone hears of Ann\n")
            #expect(client.standardError == "")
          }
        }
      }
    }
  }

  @Test func `a second greeter says that there is one`() async throws {
    try await withPrivateBus { bus in
      let service = Command.built("greeter-service", environment: bus.environment)
      let watcher = try await bus.connect()
      try await service.whileRunning { _ in
        _ = try await watcher.owners(of: "org.example.Greeter").first { $0 != nil }
        #expect(try await service.output() == "another greeter is at work on this bus")
      }
    }
  }
}
