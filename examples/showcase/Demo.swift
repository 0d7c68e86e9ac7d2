import DBus
import Glibc

/// The text for newcomers.
enum Demo {
  /// Lines to paste into a shell unchanged. A line whose program is not installed is left out.
  static let lines = [
    "dbus-send --session --print-reply --dest=\(name) \(path) \(name).EchoString string:'hello'",
    "dbus-send --session --print-reply --dest=\(name) \(path) \(name).Divide int32:17 int32:5",
    "gdbus introspect --session --dest \(name) --object-path \(path)",
    "gdbus call --session --dest \(name) --object-path \(path) --method \(name).EchoDictionary \"{'a': <1>}\"",
    "busctl --user set-property \(name) \(path) \(name) Mood s merry",
    "busctl --user tree \(name)",
    "busctl --user call \(name) \(path) \(name) EchoStructure '(su(dd))' 'a mask' 120 59.9 10.7",
    "busctl --user call \(name) \(path)/numbers/30 \(name).Number Factors",
    "busctl --user call \(name) \(path) \(name) Announce s 'places, please'",
  ]

  /// This command runs until it is stopped.
  static let watch = "gdbus monitor --session --dest \(name)"

  private static let name = Showcase.busName
  private static let path = Showcase.path

  /// Prints the place of the bus and lines to try. `ownAddress` is the address of a bus of our own, which others cannot find by themselves.
  static func introduce(ownAddress: BusAddress?) {
    if let ownAddress {
      print("There is no session bus here, so this one was started. Another terminal finds it after\n")
      print("  export DBUS_SESSION_BUS_ADDRESS='\(ownAddress)'\n")
      print("There, try:\n")
    } else {
      print("\(name) is on the session bus. In another terminal, try:\n")
    }
    for line in lines where canRun(line) { print("  \(line)") }
    if canRun(watch) { print("\nand, to see what it tells everyone:\n\n  \(watch)") }
    print("\nEach call will show below. Ctrl-C ends it all.\n")
  }

  /// Prints an incoming call.
  @Sendable static func show(_ call: Call) {
    print("\(call.sender ?? "a peer") calls \(call.member) on \(call.path)")
  }

  private static func canRun(_ line: String) -> Bool {
    let program = line.prefix { $0 != " " }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }
}
