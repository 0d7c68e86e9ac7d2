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
        try Output.write(command.map { $0.help(screen) } ?? CommandTable.help(screen))
        try Output.flush()
      case .nothing(let color):
        fputs(CommandTable.help(Screen(color: color, STDERR_FILENO)), stderr)
        exit(Status.usage.rawValue)
      case .version:
        try Output.line("stagedoor \(CommandTable.versionNumber)")
        try Output.flush()
      case .run(let invocation): try run(invocation)
      }
    } catch {
      let addressee = CommandTable.addressee(words)
      end(error, addressee.command, isJSON: addressee.isAskedForJSON)
    }
  }

  /// Runs the command on one loop in this thread: another thread or a thread pool would have to be started first.
  private nonisolated static func run(_ invocation: Invocation) throws(Problem) -> Never {
    if invocation.command.isMain {
      // The windows of this command live on the main actor.
      MainQueue.run {
        do { try await HostCommand.run(invocation) } catch {
          end(error, invocation.command.name, isJSON: invocation.has(.json))
        }
      }
    }
    do throws(ConnectionError) {
      try EventLoop.runHere { loop in
        loop.task { @Sendable in
          do {
            var invocation = invocation
            invocation.loop = loop
            var status = Status.done
            do { try await invocation.command.run(invocation) } catch let error as Status { status = error }
            try Output.flush()
            exit(status.rawValue)
          } catch {
            end(error, invocation.command.name, isJSON: invocation.has(.json))
          }
        }
      }
    } catch {
      throw .failed("the program cannot start: \(error)")
    }
    preconditionFailure("the loop of a program ends with the program")
  }

  private nonisolated static func end(_ error: any Error, _ command: String?, isJSON: Bool) -> Never {
    let problem = Problem(of: error)
    // A program that reads the answer gets one. What was printed before the problem is not lost.
    if isJSON, Output.isEmpty { try? Output.line(Printed.shown(problem.json)) }
    fflush(stdout)
    // The service may answer with a line for each fault.
    for line in problem.sentence.split(separator: "\n") {
      Output.note("stagedoor\(command.map { " \($0)" } ?? ""): \(line)")
    }
    exit(problem.status.rawValue)
  }
}
