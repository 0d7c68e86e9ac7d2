import DBus
// For `stdout` and `stderr`, which C declares as variables and no code changes.
@preconcurrency import Glibc
import ServiceSupport

/// The program: arguments in, exit status out.
@main
struct DBusShowcase {
  static func main() {
    // A reader of a pipe needs each line at once, so standard output is buffered by line.
    setvbuf(stdout, nil, _IOLBF, 0)
    do {
      switch try Arguments(CommandLine.arguments.dropFirst()) {
      case .help: print(Arguments.usage)
      case .version: print("dbus-showcase \(Showcase.version)")
      case .serve(let address): try run { try await serve(at: try address ?? BusAddress.session(), on: $0) }
      case .demo: try run(demonstrate)
      }
    } catch let misuse as Arguments.Misuse {
      fail(2, "\(misuse); --help says what there is")
    } catch {
      fail(1, "\(error)")
    }
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
    // The session bus; or a bus of our own if there is none, or if it does not answer.
    if let connection = try? await Connection.session(on: loop) {
      return try await demonstrate(on: connection, endings, ownAddress: nil)
    }
    let bus = try await DemoBus.start()
    let result: Result<Int32, any Error>
    do {
      let connection = try await Connection.open(bus.address, on: loop)
      result = .success(try await demonstrate(on: connection, endings, ownAddress: bus.address))
    } catch {
      result = .failure(error)
    }
    await bus.stop()
    return try result.get()
  }

  private static func demonstrate(
    on connection: Connection, _ endings: Endings, ownAddress: BusAddress?
  ) async throws -> Int32 {
    let showcase = Showcase(on: connection.loop, quit: endings.askToQuit)
    connection.observeCalls(Demo.show)
    try await begin(showcase, on: connection)
    Demo.introduce(ownAddress: ownAddress)
    return await end(with: endings, connection)
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
