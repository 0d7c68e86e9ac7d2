import DBus
// For `stdout` and `stderr`, which C declares as variables and no code changes.
@preconcurrency import Glibc
import ServiceSupport

/// The program: arguments in, exit status out.
@main
struct DBusShowcase {
  private static let session = Option(name: "session", help: "serve on the session bus, which is the default")
  private static let address = Option(
    name: "address", value: .nonempty("ADDRESS"), help: "serve on the bus at this address")
  private static let demo = Option(
    name: "demo", help: "show what to try, and each call as it comes; without a session bus, start one")
  private static let usage = Usage(
    "dbus-showcase", options: [session, address, demo, .version, .help], exclusive: [[session, address, demo]])

  static func main() {
    // A reader of a pipe needs each line at once, so standard output is buffered by line.
    setvbuf(stdout, nil, _IOLBF, 0)
    do {
      let given = try usage.read(CommandLine.arguments.dropFirst())
      switch given.ending?.name {
      case Option.help.name: print(help, terminator: "")
      case Option.version.name: print("dbus-showcase \(Showcase.version)")
      case _ where given.has(demo): try run(demonstrate)
      default:
        let place = given[address]
        try run { try await serve(at: try place.map { BusAddress($0) } ?? BusAddress.session(), on: $0) }
      }
    } catch let misuse as Misuse {
      fail(2, "\(misuse)")
    } catch {
      fail(1, "\(error)")
    }
  }

  private static var help: String {
    var page = HelpPage(usage.synopsis, Screen(color: nil))
    page.paragraph("Serves an object for every D-Bus type and every way to answer, until it gets SIGINT or SIGTERM.")
    page.options(usage.options)
    page.statuses([
      (0, "it was asked to end"), (1, "it cannot begin"), (2, "the command line is invalid"), (3, "the bus has gone"),
    ])
    return page.text
  }

  private static func run(_ body: @escaping @Sendable (EventLoop) async throws -> Int32) throws -> Never {
    try Program.run { loop in
      do { return try await body(loop) } catch { fail(1, "\(error)") }
    }
  }

  private static func serve(at address: BusAddress, on loop: EventLoop) async throws -> Int32 {
    let endings = try Endings(on: loop)
    let connection = try await Connection.open(address, on: loop)
    let showcase = Showcase(on: connection.loop, quit: endings.askToQuit)
    try await begin(showcase, on: connection)
    print("\(Showcase.busName) is ready")
    return await end(with: endings, connection)
  }

  private static func demonstrate(on loop: EventLoop) async throws -> Int32 {
    let endings = try Endings(on: loop)
    return try await DemoBus.run(on: loop) { connection, ownAddress in
      let showcase = Showcase(on: connection.loop, quit: endings.askToQuit)
      connection.observeCalls(Demo.show)
      try await begin(showcase, on: connection)
      Demo.introduce(ownAddress: ownAddress)
      return await end(with: endings, connection)
    }
  }

  private static func begin(_ showcase: Showcase, on connection: Connection) async throws {
    try await showcase.export(on: connection)
    guard try await connection.requestName(Showcase.busName, .doNotQueue) == .owned else {
      throw Failure("\(Showcase.busName) is taken: is another dbus-showcase running on this bus?")
    }
  }

  private static func end(with endings: Endings, _ connection: Connection) async -> Int32 {
    let ending = await endings.first(on: connection)
    await connection.close()
    if case .busWent = ending { complain("the bus has gone") }
    return ending.status
  }

  private static func complain(_ sentence: String) { fputs("dbus-showcase: \(sentence)\n", stderr) }

  private static func fail(_ status: Int32, _ sentence: String) -> Never {
    complain(sentence)
    exit(status)
  }
}
