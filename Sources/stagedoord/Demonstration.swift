import DBus
import Glibc
import Interchange
import InterchangeWire
import SceneModel
import ServiceSupport
import SessionStore

/// `make run`: the service with a small application, lines to try, and each event as it happens. It stores nothing.
enum Demonstration {
  static func run(_ arguments: Arguments, on loop: EventLoop) async throws -> Int32 {
    var arguments = arguments
    arguments.durability = .memory
    arguments.logLevel = min(arguments.logLevel, .warning)
    // It ends with its terminal.
    let endings = try Endings(on: loop, for: Endings.signals + [SIGHUP])
    // The session bus; or a bus of our own if there is none, or if it does not answer.
    if let connection = try? await Connection.session(on: loop) {
      return try await run(arguments, on: connection, endings, ownAddress: nil)
    }
    let bus = try await DemoBus.start()
    let result: Result<Int32, any Error>
    do {
      arguments.address = bus.address
      let connection = try await Connection.open(bus.address, on: loop)
      result = .success(try await run(arguments, on: connection, endings, ownAddress: bus.address))
    } catch {
      result = .failure(error)
    }
    await bus.stop()
    return try result.get()
  }

  private static func run(
    _ arguments: Arguments, on connection: Connection, _ endings: Endings, ownAddress: BusAddress?
  ) async throws -> Int32 {
    let service = try await Service.start(arguments, on: connection)
    try await service.interchange.demonstrate()
    introduce(ownAddress)
    let ending = await endings.first(on: connection, having: InterchangeNames.bus)
    await service.stop(ending)
    return ending.status
  }

  private static func introduce(_ ownAddress: BusAddress?) {
    if let ownAddress {
      print("There is no session bus here, so this one was started. Another terminal finds it after\n")
      print("  export DBUS_SESSION_BUS_ADDRESS='\(ownAddress)'\n")
      print("There, try:\n")
    } else {
      print("\(InterchangeNames.bus) is on the session bus. In another terminal, try:\n")
    }
    let call = "dbus-send --session --print-reply --dest=\(InterchangeNames.bus) \(InterchangeNames.root)"
    let type = "org.stagedoor.examples.Gallery.openDetail"
    let document = #"{"activity":{"activityType":"\#(type)","targetContentIdentifier":"photo-7"}}"#
    for line in [
      "\(call) \(InterchangeNames.bus).Drop string:\(type) string:photo-7 dict:string:string:",
      "\(call) \(InterchangeNames.bus).Explain string:'\(document)'",
      "\(call) \(InterchangeNames.bus).ListSessions string: string: uint32:0",
      "\(call) \(InterchangeNames.bus).EventsSince uint64:0 uint32:0",
      "busctl --user tree \(InterchangeNames.bus)",
    ] { print("  \(line)") }
    print(
      "\nThe first makes a window for a photo; the same again finds it. What happens will show below. Ctrl-C ends it all.\n"
    )
  }
}

extension Interchange {
  /// Declares the small application, and prints each event when the service announces it.
  fileprivate func demonstrate() throws {
    let configurations = [
      SceneConfiguration(name: "Overview"),
      SceneConfiguration(name: "Detail", activityTypes: ["org.stagedoor.examples.Gallery.openDetail"]),
    ]
    try declare(
      Manifest(
        identifier: "org.stagedoor.examples.Gallery", bundleName: "Gallery",
        activityTypes: ["org.stagedoor.examples.Gallery.openDetail"], supportsMultipleScenes: true,
        configurations: configurations))
    observeEvents { event in print("\(event.sequence): \(event.name) \(event.arguments)") }
  }
}
