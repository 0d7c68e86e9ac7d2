import DBus
import Glibc
import SceneModel
import StagedoorKit

// The commands that show lists.

enum SessionsCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    var application: String?
    if let text = invocation[.ofApp] { application = try await client.application(text) }
    let known = invocation.has(.quiet) ? [] : try await client.stagedoor.applications().map(\.identifier)
    var table = Table(invocation.screen, columns)
    var list = Printed.List()
    try await client.sessions(of: application, atMost: invocation[.limit].flatMap { UInt32($0) }) { page in
      if invocation.has(.quiet) {
        for session in page { try Output.line(session.session.description) }
      } else if invocation.has(.json) {
        for session in page { try list.add(json(session, hasManifest: known.contains(session.application))) }
      } else {
        try table.print(page.map { row($0, hasManifest: known.contains($0.application), table.screen) })
      }
    }
    if invocation.has(.json) { try list.end() } else if !invocation.has(.quiet) { table.end(orSay: "no windows yet") }
    return .done
  }

  private static let columns = [
    Table.Column(title: "SESSION") { _ in .identifier },
    Table.Column(title: "APPLICATION", minimum: 12, keepsEnd: true, rank: 3),
    Table.Column(title: "WINDOW", minimum: 8, rank: 4),
    Table.Column(title: "STATE", rank: 2) { Style(of: $0) },
    Table.Column(title: "SHOWS", minimum: 8),
    Table.Column(title: "TITLE", minimum: 8, rank: 1),
    Table.Column(title: "USED", rank: 5) { _ in .aside },
  ]

  /// A session whose application has no manifest at present takes no part in routing.
  private static func row(_ session: SessionSummary, hasManifest: Bool, _ screen: Screen) -> [String] {
    [
      screen.identifier(session.session.description), session.application, session.configuration,
      hasManifest ? session.state : "no manifest",
      session.targetContentIdentifier, session.title,
      screen.isTerminal ? Moment.age(session.lastActivated) : Moment.rfc3339(session.lastActivated),
    ]
  }

  private static func json(_ session: SessionSummary, hasManifest: Bool) -> Value {
    Printed.object([
      ("session", .text(session.session.description)), ("path", .text(session.session.path.rawValue)),
      ("application", .text(session.application)), ("configuration", .text(session.configuration)),
      ("hasManifest", .bool(hasManifest)), ("state", .text(session.state)),
      ("targetContentIdentifier", .text(session.targetContentIdentifier)),
      ("title", .text(session.title)), ("lastActivated", .text(Moment.rfc3339(session.lastActivated))),
    ])
  }
}

enum DeliveriesCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let filter = invocation[.state].flatMap { Stagedoor.DeliveryFilter(rawValue: $0) } ?? .all
    var table = Table(invocation.screen, columns)
    var list = Printed.List()
    try await client.deliveries(in: filter, atMost: invocation[.limit].flatMap { UInt32($0) }) { page in
      if invocation.has(.quiet) {
        for delivery in page { try Output.line(delivery.identifier.description) }
      } else if invocation.has(.json) {
        for delivery in page { try list.add(json(delivery)) }
      } else {
        try table.print(page.map { row($0, table.screen) })
      }
    }
    if invocation.has(.json) {
      try list.end()
    } else if !invocation.has(.quiet) {
      table.end(orSay: "no deliveries yet")
    }
    return .done
  }

  private static let columns = [
    Table.Column(title: "DELIVERY") { _ in .identifier },
    Table.Column(title: "STATE") { Style(of: $0) },
    Table.Column(title: "APPLICATION", minimum: 12, keepsEnd: true, rank: 1),
    Table.Column(title: "SESSION", rank: 2) { _ in .identifier },
  ]

  private static func row(_ delivery: DeliveryRecord, _ screen: Screen) -> [String] {
    [
      screen.identifier(delivery.identifier.description), delivery.state.word, delivery.application,
      delivery.session.map { screen.identifier($0.description) } ?? "",
    ]
  }

  private static func json(_ delivery: DeliveryRecord) -> Value {
    Printed.object([
      ("delivery", .text(delivery.identifier.description)), ("state", .text(delivery.state.word)),
      ("application", .text(delivery.application)), ("session", delivery.session.map { .text($0.description) }),
    ])
  }
}

extension StagedoorKit.DeliveryState {
  /// The word on the bus.
  var word: String {
    switch self {
    case .held: "held"
    case .routed: "routed"
    case .handled: "handled"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }
}

enum AppsCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let all = try await client.stagedoor.applications()
    var shown = all
    if let type = try type(invocation) {
      shown = try await client.stagedoor.handlers(of: type).compactMap { handler in
        all.first { $0.identifier == handler.identifier }
      }
      // A word without a slash is the type of an activity, and no application takes this type.
      if shown.isEmpty, !type.utf8.contains(UInt8(ascii: "/")) {
        throw Problem(.refused, "no application takes \"\(type.printable)\"; `stagedoor apps` lists the applications")
      }
    }
    if invocation.has(.quiet) {
      for application in shown { try Output.line(application.identifier) }
    } else if invocation.has(.json) {
      var list = Printed.List()
      for application in shown {
        try list.add(
          Printed.object([
            ("application", .text(application.identifier)), ("name", .text(application.name)),
            ("hostAttached", .bool(application.isHostAttached)),
          ]))
      }
      try list.end()
    } else {
      var table = Table(invocation.screen, columns)
      try table.print(shown.map { [$0.identifier, $0.name, $0.isHostAttached ? "yes" : "no"] })
      table.end(
        orSay: all.isEmpty
          ? "no applications yet; `stagedoor install-manifest` installs one" : "no application takes this")
    }
    return .done
  }

  /// The type to ask for: the given type, or the type of the given file.
  private static func type(_ invocation: Invocation) throws(Problem) -> String? {
    if let file = invocation[.ofFile] {
      if invocation.argument(0) != nil { throw .usage("--file says the type; leave TYPE out") }
      return try PayloadArguments.type(ofFile: file)
    }
    guard let type = invocation.argument(0) else { return nil }
    let isContent = type.utf8.contains(UInt8(ascii: "/"))
    if isContent ? ContentType(Text(type)) == nil : type.isEmpty {
      throw .usage("\"\(type.printable)\" is no type such as image/png or org.example.Gallery.openDetail")
    }
    if access(type, F_OK) == 0 { throw .usage("\(type.printable) is a file; write --file \(type.printable)") }
    return type
  }

  private static let columns = [
    Table.Column(title: "APPLICATION", minimum: 12, keepsEnd: true) { _ in .identifier },
    Table.Column(title: "NAME", minimum: 8, rank: 1),
    Table.Column(title: "RUNS", rank: 2) { $0 == "yes" ? .good : .aside },
  ]
}

extension Screen {
  /// The whole identifier for programs, and its beginning for people: eight digits distinguish four billion.
  func identifier(_ text: String) -> String { isTerminal ? String(text.prefix(8)) : text }
}
