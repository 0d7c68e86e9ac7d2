import DBus
import SceneModel
import StagedoorKit

/// The service, as the commands ask it.
struct Client {
  var stagedoor: Stagedoor

  /// Connects, on the loop that the command runs on.
  init(_ invocation: Invocation) async throws(Problem) {
    do throws(ConnectionError) {
      stagedoor = Stagedoor(on: try await Connection.session(on: invocation.loop))
    } catch {
      throw Problem(StagedoorError(.disconnected, "\(error)"))
    }
  }

  // MARK: Identifiers that were shortened

  /// The session that a text begins, or that a path names.
  func session(_ text: String) async throws -> SessionIdentifier {
    if let session = SessionIdentifier(text) { return session }
    var found: [SessionIdentifier] = []
    var last: SessionIdentifier?
    repeat {
      let page = try await stagedoor.sessionList(after: last, limit: Client.page)
      found += page.lazy.map(\.session).filter { $0.description.hasPrefix(text.lowercased()) }
      last = page.last?.session
    } while last != nil
    return try only(of: found.map { ($0, $0.description) }, text, "session", "stagedoor sessions")
  }

  /// The delivery that a text begins.
  func delivery(_ text: String) async throws -> DeliveryIdentifier {
    if let delivery = DeliveryIdentifier(text) { return delivery }
    var found: [DeliveryIdentifier] = []
    var last: DeliveryIdentifier?
    repeat {
      let page = try await stagedoor.deliveries(after: last, limit: Client.page)
      found += page.lazy.map(\.identifier).filter { $0.description.hasPrefix(text.lowercased()) }
      last = page.last?.identifier
    } while last != nil
    return try only(of: found.map { ($0, $0.description) }, text, "delivery", "stagedoor deliveries")
  }

  /// The application of an identifier, of its beginning, or of its last part. One that nobody knows stays as it is: the service says so.
  func application(_ text: String) async throws -> String {
    let all = try await stagedoor.applications().map(\.identifier)
    if all.contains(text) { return text }
    let wanted = text.lowercased()
    let named = all.filter { $0.lowercased().split(separator: ".").last.map { $0 == wanted } ?? false }
    let found = named.isEmpty ? all.filter { $0.lowercased().hasPrefix(wanted) } : named
    if found.isEmpty { return text }
    return try only(of: found.map { ($0, $0) }, text, "application", "stagedoor apps")
  }

  private func only<Found>(
    of found: [(Found, String)], _ text: String, _ what: String, _ list: String
  ) throws(Problem) -> Found {
    guard let first = found.first else {
      throw Problem(.refused, "there is no \(what) \"\(text.printable)\"; `\(list)` lists what there is")
    }
    if found.count == 1 { return first.0 }
    let names = found.prefix(3).map(\.1) + (found.count > 3 ? ["\(found.count - 3) more"] : [])
    throw Problem(.refused, "\"\(text.printable)\" can be \(names.listed("or")); type more of it")
  }

  /// A row has some hundred bytes.
  static let page: UInt32 = 1000
}

/// Values as JSON, for programs.
enum Printed {
  static func json(_ value: Value) -> String { JSON.text(of: value).string }

  static func object(_ pairs: [(String, Value?)]) -> Value {
    var fields = UserInfo()
    for case (let key, let value?) in pairs { fields[Text(key)] = value }
    return .dictionary(fields)
  }

  /// A list, a line for each of its elements, written as they come.
  struct List {
    private var isEmpty = true

    mutating func add(_ value: Value) throws(Problem) {
      try Output.write((isEmpty ? "[\n" : ",\n") + json(value))
      isEmpty = false
    }

    func end() throws(Problem) { try Output.line(isEmpty ? "[]" : "\n]") }
  }
}

extension Value {
  static func text(_ text: String) -> Value { .string(Text(text)) }
  static func texts(_ texts: [String]) -> Value { .array(texts.map { .text($0) }) }

  subscript(_ key: String) -> Value? {
    if case .dictionary(let fields) = self { return fields[Text(key)] }
    return .none
  }

  var string: String? { if case .string(let text) = self { text.string } else { nil } }
  var elements: [Value] { if case .array(let elements) = self { elements } else { [] } }
  var number: Int64? { if case .integer(let number) = self { number } else { nil } }
}
