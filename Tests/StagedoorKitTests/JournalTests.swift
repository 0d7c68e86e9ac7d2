import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import Testing

/// `examples/journal`, as it stands: one store, many windows, and other processes.
@Suite struct JournalTests {
  private static let application = "org.stagedoor.examples.Journal"

  private func journal(_ arguments: String..., in house: House) -> Command {
    house.command(Command.built("journal").program, arguments: arguments)
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what is written in one window is shown in all, also by another process, and once`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withService(kind) { house in
      try await house.withClient { stagedoor in
        try await journal(in: house).whileRunning { host in
          try await journal("follow", in: house).whileRunning { follower in
            #expect(try await follower.nextLine() == "0 entries, the last: none")
            try await eventually("a window") { try await journal("open", in: house).run().status.isSuccess }
            _ = try await journal("open", in: house).output()
            try await shows("0 entries, the last: none", in: 2, stagedoor)
            _ = try await journal("write", "a fine day", in: house).output()
            try await shows("1 entries, the last: a fine day", in: 2, stagedoor)
            #expect(try await follower.nextLine() == "1 entries, the last: a fine day")
            try await host.rests()
            try await follower.rests()
          }
        }
        // The next process reads what this one has stored, and has the same windows.
        try await journal(in: house).whileRunning { _ in
          _ = try await journal("write", "rain", in: house).output()
          try await eventually("the window that took it") {
            try await stagedoor.sessions(of: Self.application).map(\.title).contains("2 entries, the last: rain")
          }
          #expect(try await stagedoor.sessions(of: Self.application).count == 2)
        }
      }
    }
  }

  private func shows(_ title: String, in count: Int, _ stagedoor: Stagedoor) async throws {
    try await eventually("\(count) windows with the title \(title)") {
      try await stagedoor.sessions(of: Self.application).map(\.title) == Array(repeating: title, count: count)
    }
  }
}
