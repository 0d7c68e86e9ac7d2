import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import Testing

/// Host and service as processes of their own. One of them, or both, is killed at each step. Each delivery that was acknowledged to a sender reaches
/// a host, and a repeated one says that it is repeated.
@Suite struct HostKillTests {
  private static let rounds = getenv("STAGEDOOR_STRESS") == nil ? 3 : 300

  /// The store must survive a killed process, but need not wait for the disk.
  private static let durability = "normal"

  /// The moments of the kill, named as in `Clients/host.py`.
  enum Step: String, CaseIterable {
    case attaching, attached
    case told = "DidDiscardSceneSessions"
    case connecting = "ConnectScene"
    case continuing = "ContinueScene"
    /// The answer is under way: the service may or may not have stored it.
    case answered
  }

  enum Victim: String, CaseIterable { case host, service, both }

  @Test(arguments: Step.allCases, Victim.allCases)
  func `nothing is lost, and nothing comes twice without saying so`(step: Step, victim: Victim) async throws {
    try await withHouse(installing: Manifests.cats) { house in
      let record = "\(house.state).record"
      var check = Check()
      for _ in 0..<Self.rounds {
        let (landings, later) = try await play(step, victim, record, in: house)
        try check.add(try Self.calls(in: record) + later)
        for landing in landings { #expect(check.knows(landing.delivery), "\(landing) was lost") }
        // The checked calls are remembered; the record need not be read again.
        try FileManager.default.removeItem(atPath: record)
      }
    }
  }

  /// What was handed in, and the calls that the host after the killed one got.
  private func play(
    _ step: Step, _ victim: Victim, _ record: String, in house: House
  ) async throws -> ([Landing], [HostCall]) {
    var later: [HostCall] = []
    let (landings, host) = try await house.serving("--durability", Self.durability) { daemon in
      let landings = try await handIn(to: house)
      let host = try await house.command(
        "/usr/bin/python3", "-B", House.hostProgram, "org.example.Cats", "--record", record, "--at", step.rawValue,
        "--kill", victim.rawValue
      ).start()
      if victim != .host { #expect(try await daemon.ended() == .signalled(SIGKILL)) }
      if victim != .service { #expect(try await host.ended() == .signalled(SIGKILL)) }
      if victim == .host { later = try await finishWithAnother(landings, in: house) }
      return (landings, host)
    }
    if victim != .host {
      try await house.serving("--durability", Self.durability) { _ in
        // A host that lives attaches by itself.
        if victim == .both { later = try await finishWithAnother(landings, in: house) }
        try await finish(landings, in: house)
      }
    }
    await host.stop()
    return (landings, later)
  }

  /// Hands in everything that leads to a call of a host: one session is discarded, one is new or restored, and gets a second delivery.
  private func handIn(to house: House) async throws -> [Landing] {
    var landings: [Landing] = []
    for key in ["gone", "cat1", "cat1", "cat2"] {
      let landing = try await house.deliver(Payloads.activity("viewCat", key), over: house.watcher)
      if key == "gone" {
        try await house.object(landing.session, House.session).call("Destroy", "standard")
      } else {
        landings.append(landing)
      }
    }
    return landings
  }

  private func finish(_ landings: [Landing], in house: House) async throws {
    for landing in landings { try await house.waitUntil(landing.delivery, is: "handled") }
  }

  /// The other host runs in this process, because starting a new process each time takes longer than everything else.
  private func finishWithAnother(_ landings: [Landing], in house: House) async throws -> [HostCall] {
    try await house.hosting { host in
      try await finish(landings, in: house)
      return host.calls
    }
  }

  /// The calls that a host noted before it answered.
  private static func calls(in record: String) throws -> [HostCall] {
    try Repository.lines(of: record).map { line in
      let told = try Document(line).elements
      return HostCall(
        member: told[0].text ?? "", session: told.dropFirst().first?.text ?? "",
        arguments: told.dropFirst(2).map { $0.text ?? "" })
    }
  }

  private struct Check {
    /// The last attempt of every delivery of all rounds: a delivery that comes again in a later round must say so, too.
    private var attempts: [String: Int] = [:]

    func knows(_ delivery: String) -> Bool { attempts[delivery] != nil }

    mutating func add(_ calls: [HostCall]) throws {
      for call in calls where ["ConnectScene", "ContinueScene"].contains(call.member) {
        let options = try call.options
        let (delivery, attempt) = (try #require(options["delivery"]?.text), try #require(options["attempt"]?.number))
        let before = attempts[delivery] ?? 0
        #expect(attempt > before, "\(delivery) came with the attempt \(attempt) after \(before)")
        attempts[delivery] = attempt
      }
    }
  }
}

extension House {
  /// A host in a process of its own, written from the contract alone.
  static let hostProgram = "\(Repository.path)/Tests/DaemonTests/Clients/host.py"
}
