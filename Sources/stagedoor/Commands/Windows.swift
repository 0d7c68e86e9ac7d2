import SceneModel
import StagedoorKit

// The commands that change one window or one delivery.

enum WindowCommands {
  static func activate(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let session = try await client.session(invocation.arguments[0])
    // If the desktop gave us a token that lets a window come to the front, we pass it on.
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
    // All sessions are found before the first is destroyed.
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
    // All deliveries are found before the first is cancelled.
    var deliveries: [DeliveryIdentifier] = []
    for text in invocation.arguments { deliveries.append(try await client.delivery(text)) }
    for delivery in deliveries where try await client.stagedoor.delivery(delivery).state != .held {
      throw Problem(
        .refused, "the delivery \(delivery) does not wait for its application any more; nothing is cancelled")
    }
    for delivery in deliveries { try await client.stagedoor.cancel(delivery) }
    return .done
  }

  static func redirect(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let delivery = try await client.delivery(invocation.arguments[0])
    let session = try await client.session(invocation.arguments[1])
    return try answer(try await client.stagedoor.redirect(delivery, to: session), invocation)
  }

  /// Prints the answer to a delivery: the outcome, the session, the delivery.
  static func answer(_ delivery: Delivery, _ invocation: Invocation) throws(Problem) -> Status {
    if invocation.has(.quiet) {
      try Output.line(delivery.identifier.description)
      return .done
    }
    let screen = invocation.screen
    let (session, identifier) = (delivery.session.description, delivery.identifier.description)
    if invocation.has(.json) {
      try Output.line(
        Printed.shown(
          Printed.object([
            ("outcome", .text(delivery.outcome.rawValue)), ("session", .text(session)), ("delivery", .text(identifier)),
          ])))
      return .done
    }
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

/// The token that lets a window come to the front. The desktop gave it to the program that started us.
enum DesktopToken {
  static var current: String? { Environment["XDG_ACTIVATION_TOKEN"] ?? Environment["DESKTOP_STARTUP_ID"] }
}
