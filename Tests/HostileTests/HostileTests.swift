import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

/// One peer attacks the service in every way that we know of, from outside and from a sandbox, while a neighbour uses it.
///
/// `make test` shows that the service refuses the neighbour nothing, and that the attacker gets a few turns before each call of the neighbour, and
/// not hundreds. It does not measure how long such a turn takes: other tests run at the same time, in a debug build. `make stress` has the machine
/// for itself. It makes each attack five times for three seconds, each time followed by the same attack on a service that does nothing, which shows
/// how long the bus itself lets the neighbour wait. It writes a table, and compares the medians and the memory with what is promised.
@Suite struct HostileTests {
  private static let isLong = getenv("STAGEDOOR_STRESS") != nil
  private static let rounds = isLong ? 5 : 1
  private static let time = isLong ? Duration.seconds(3) : .milliseconds(500)

  /// If a call had to wait for the attacker's whole queue, thousands of calls would overtake it. Events are counted when their turn is stored, and a
  /// turn of the quick service of a release has up to 256 calls.
  private static let mostOvertakings = getenv("STAGEDOOR_RELEASE") == nil ? 64 : 256 + 64

  private static let application = "org.example.Attacked"

  private struct Case: Sendable, CustomTestStringConvertible {
    /// The function of `Clients/attacker.py`.
    let attack: String
    var isSandboxed = false
    var testDescription: String { "\(attack), \(isSandboxed ? "sandbox" : "outside")" }
  }

  /// One attack of each kind: those that once stopped the service, or filled its memory.
  private static let few = [
    "short_calls", "drops", "ruled_texts", "foreign_content_types", "dictionaries", "descriptors", "quitters",
    "waiting_calls", "hosts_without_the_name", "large_activities",
  ]
  private static let others = [
    "pings", "unanswered", "unknown_methods", "introspections", "lists", "explanations", "managed_objects", "tokens",
    "windows", "slow_decisions", "texts_without_rules", "broken_documents", "nested_documents", "long_paths",
    "long_texts",
  ]

  private static let cases: [Case] =
    (isLong ? few + others : few).map { Case(attack: $0) }
    + (House.canSandbox ? (isLong ? few + others : ["explanations"]).map { Case(attack: $0, isSandboxed: true) } : [])

  /// As many rules as may be, each of which needs the whole of a text of the attacker.
  private static let rules = (0..<1_000).map { number in
    "rule r\(number)\n  when text contains '(a|aa|aaa)*[b\(number)]'\n  then application 'org.example.Cats'\n"
  }.joined()

  @Test(.house(installing: Manifests.mainOnly), .enabled(if: isLong))
  func `rules cost others at most twice what the same texts cost without them`() async throws {
    try house.write(Self.rules, to: "\(house.rules)/slow.rules")
    try await house.serving("--log-level", "warning") { _ in
      let neighbour = Neighbour(connection: try await house.bus.connect())
      var (without, with) = ([Neighbour.Noticed](), [Neighbour.Noticed]())
      for _ in 0..<Self.rounds {
        without.append(try await notices(neighbour, Case(attack: "texts_without_rules"), in: house))
        with.append(try await notices(neighbour, Case(attack: "ruled_texts"), in: house))
      }
      print(
        "texts without rules and with: Get \(without.get.shown), \(with.get.shown); Drop \(without.drop.shown), \(with.drop.shown)"
      )
      #expect((with + without).flatMap(\.refusals) == [])
      #expect(with.get <= without.get * 2)
      #expect(with.drop <= without.drop * 2)
    }
  }

  @Test(.house(installing: Manifests.mainOnly), arguments: cases)
  private func `while one peer attacks, others are served and refused nothing`(_ one: Case) async throws {
    let attacked = Manifests.application(
      Self.application, types: "attack", configurations: Manifests.configuration("Main"))
    try house.write(attacked, to: "\(house.applications)/\(Self.application).json")
    if ["ruled_texts", "texts_without_rules"].contains(one.attack) {
      try house.write(Self.rules, to: "\(house.rules)/slow.rules")
    }
    try await house.serving("--log-level", "warning") { daemon in
      let neighbour = Neighbour(connection: try await house.bus.connect())
      _ = await neighbour.use(for: .milliseconds(300))
      let memory = try Self.isLong ? await restingMemory(of: daemon) : 0
      let idler = try Self.isLong ? await Idler.serve(on: house.bus.connect()) : nil
      var (idle, noticed, control) = ([Neighbour.Noticed](), [Neighbour.Noticed](), [Neighbour.Noticed]())
      for _ in 0..<Self.rounds {
        idle.append(await neighbour.use(for: Self.time / 2))
        noticed.append(try await notices(neighbour, one, in: house))
        guard idler != nil else { continue }
        let other = Neighbour(connection: neighbour.connection, service: Idler.name)
        control.append(try await notices(other, one, in: house))
      }
      #expect(daemon.status == nil, "\(daemon.standardError)")
      #expect((idle + noticed).flatMap(\.refusals) == [])
      #expect(noticed.allSatisfy { $0.overtaking <= Self.mostOvertakings }, "\(noticed.map(\.overtakings))")
      if idler != nil {
        let after = try await restingMemory(of: daemon)
        print(
          "\(one.testDescription): Get \(idle.get.shown) → \(noticed.get.shown) (\(control.get.shown) of a service that does nothing), "
            + "Drop \(idle.drop.shown) → \(noticed.drop.shown) (\(control.drop.shown)), memory \(memory) → \(after) KiB"
        )
        // The bus itself keeps others waiting, whoever is attacked.
        #expect(noticed.get <= max(idle.get * 4, control.get * 2))
        #expect(noticed.drop <= max(idle.drop * 4, control.drop * 2))
        // These leave up to half of all deliveries that may wait, which take a kilobyte each.
        let left = ["drops", "tokens", "windows", "quitters"].contains(one.attack) ? 32 << 10 : 0
        #expect(after <= max(memory * 2, memory + left))
      }
    }
  }

  /// What the neighbour notices during an attack on the service that it uses.
  private func notices(_ neighbour: Neighbour, _ one: Case, in house: House) async throws -> Neighbour.Noticed {
    try await attacker(of: neighbour.service, one, in: house).whileRunning { running in
      try await running.line { $0 == "attacking" }
      let noticed = await neighbour.use(for: Self.time)
      try await running.ended()
      return noticed
    }
  }

  /// If there are two processors, the attacker uses one of them and leaves the other free.
  private func attacker(of service: BusName, _ one: Case, in house: House) throws -> Command {
    let script = try Repository.text(of: "Tests/HostileTests/Clients/attacker.py")
    let seconds = "\(Self.time.components.seconds + 1)"
    let words = ["-B", "-c", script, one.attack, seconds, service.rawValue]
    let command =
      one.isSandboxed
      ? house.sandboxed(as: Self.application, "/usr/bin/python3", arguments: words)
      : house.command("/usr/bin/python3", arguments: words)
    let last = sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1
    return last == 0
      ? command : house.command("taskset", arguments: ["-c", "\(last)", command.program] + command.arguments)
  }

  /// The proportional share of memory in KiB, a minute after the attack: deadlines have passed by then, and the store is in order.
  private func restingMemory(of daemon: RunningCommand) async throws -> Int {
    try await ContinuousClock().sleep(for: .seconds(30))
    try await daemon.rests()
    let path = "/proc/\(daemon.processIdentifier)/smaps_rollup"
    let lines = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("Pss:") })
    return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }
}
