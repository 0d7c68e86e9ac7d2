import SceneModel
import SceneRouting

@testable import InterchangeCore

/// Everything that a core knows and will act upon, as lines to compare. Data that the core remembers only for speed is left out, and so are numbers
/// that grow with each attempt.
///
/// Identifiers get names in the order in which they appear, so that two cores with different identifiers can be compared.
struct Portrait {
  private var names: [String: String] = [:]

  /// Records, sayings and errands in the order in which they came.
  mutating func lines(of step: Step) -> [String] {
    let errands = step.errands.map { errand in
      switch errand {
      case .ask(_, let application, let owner, _, let question, let within):
        "ask \(application) \(owner) \(question) \(within)"
      case .read(_, let delivery): "read \(delivery)"
      case .launch(let application, _, let name): "launch \(application) \(name)"
      case .run(let application, _, let command, let token): "run \(application) \(command) \(token ?? .empty)"
      case .forgetLaunch(let application, _): "forget the launch of \(application)"
      case .findOwner(let number, let name, let application, let connection, _):
        "find owner \(number) \(name) \(application) \(connection)"
      case .pack, .consult, .open, .callOff, .endPromises, .forgetPicture, .free, .freeParcels: "\(errand)"
      }
    }
    let again = step.callAgain.map { "call again at \($0)" } ?? "never again"
    return named(step.records.map { "\($0)" } + step.sayings.map { "\($0)" } + errands + [again])
  }

  mutating func lines(of book: PromptBook) -> [String] {
    let memory = book.memory
    var lines: [String] = []
    let ids: ([UniqueIdentifier]) -> String = { $0.map { "\($0)" }.sorted().joined(separator: " ") }
    for delivery in memory.deliveries.values.values.sorted(by: { $0.order < $1.order }) {
      lines.append(
        "delivery \(delivery.identifier) \(delivery.application) \(delivery.progress) due \(delivery.due) "
          + "\(delivery.previousBy.map { "\($0)" } ?? "") \(delivery.confidant ?? .empty) \(delivery.holding?.charge.amount ?? 0)"
      )
    }
    let sessions = Set(memory.deliveries.values.values.compactMap(\.session)).sorted()
    for session in sessions {
      lines.append("to session \(session): \(memory.deliveriesToSession[session].map { "\($0.identifier)" })")
    }
    for application in memory.manifests.values.keys.sorted() {
      lines.append("to \(application): \(memory.deliveriesToApplication[application].map { "\($0.identifier)" })")
      lines.append(
        "places of \(application): \(memory.places(of: application)), bytes \(memory.sessionBytes[application] ?? 0), owed \(memory.owed[application].map { "\($0.session)" })"
      )
      lines.append("queue of \(application): \(memory.queue[application].map { "\($0.identifier)" })")
      lines.append("manifest of \(application): \(String(describing: memory.manifests[application]?.file))")
      lines.append("routed \(application): \(String(describing: memory.routing.manifest(of: application)))")
    }
    lines.append("places \(memory.places), bytes \(memory.sessionByteTotal), owed \(memory.owedTotal)")
    for (application, host) in memory.hosts.values.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "host of \(application): \(host.connection) \(host.stage) scenes [\(ids(Array(host.scenes)))] opened "
          + "[\(ids(Array(host.opened)))] closing [\(ids(Array(host.closing)))] told [\(ids(Array(host.told)))] "
          + "hearing \(host.hearing) \(host.running) \(host.options)")
      lines.append("hosted by \(host.connection): \(memory.hosted[host.connection])")
    }
    lines += memory.lanes.values.map { "lane of \($0.session): \($1.act)" }.sorted()
    lines += memory.errands.values.values.map { "errand for \($0)" }.sorted()
    lines += memory.starts.values.map { "start of \($0): \($1.isPossible.map { "\($0)" } ?? "asked")" }.sorted()
    lines += memory.rounds.values.map { "round of \($0): \($1)" }.sorted()
    lines += memory.discarded.values.keys.map { "discarded \($0)" }.sorted()
    lines += memory.leftConnected.values.map { "left connected of \($0): \(ids($1))" }.sorted()
    lines += memory.waitingFor.keys.map { "for \($0) wait \(memory.waitingFor[$0].map(\.call))" }.sorted()
    lines += memory.attaching.values.keys.map { "attaching \($0)" }.sorted()
    lines += memory.calls.values.map { "call \($0) takes \($1.number.charge.amount) \($1.bytes?.charge.amount ?? 0)" }
      .sorted()
    lines += memory.waiters.values.map { "for \($0) wait \($1)" }.sorted()
    lines = named(lines)
    lines += named(memory.followers.values.map { "\($0) is followed by \($1)" }).sorted()
    lines += memory.refreshes.values.keys.map { "refresh \($0)" }.sorted()
    lines += memory.closings.values.map { "closing \($0) \($1)" }.sorted()
    lines += memory.provisional.values.keys.map { "provisional \($0)" }.sorted()
    lines += memory.orphaned.values.keys.map { "orphaned \($0)" }.sorted()
    lines += memory.preferences.values.map { "\($0) is preferred for \($1)" }.sorted()
    lines += memory.preferences.values.keys.map {
      "routed \(String(describing: memory.routing.preferredApplication(for: $0)))"
    }
    lines += memory.packings.values.map { "call \($0) packs \($1.orders.count)" }.sorted()
    lines += memory.transfers.values.map { "call \($0) opens \($1)" }.sorted()
    lines += memory.baggage.values.sorted { $0.value.order < $1.value.order }.map { delivery, kept in
      "baggage of \(delivery) to \(kept.session.map { "\($0)" } ?? "") for \(kept.confidant ?? .empty) "
        + "\(kept.holding?.charge.amount ?? 0) until \(kept.until.map { "\($0)" } ?? "")"
    }
    lines = named(lines)
    lines += named(
      memory.baggageOfSession.keys.map { session in
        "baggage to \(session): \(memory.baggageOfSession[session].map { "\($0.identifier)" })"
      }
    ).sorted()
    lines += named(
      memory.handledBaggage.keys.map { principal in
        "handled from \(principal): \(memory.handledBaggage[principal].map { "\($0.identifier)" })"
      }
    ).sorted()
    lines += memory.drags.values.values.sorted { $0.ticket < $1.ticket }.map { drag in
      "drag \(drag.identifier) \(drag.state) \(drag.operation.map { "\($0)" } ?? "") \(drag.payload.items.count) "
        + "\(drag.openers.sorted()) \(drag.asked.sorted()) \(drag.isOpenedOutside) \(drag.due) "
        + "\(drag.holding?.charge.amount ?? 0) \(drag.bytes?.charge.amount ?? 0)"
    }
    lines += memory.tickets.values.keys.map { "ticket \($0)" }.sorted()
    lines = named(lines)
    lines += named(memory.dropTargets.values.map { "\($0) went to \($1)" }).sorted()
    lines.append("events \(memory.sequence)")
    lines += Resource.allCases.map { "\($0) \(book.ledger.total($0))" }
    return named(lines)
  }

  private mutating func named(_ lines: [String]) -> [String] {
    lines.map { line in
      var rest = Substring(line)
      var result = ""
      while let found = rest.firstMatch(of: /[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}/)
      {
        result += rest[..<found.range.lowerBound]
        let identifier = String(rest[found.range].map { $0 == "_" ? "-" : $0 })
        let name = names[identifier] ?? "#\(names.count + 1)"
        names[identifier] = name
        result += name
        rest = rest[found.range.upperBound...]
      }
      return result + rest
    }
  }
}
