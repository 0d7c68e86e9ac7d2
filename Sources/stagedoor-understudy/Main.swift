import DBus
@preconcurrency import Glibc
import ServiceSupport

/// The program that finds the windows of applications which know nothing of Stagedoor.
@main
struct Main {
  static let version = "0.1.0"

  static func main() {
    StandardDescriptors.fill()
    signal(SIGPIPE, SIG_IGN)
    // Programs that end are forgotten at once.
    signal(SIGCHLD, SIG_IGN)
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case "--version": print("stagedoor-understudy \(version)")
    case "--help":
      print(
        """
        usage: stagedoor-understudy
        Finds the windows of applications that know nothing of Stagedoor, for `stagedoor open` and `stagedoor windows`.
        The bus starts it. It serves org.stagedoor.Understudy1 until the bus or the display goes.
        """)
    case let other?:
      fail(2, "there is no argument \"\(other)\"; --help says what there is")
    case nil:
      do {
        try Program.run { loop in
          do { return try await serve(on: loop) } catch { fail(1, "\(error)") }
        }
      } catch { fail(1, "\(error)") }
    }
  }

  private static func serve(on loop: EventLoop) async throws -> Int32 {
    guard let (display, kind) = await Displays.first(on: loop, within: .seconds(10)) else {
      fail(
        1,
        "no display answers: set DISPLAY for an X server, or WAYLAND_DISPLAY for a compositor that lists windows")
    }
    let endings = try Endings(on: loop)
    let connection = try await Connection.open(try BusAddress.session(), on: loop)
    // What a sandboxed program may not see is decided by who it is.
    connection.identifyCallers()
    connection.keepHandlersOnLoop()
    let understudy = Understudy(connection, display, Kernel(), again: kind)
    await understudy.begin()
    connection.export(UnderstudyInterface.made(for: understudy), at: UnderstudyInterface.path)
    for interface in [SearchProviders.gnome(for: understudy), SearchProviders.krunner(for: understudy)] {
      connection.export(interface, at: SearchProviders.path)
    }
    guard try await connection.requestName(UnderstudyInterface.name, .doNotQueue) == .owned else {
      fail(1, "another understudy is at work on this bus")
    }
    loop.task {
      await understudy.follow()
      endings.askToQuit()
    }
    loop.task { await understudy.followInstalled() }
    loop.task { await understudy.takePart() }
    let ending = await endings.first(on: connection, having: UnderstudyInterface.name)
    await connection.close()
    return ending.status
  }

  private static func fail(_ status: Int32, _ sentence: String) -> Never {
    fputs("stagedoor-understudy: \(sentence)\n", stderr)
    exit(status)
  }
}
