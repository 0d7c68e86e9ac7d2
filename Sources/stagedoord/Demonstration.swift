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
    if let address = arguments.address {
      let connection = try await Connection.open(address, on: loop)
      return try await run(arguments, on: connection, endings, place: "\(address)", toExport: address)
    }
    return try await DemoBus.run(on: loop) { [arguments] connection, ownAddress in
      var arguments = arguments
      arguments.address = ownAddress
      let place = ownAddress == nil ? "the session bus" : "a bus of its own, because there is no session bus here"
      return try await run(arguments, on: connection, endings, place: place, toExport: ownAddress)
    }
  }

  /// - Parameter address: The address that a shell needs to find this bus; `nil` for the session bus.
  private static func run(
    _ arguments: Arguments, on connection: Connection, _ endings: Endings, place: String,
    toExport address: BusAddress? = nil
  ) async throws -> Int32 {
    let service = try await Service.start(arguments, on: connection)
    await service.interchange.demonstrate()
    introduce(place, address)
    let ending = await endings.first(on: connection, having: InterchangeNames.bus)
    await service.stop(ending)
    return ending.status
  }

  fileprivate static let type: Text = "org.stagedoor.examples.Gallery.openDetail"

  private static func introduce(_ place: String, _ address: BusAddress?) {
    print(
      """
      \(InterchangeNames.bus) is on \(place).
      An application, Gallery, is declared here. It has no program, so nothing opens on your screen: you see the sessions
      that its windows would have. `make run-gallery` has windows.

      """)
    let exports = exports(address)
    if !exports.isEmpty {
      print("In another terminal, type this first:\n\n\(exports.map { "  \($0)\n" }.joined())\nThere, try:\n")
    } else {
      print("In another terminal, try:\n")
    }
    for line in [
      "stagedoor drop --type \(type) --target photo-7",
      "printf '\\211PNG\\r\\n\\032\\n' >/tmp/photo.png; stagedoor drop /tmp/photo.png",
      "stagedoor explain --type \(type) --target photo-7",
      "stagedoor sessions",
      "stagedoor watch --past",
      "dbus-send --session --print-reply --dest=\(InterchangeNames.bus) \(InterchangeNames.root) "
        + "\(InterchangeNames.bus).Drop string:\(type) string:photo-7 dict:string:string:",
    ] { print("  \(line)") }
    print(
      """

      The first line makes a session for a photo; the same again finds it. The second drops a file: every picture of yours
      will do. The last does the same as the first without the command. What happens will show below. Ctrl-C ends it all.

      """)
  }

  /// What a shell needs to find this bus, and the command that was built beside this program.
  private static func exports(_ address: BusAddress?) -> [String] {
    var exports = address.map { ["export DBUS_SESSION_BUS_ADDRESS='\($0)'"] } ?? []
    let program = LinkTarget.of("/proc/self/exe") ?? ""
    let folder = String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
    let places = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
    if access("\(folder)/stagedoor", X_OK) == 0, !places.contains(folder[...]), !folder.contains("'") {
      exports.append("export PATH='\(folder)':\"$PATH\"")
    }
    return exports
  }
}

extension Interchange {
  /// Declares the small application, and prints each event when the service announces it.
  fileprivate func demonstrate() {
    let images = ["public.image"].compactMap { ContentType($0) }
    let configurations = [
      SceneConfiguration(name: "Overview"),
      SceneConfiguration(name: "Detail", activityTypes: [Demonstration.type], contentTypes: images),
    ]
    declare(
      Manifest(
        identifier: "org.stagedoor.examples.Gallery", bundleName: "Gallery", activityTypes: [Demonstration.type],
        contentTypes: images, supportsMultipleScenes: true, configurations: configurations))
    observeEvents { event in
      print("\(event.sequence): \(event.name) \(event.arguments)")
      if case .unclaimed = event.kind {
        print(
          "   No program came for this drop within \(Int(PayloadOptions.defaultDeadline)) seconds. Its session stays.")
      }
    }
  }
}
