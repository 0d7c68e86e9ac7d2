import DBus
import DBusTestSupport
import Glibc
import Testing

/// Host and service as processes of their own, one or both killed at each step: what was acknowledged to a sender reaches a host, and what
/// reaches it again says so.
@Suite struct HostKillTests {
  private static let rounds = getenv("STAGEDOOR_STRESS") == nil ? 3 : 1000

  /// As `Clients/host.py` names the moments at which it kills.
  enum Step: String, CaseIterable, CustomTestStringConvertible {
    case attaching, attached
    case told = "DidDiscardSceneSessions"
    case connecting = "ConnectScene"
    case continuing = "ContinueScene"
    /// Its answer is under way: the service may have stored it, or not.
    case answered

    var testDescription: String { rawValue }
  }

  enum Victim: String, CaseIterable, CustomTestStringConvertible {
    case host, service, both

    var testDescription: String { rawValue }
  }

  @Test(arguments: Step.allCases, Victim.allCases)
  func `nothing is lost, and nothing comes twice without saying so`(step: Step, victim: Victim) async throws {
    try await withHouse { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      let record = "\(house.state).record"
      var landings: [Landing] = []
      for _ in 0..<Self.rounds {
        landings += try await play(step, victim, record, in: house)
        try check(landings, record)
      }
    }
  }

  private func play(_ step: Step, _ victim: Victim, _ record: String, in house: House) async throws -> [Landing] {
    let (landings, host) = try await house.serving { daemon in
      let landings = try await handIn(to: house)
      let host = try await house.host(
        "org.example.Cats", "--record", record, "--at", step.rawValue, "--kill", victim.rawValue
      ).start()
      if victim != .host { #expect(try await daemon.ended() == .signalled(SIGKILL)) }
      if victim != .service { #expect(try await host.ended() == .signalled(SIGKILL)) }
      if victim == .host { try await finish(landings, record, needsHost: true, in: house) }
      return (landings, host)
    }
    if victim != .host {
      try await house.serving { _ in
        // One that lives attaches by itself.
        try await finish(landings, record, needsHost: victim == .both, in: house)
      }
    }
    await host.stop()
    return landings
  }

  /// Everything that a host can be asked: one session is gone, one is new or restored, and gets a second delivery.
  private func handIn(to house: House) async throws -> [Landing] {
    let service = house.watcher.object(House.name, at: try ObjectPath(House.root), "org.stagedoor.Interchange1")
    var landings: [Landing] = []
    for key in ["gone", "cat1", "cat1", "cat2"] {
      let (session, outcome, delivery) = try await service.call(
        "Deliver", Payloads.patient("viewCat", key), returning: ObjectPath.self, String.self, String.self)
      if key == "gone" {
        try await house.watcher.object(House.name, at: session, "org.stagedoor.SceneSession1").call(
          "Destroy", "standard")
      } else {
        landings.append(Landing(session: session.rawValue, outcome: outcome, delivery: delivery))
      }
    }
    return landings
  }

  private func finish(_ landings: [Landing], _ record: String, needsHost: Bool, in house: House) async throws {
    let service = house.watcher.object(House.name, at: try ObjectPath(House.root), "org.stagedoor.Interchange1")
    func wait() async throws {
      for landing in landings {
        try await eventually("the delivery \(landing.delivery) to be handled") {
          let (state, _) = try await service.call(
            "GetDelivery", landing.delivery, returning: String.self, String.self)
          return state == "handled"
        }
      }
    }
    if !needsHost { return try await wait() }
    try await house.host("org.example.Cats", "--record", record).whileRunning { _ in try await wait() }
  }

  /// A host wrote down each delivery before it answered.
  private func check(_ landings: [Landing], _ record: String) throws {
    var attempts: [String: [Int]] = [:]
    for line in try Repository.lines(of: record) {
      let told = try Document(line).elements
      guard let member = told[0].text, ["ConnectScene", "ContinueScene"].contains(member) else { continue }
      let options = try Document(try #require(told.last?.text))
      let attempt = try #require(options["attempt"]?.number)
      attempts[try #require(options["delivery"]?.text), default: []].append(attempt)
    }
    for landing in landings {
      let given = attempts[landing.delivery] ?? []
      #expect(!given.isEmpty, "\(landing) was lost")
      #expect(given == Array(Set(given)).sorted(), "\(landing) came with the attempts \(given)")
    }
  }
}
