import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

struct Client: Names {
  static let service: BusName = "org.stagedoor.Interchange1"

  var stagedoor: Stagedoor

  init(on connection: Connection) { stagedoor = Stagedoor(on: connection) }

  init(_ invocation: Invocation) async throws(Problem) {
    do throws(ConnectionError) {
      stagedoor = Stagedoor(on: try await Connection.session(on: invocation.loop))
    } catch {
      throw Problem(.noService, "\(error); run this inside a desktop session, or set DBUS_SESSION_BUS_ADDRESS")
    }
  }

  // MARK: Shortened identifiers

  /// The session whose identifier begins with a text, or that an object path names.
  func session(_ text: String) async throws -> SessionIdentifier {
    if let session = SessionIdentifier(text) { return session }
    // The last element of a path has "_" for "-".
    let text = String(text.map { $0 == "_" ? "-" : $0 })
    if let session = SessionIdentifier(text) { return session }
    var found: [SessionIdentifier] = []
    for try await page in stagedoor.sessionPages() {
      found += page.lazy.map(\.session).filter { $0.description.hasPrefix(text.lowercased()) }
    }
    return try Shortened.only(of: found, text, "session", "stagedoor sessions")
  }

  /// The delivery whose identifier begins with a text.
  func delivery(_ text: String) async throws -> DeliveryIdentifier {
    if let delivery = DeliveryIdentifier(text) { return delivery }
    var found: [DeliveryIdentifier] = []
    for try await page in stagedoor.deliveryPages() {
      found += page.lazy.map(\.identifier).filter { $0.description.hasPrefix(text.lowercased()) }
    }
    return try Shortened.only(of: found, text, "delivery", "stagedoor deliveries")
  }

  /// Delivers under a token. If the service ends before it answers, the next instance knows by the token whether it has the delivery.
  func stored(_ deliver: (Stagedoor) async throws -> Delivery) async throws -> Delivery {
    do {
      return try await deliver(stagedoor)
    } catch let error as StagedoorError where error.code == .noReply {
      return try await deliver(stagedoor)
    }
  }

  /// The application with an identifier, found by the whole, the beginning or the last part. The service itself reports an unknown identifier.
  func application(_ text: String) async throws -> String { try await application(text, hasWindows: false) }

  /// The application of `--app`, which may have windows that have outlived its manifest.
  func application(of invocation: Invocation) async throws -> String? {
    guard let text = invocation[.ofApp] else { return nil }
    return try await application(text, hasWindows: true)
  }

  private func application(_ text: String, hasWindows: Bool) async throws -> String {
    let installed = try await stagedoor.applications().map(\.identifier)
    if installed.contains(text) { return text }
    // The service lists the windows of an application that it knows by a manifest or by a window, and no other's.
    if hasWindows, ApplicationIdentifier.isValid(Text(text)),
      (try? await stagedoor.sessionList(of: text, limit: 1)) != nil
    {
      return text
    }
    var found = try Shortened.application(text, among: installed)
    if installed.contains(found) { return found }
    if hasWindows {
      var left: Set<String> = []
      do throws(StagedoorError) {
        for try await page in stagedoor.sessionPages() { left.formUnion(page.map(\.application)) }
      } catch {
        // A program in a sandbox may list its own windows only.
        if error.code == .accessDenied { return found }
        throw error
      }
      found = try Shortened.application(text, among: left.sorted())
      if left.contains(found) { return found }
    }
    let names = installed.compactMap { $0.split(separator: ".").last.map(String.init) }
    if !ApplicationIdentifier.isValid(Text(text)), let meant = Suggestion.sentence(for: text, among: names) {
      throw Problem(
        .refused, "there is no application \"\(text.printable)\"; \(meant)",
        error: StagedoorError.Code.noSuchApplication.rawValue)
    }
    return found
  }
}

enum Shortened {
  /// The application that a text means: the whole, the beginning or the last part of its identifier. An unknown text stays as it is.
  static func application(_ text: String, among all: [String]) throws(Problem) -> String {
    if all.contains(text) { return text }
    let wanted = text.lowercased()
    let named = all.filter { $0.lowercased().split(separator: ".").last.map { $0 == wanted } ?? false }
    let found = named.isEmpty ? all.filter { $0.lowercased().hasPrefix(wanted) } : named
    return found.isEmpty ? text : try only(of: found, text, "application", "stagedoor apps")
  }

  static func only<Found: CustomStringConvertible>(
    of found: [Found], _ text: String, _ what: String, _ list: String
  ) throws(Problem) -> Found {
    guard let first = found.first else {
      // The lists of a sandboxed program contain its own application only.
      let advice = access("/.flatpak-info", F_OK) == 0 ? "; in a sandbox, type a whole identifier" : ""
      throw Problem(.refused, "there is no \(what) \"\(text.printable)\"; `\(list)` lists them\(advice)")
    }
    if found.count == 1 { return first }
    let names = found.prefix(3).map(\.description) + (found.count > 3 ? ["\(found.count - 3) more"] : [])
    throw Problem(.refused, "\"\(text.printable)\" could mean \(names.listed("or")); type more of it")
  }
}

enum Printed {
  static func json(_ value: Value) -> String { JSON.text(of: value).string }

  /// The same for people: no text in it controls the terminal.
  static func shown(_ value: Value) -> String { json(value).printableJSON }

  /// A text, for people; "" for any other value.
  static func text(_ value: Value?) -> String { (value?.string ?? "").printable }

  static func object(_ pairs: [(String, Value?)]) -> Value {
    var fields = UserInfo()
    for case (let key, let value?) in pairs where value != .null { fields[Text(key)] = value }
    return .dictionary(fields)
  }
}

extension Value {
  static func text(_ text: String) -> Value { .string(Text(text)) }
  static func texts(_ texts: [String]) -> Value { .array(texts.map { .text($0) }) }
}
