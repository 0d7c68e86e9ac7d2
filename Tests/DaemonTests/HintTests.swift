import DBus
import DBusTestSupport
import Testing

/// Users who forgot `--print-reply`: what is done, and what the log says.
@Suite struct HintTests {
  private func send(_ member: String, _ arguments: String..., in house: House, to: BusName? = House.name) async throws {
    let destination = to.map { ["--dest=\($0)"] } ?? []
    _ = try await house.command(
      "dbus-send", arguments: ["--session"] + destination + [House.root, member] + arguments
    ).output()
  }

  @Test(.daemon(with: "--durability", "memory", "--log-level", "warning"))
  func `a method that comes as a signal gets a hint, once in a while, and a signal gets none`() async throws {
    // The service has its name before it is ready. Until it is ready it holds calls, but not signals.
    _ = try await house.eventSequence()
    // The service's own signals, sent by another program; signals of other interfaces; and broadcasts.
    try await send("org.stagedoor.Interchange1.Handled", "string:x", in: house)
    try await send("org.stagedoor.SceneHost1.Drop", "string:x", in: house)
    try await send("org.example.Player.Play", in: house)
    try await send("org.stagedoor.Interchange1.Drop", "string:viewCat", in: house, to: nil)
    for _ in 0..<3 { try await send("org.stagedoor.SceneSession1.Activate", "string:secret", in: house) }
    let hint =
      "stagedoord: Activate came as a signal, and nothing happens: with dbus-send, write --print-reply before it\n"
    try await eventually("the hint") { daemon.standardError.hasSuffix(hint) }
    _ = try await house.eventSequence()
    #expect(daemon.standardError.split(separator: "\n").count { $0.contains("as a signal") } == 1)
    // Each method.
    try await send("org.stagedoor.Interchange1.Deliver", "string:x", in: house)
    try await eventually("the other hint") { daemon.standardError.contains("Deliver came as a signal") }
  }
}
