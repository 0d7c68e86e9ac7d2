@preconcurrency import Glibc
import StagedoorKit

/// usage: journal              shows its windows, for as long as it runs
///        journal open         opens another window
///        journal write TEXT   hands an entry in
///        journal follow       prints the journal's entries, now and after each change
@main enum Main {
  static func main() {
    setvbuf(stdout, nil, _IOLBF, 0)
    let arguments = Array(CommandLine.arguments.dropFirst())
    MainQueue.run {
      switch (arguments.first, arguments.count) {
      case (nil, _): try await JournalApplication(Journal()).run()
      case ("open", 1): try await Stagedoor.connect().newSession(of: JournalApplication.identifier)
      case ("write", 2): try await write(arguments[1])
      case ("follow", 1): try await follow()
      default:
        print("usage: journal [open | write TEXT | follow]")
        exit(2)
      }
    }
  }

  @MainActor private static func write(_ text: String) async throws {
    let activity = UserActivity(
      JournalApplication.writing, targetContentIdentifier: JournalApplication.key, userInfo: ["text": .string(text)])
    var options = DeliveryOptions()
    options.wait = .handled
    try await Stagedoor.connect().deliver(activity, options)
  }

  /// In a process of its own, this reads the store after each notification of a change.
  @MainActor private static func follow() async throws {
    let stagedoor = try await Stagedoor.connect()
    let changes = try await stagedoor.notifications(named: .entriesChanged, of: JournalApplication.identifier)
    print(try Journal().summary)
    for await _ in changes { print(try Journal().summary) }
  }
}
