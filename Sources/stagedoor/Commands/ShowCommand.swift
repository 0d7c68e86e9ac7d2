import DBus
import SceneModel
import ServiceSupport
import StagedoorKit

/// Shows a session, a delivery or an application, whichever the identifier names.
enum ShowCommand {
  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let text = invocation.arguments[0]
    let value = try await found(text, client)
    if invocation.has(.json) {
      try Output.line(Printed.shown(value))
    } else {
      for line in lines(value, invocation.screen) { try Output.line(line) }
    }
  }

  /// Looks for a session, then for a delivery, then for an application. An application's identifier has dots, and the others have digits.
  private static func found(_ text: String, _ client: Client) async throws -> Value {
    let isIdentifier = text.utf8.allSatisfy { "0123456789abcdefABCDEF-_".utf8.contains($0) }
    if isIdentifier || text.hasPrefix("/") {
      do { return try await session(try await client.session(text), client) } catch let problem as Problem {
        // No session begins with this text, or several do; perhaps one delivery does.
        if let delivery = try? await client.delivery(text) { return try await self.delivery(delivery, client) }
        if let application = try? await application(text, client) { return application }
        throw problem
      } catch let error as StagedoorError where error.code == .noSuchSession {
        guard let delivery = DeliveryIdentifier(text) else { throw error }
        do { return try await self.delivery(delivery, client) } catch let error as StagedoorError
          where error.code == .noSuchDelivery
        {
          throw Problem(.refused, "there is no session and no delivery \(text), or no longer")
        }
      }
    }
    return try await application(text, client)
  }

  private static func session(_ session: SessionIdentifier, _ client: Client) async throws -> Value {
    var fields = try await client.stagedoor.document(of: session)
    fields["persistentIdentifier"] = nil
    fields["session"] = .text(session.description)
    fields["path"] = .text(session.path.rawValue)
    return .dictionary(fields)
  }

  private static func delivery(_ delivery: DeliveryIdentifier, _ client: Client) async throws -> Value {
    let (state, decision) = try await client.stagedoor.delivery(delivery)
    // The document describes the decision and the delivery.
    guard case .dictionary(var document) = try Printed.value(decision.json) else { return .null }
    var fields: [(String, Value?)] = [("delivery", .text(delivery.description)), ("state", .text(state.word))]
    fields.append(("application", document["application"]?["chosen"]))
    for name in ["session", "created", "deadline", "ended"] {
      fields.append((name, document[Text(name)]))
      document[Text(name)] = nil
    }
    return Printed.object(fields + [("decision", .dictionary(document))])
  }

  private static func application(_ text: String, _ client: Client) async throws -> Value {
    let application = try await client.stagedoor.application(try await client.application(text))
    return Printed.object([
      ("application", .text(application.identifier)), ("name", .text(application.name)),
      ("activityTypes", .texts(application.activityTypes)), ("contentTypes", .texts(application.contentTypes)),
      ("supportsMultipleScenes", .bool(application.supportsMultipleScenes)),
      ("hostAttached", .bool(application.isHostAttached)),
      ("manifest", application.manifestPath.isEmpty ? nil : .text(application.manifestPath)),
      ("understudied", application.isUnderstudied ? true : nil),
      (
        "configurations",
        .array(
          application.configurations.map {
            Printed.object([
              ("name", .text($0.name)), ("role", .text($0.role)),
              ("activityTypes", $0.activityTypes.isEmpty ? nil : .texts($0.activityTypes)),
            ])
          })
      ),
    ])
  }

  /// A line for each name and value. Inner values are indented.
  private static func lines(_ value: Value, _ screen: Screen) -> [String] {
    guard case .dictionary(let fields) = value else { return [plain(value)] }
    // The identity and the state come first, then the other short values by name, then the long ones.
    let first = ["session", "delivery", "application", "state", "outcome"]
    let entries = fields.entries.sorted { one, other in
      let places = [one, other].map { entry in
        (first.firstIndex(of: entry.key.string) ?? first.count) + (entry.value.isNested ? first.count + 1 : 0)
      }
      return places[0] == places[1] ? one.key.string < other.key.string : places[0] < places[1]
    }
    let width = entries.map(\.key.string.columns).max() ?? 0
    return entries.flatMap { entry in
      let name = screen.styled(entry.key.string.printable, .heading)
      let beside = name + String(repeating: " ", count: width - entry.key.string.columns + 2)
      switch entry.value {
      case .dictionary: return [name] + lines(entry.value, screen).behind("  ")
      case .array(let elements) where elements.contains(where: \.isDictionary):
        return [name] + elements.flatMap { lines($0, screen).behind("  - ", then: "    ") }
      case .array(let elements):
        return elements.map(plain).behind(beside, then: String(repeating: " ", count: width + 2))
      default: return [beside + plain(entry.value)]
      }
    }
  }

  private static func plain(_ value: Value) -> String {
    if let text = value.string { return text.printable }
    return Printed.shown(value)
  }
}

extension Value {
  fileprivate var isDictionary: Bool { if case .dictionary = self { true } else { false } }
  fileprivate var isNested: Bool { isDictionary || elements.contains(where: \.isNested) }
}
