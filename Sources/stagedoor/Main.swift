import DBus
@preconcurrency import Glibc
import ServiceSupport
import StagedoorKit

/// The program: words in, exit status out.
@main enum Main {
  nonisolated static func main() {
    // A closed standard input must not become the connection to the bus.
    StandardDescriptors.fill()
    let words = NotUTF8.words
    do throws(Problem) {
      switch try CommandTable.parse(words) {
      case .help(let command, let color):
        let screen = Screen(color: color)
        try Output.write(command.map { HelpPage.command($0, screen) } ?? HelpPage.program(screen))
        try Output.flush()
      case .nothing(let color):
        try Output.write(HelpPage.program(Screen(color: color)))
        try Output.flush()
        exit(Status.usage.rawValue)
      case .version:
        try Output.line("stagedoor \(CommandTable.versionNumber)")
        try Output.flush()
      case .run(let invocation): try run(invocation)
      }
    } catch {
      end(error, words.first)
    }
  }

  /// Runs the command on one loop in this thread: another thread or a thread pool would have to be started first.
  private nonisolated static func run(_ invocation: Invocation) throws(Problem) -> Never {
    if invocation.command.isMain {
      // The windows of this command live on the main actor.
      MainQueue.run {
        do { exit(try await HostCommand.run(invocation).rawValue) } catch { end(error, invocation.command.name) }
      }
    }
    do throws(ConnectionError) {
      try EventLoop.runHere { loop in
        loop.task { @Sendable in
          do {
            var invocation = invocation
            invocation.loop = loop
            let status = try await invocation.command.run(invocation)
            try Output.flush()
            exit(status.rawValue)
          } catch {
            end(error, invocation.command.name)
          }
        }
      }
    } catch {
      throw .failed("the program cannot start: \(error)")
    }
    preconditionFailure("the loop of a program ends with the program")
  }

  private nonisolated static func end(_ error: any Error, _ command: String?) -> Never {
    switch error {
    case let problem as Problem: end(problem, command)
    case let error as StagedoorError: end(Problem(error), command)
    default: end(.failed("\(error)"), command)
    }
  }

  private nonisolated static func end(_ problem: Problem, _ command: String?) -> Never {
    // The output before the problem is not lost.
    fflush(stdout)
    let name = command.flatMap { CommandTable.command($0) }.map { " \($0.name)" } ?? ""
    // The service may answer with a line for each fault.
    for line in problem.sentence.split(separator: "\n") { Output.note("stagedoor\(name): \(line)") }
    exit(problem.status.rawValue)
  }
}
