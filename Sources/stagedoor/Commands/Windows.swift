import SceneModel
import StagedoorKit

// The commands that do one thing to one window, or to one delivery.

enum WindowCommands {
  static func activate(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let session = try await client.session(invocation.arguments[0])
    // What lets a window come to the front goes along where somebody gave it to us.
    guard let token = DesktopToken.current else {
      return try answer(try await client.stagedoor.activate(session), invocation)
    }
    let document = Printed.object([
      ("options", Printed.object([("session", .text(session.description)), ("activationToken", .text(token))]))
    ])
    return try answer(try await client.stagedoor.deliver(document: Printed.json(document)), invocation)
  }

  static func refresh(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    for text in invocation.arguments { try await client.stagedoor.refresh(try await client.session(text)) }
    return .done
  }

  static func close(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let animation = invocation[.animation].flatMap { DismissalAnimation(rawValue: $0) } ?? .standard
    // All are found before the first goes.
    var sessions: [SessionIdentifier] = []
    for text in invocation.arguments { sessions.append(try await client.session(text)) }
    for session in sessions { try await client.stagedoor.destroy(session, animation: animation) }
    return .done
  }

  static func new(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let application = try await client.application(invocation.arguments[0])
    let delivery = try await client.stagedoor.newSession(
      of: application, configuration: invocation.argument(1) ?? "")
    if invocation.has(.quiet) {
      try Output.line(delivery.session.description)
      return .done
    }
    return try answer(delivery, invocation)
  }

  static func cancel(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    for text in invocation.arguments { try await client.stagedoor.cancel(try await client.delivery(text)) }
    return .done
  }

  static func redirect(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let delivery = try await client.delivery(invocation.arguments[0])
    let session = try await client.session(invocation.arguments[1])
    return try answer(try await client.stagedoor.redirect(delivery, to: session), invocation)
  }

  /// What became of something that was handed in: the outcome, the session, the delivery.
  static func answer(_ delivery: Delivery, _ invocation: Invocation) throws(Problem) -> Status {
    if invocation.has(.quiet) {
      try Output.line(delivery.identifier.description)
      return .done
    }
    let screen = invocation.screen
    let (session, identifier) = (delivery.session.description, delivery.identifier.description)
    guard screen.isTerminal else {
      try Output.line("\(delivery.outcome.rawValue)\t\(session)\t\(identifier)")
      return .done
    }
    let outcome = screen.styled(delivery.outcome.rawValue, Style(of: delivery.outcome.rawValue))
    try Output.line("\(outcome) session \(screen.styled(session, .identifier))")
    try Output.line(screen.styled("delivery \(identifier)", .aside))
    return .done
  }
}

/// What lets a window come to the front, as the desktop gave it to whoever started us.
enum DesktopToken {
  static var current: String? { Environment["XDG_ACTIVATION_TOKEN"] ?? Environment["DESKTOP_STARTUP_ID"] }
}

enum PreferCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    if invocation.has(.none), invocation.arguments.count != 1 {
      throw Problem.usage("--none goes with a TYPE and no APP: \(invocation.command.synopsis)")
    }
    let client = try await Client(invocation)
    guard let type = invocation.argument(0) else { return try await list(client, invocation) }
    if invocation.has(.none) {
      try await client.stagedoor.setPreferredApplication(nil, for: type)
      return .done
    }
    guard let application = invocation.argument(1) else {
      if let chosen = try await client.stagedoor.preferredApplication(for: type) { try Output.line(chosen.printable) }
      return .done
    }
    try await client.stagedoor.setPreferredApplication(try await client.application(application), for: type)
    return .done
  }

  private static func list(_ client: Client, _ invocation: Invocation) async throws -> Status {
    let all = try await client.stagedoor.preferredApplications()
    if invocation.has(.json) {
      var list = Printed.List()
      for (type, application) in all {
        try list.add(Printed.object([("type", .text(type)), ("application", .text(application))]))
      }
      try list.end()
      return .done
    }
    var table = Table(
      invocation.screen,
      [
        Table.Column(title: "TYPE", minimum: 12),
        Table.Column(title: "APPLICATION", minimum: 12) { _ in .identifier },
      ])
    try table.print(all.map { [$0.type, $0.application] })
    return .done
  }
}

enum RegisterCommands {
  static func register(_ invocation: Invocation) async throws -> Status {
    let bytes = try InputFile.read(invocation.arguments[0], limit: Limits.manifest)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Problem.failed("\(invocation.arguments[0].printable) is binary; `plutil` or `plistutil` makes XML of it")
    }
    try await Client(invocation).stagedoor.register(manifest: text)
    return .done
  }

  static func unregister(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    try await client.stagedoor.unregister(try await client.application(invocation.arguments[0]))
    return .done
  }
}
