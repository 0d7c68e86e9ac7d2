import DBus
import Glibc
import ServiceSupport
import StagedoorKit

/// Answers the completion scripts: `stagedoor __complete SHELL WORD...`. Each line is a word, a tab and the meaning of the word. `:files` and
/// `:programs` ask the shell to offer its own.
enum CompleteCommand {
  static func run(_ invocation: Invocation) async throws {
    let words = Array(invocation.arguments.dropFirst())
    let splits = invocation.argument(0) == "bash"
    var current = words.last ?? ""
    if splits, current == "=" { current = "" }
    switch Completion.offer(words, splits: splits) {
    case .files: try Output.line(":files")
    case .programs: try Output.line(":programs")
    case .candidates(let candidates): try print(candidates, current)
    case .live(let live, let before, let application):
      // A shell that waits for an answer looks broken, so without an immediate answer nothing is offered. Nor does a tab start the service.
      let loop = invocation.loop
      _ = loop?.task { @Sendable in
        await loop?.sleep(for: .seconds(1))
        exit(Status.done.rawValue)
      }
      guard var client = try? await Client(invocation), let running = await client.stagedoor.withoutStarting() else {
        return
      }
      client.stagedoor = running
      let found = (try? await candidates(live, application, client)) ?? []
      try print(found.map { Completion.Candidate(value: before + $0.value, meaning: $0.meaning) }, current)
    }
  }

  private static func print(_ candidates: [Completion.Candidate], _ current: String) throws(Problem) {
    // Nobody can type a value with control characters.
    for candidate in candidates where candidate.value.hasPrefix(current) && candidate.value == candidate.value.printable
    {
      let meaning = candidate.meaning.printable
      try Output.line(candidate.value + (meaning.isEmpty ? "" : "\t\(meaning)"))
    }
  }

  /// A person wants no more sessions or deliveries offered than this.
  private static let most: UInt32 = 200

  private static func candidates(
    _ live: Live, _ application: String?, _ client: Client
  ) async throws -> [Completion.Candidate] {
    let stagedoor = client.stagedoor
    switch live {
    case .applications:
      return try await stagedoor.applications().map { .init(value: $0.identifier, meaning: $0.name) }
    case .sessions:
      return try await stagedoor.sessionList(limit: most).map {
        .init(
          value: $0.session.description,
          meaning: "\($0.application) \($0.title.isEmpty ? $0.targetContentIdentifier : $0.title)")
      }
    case .deliveries, .cancellableDeliveries:
      var deliveries: [DeliveryRecord] = []
      for filter in live == .deliveries ? [Stagedoor.DeliveryFilter.all] : [.held, .forwarded] {
        deliveries += try await stagedoor.deliveries(in: filter, limit: most)
      }
      return deliveries.map {
        .init(value: $0.identifier.description, meaning: "\($0.state.word) \($0.application)")
      }
    case .anything:
      let applications = try await candidates(.applications, nil, client)
      let sessions = try await candidates(.sessions, nil, client)
      return try await applications + sessions + candidates(.deliveries, nil, client)
    case .activityTypes, .types:
      var found: [Completion.Candidate] = []
      for application in try await stagedoor.applications() {
        let details = try await stagedoor.application(application.identifier)
        let types = details.activityTypes + (live == .types ? details.contentTypes : [])
        found += types.map { .init(value: $0, meaning: application.name) }
      }
      return found
    case .commands: return []
    case .configurations:
      guard let application else { return [] }
      let details = try await stagedoor.application(try await client.application(application))
      return details.configurations.map { .init(value: $0.name, meaning: $0.role) }
    }
  }
}
