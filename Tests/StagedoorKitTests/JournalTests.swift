import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
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
          // One delivery has two entries.
          let entries = ["wind", "sun"].map {
            DragItem(UserActivity("\(Self.application).write", userInfo: ["text": .string($0)]))
          }
          try await stagedoor.deliver(entries, .handled)
          try await eventually("both entries") {
            try await stagedoor.sessions(of: Self.application).map(\.title).contains("4 entries, the last: sun")
          }
        }
      }
    }
  }

  @Test(.service) func `an empty folder for data counts as none, and nobody else may read the journal`() async throws {
    var follower = journal("follow", in: house)
    follower.environment["XDG_DATA_HOME"] = ""
    _ = try await follower.whileRunning { follower in try await follower.nextLine() }
    let folder = "\(house.home)/.local/share/\(Self.application)"
    #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
  }

  private func shows(_ title: String, in count: Int, _ stagedoor: Stagedoor) async throws {
    try await eventually("\(count) windows with the title \(title)") {
      try await stagedoor.sessions(of: Self.application).map(\.title) == Array(repeating: title, count: count)
    }
  }
}
