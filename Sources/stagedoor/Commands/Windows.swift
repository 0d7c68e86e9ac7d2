import DBus
import SceneModel
import ServiceSupport
import StagedoorKit

// The commands that change one window or one delivery.

enum WindowCommands {
  static let answer: [Field<Delivery>] = [
    Field("outcome", .init(title: "OUTCOME") { Style(of: $0) }) { .text($0.outcome.rawValue) },
    Field("session", .init(title: "SESSION") { _ in .identifier }) { .text($0.session.description) },
    Field("delivery", .init(title: "DELIVERY") { _ in .aside }) { .text($0.identifier.description) },
  ]

  static func activate(_ invocation: Invocation, _ client: Client) async throws {
    if let window = window(invocation.arguments[0]) {
      do throws(CallError) {
        try await Understudy(on: client.stagedoor.connection).activate(window, DesktopToken.current)
      } catch {
        guard case .replied(let reason) = error else {
          throw Problem(.noService, "the understudy does not answer: \(error)")
        }
        throw Problem(.refused, reason.text, error: reason.name.rawValue)
      }
      try Change.say("activated", invocation.arguments[0], "", invocation)
      return
    }
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

  /// The understudy's window of an identifier from `stagedoor windows`; `nil` for a session.
  private static func window(_ text: String) -> String? {
    guard text.first == WindowsCommand.mark, text.count > 1, text.dropFirst().allSatisfy(\.isWholeNumber) else {
      return nil
    }
    return String(text.dropFirst())
  }

  static func refresh(_ invocation: Invocation, _ client: Client) async throws {
    for window in try await client.windows(invocation.arguments) {
      try await client.stagedoor.refresh(window.session)
      try Change.say("refreshed", window.session.description, window.title, invocation)
    }
  }

  static func close(_ invocation: Invocation) async throws {
    let named = [!invocation.arguments.isEmpty, invocation.has(.ofApp), invocation.has(.all)]
    guard named.count(where: { $0 }) == 1 else {
      throw Problem.usage("name windows, or all of an application with --app, or all with --all")
    }
    let client = try await Client(invocation)
    // All sessions are found before the first is destroyed.
    let windows: [Window]
    if invocation.arguments.isEmpty {
      let application = try await client.application(of: invocation)
      // The beginning of an identifier means too little where windows close, if it may be a whole one.
      if let text = invocation[.ofApp], let application, application != text, ApplicationIdentifier.isValid(Text(text))
      {
        throw Problem(
          .refused, "there is no application \"\(text.printable)\" with windows; did you mean \(application.printable)?"
        )
      }
      windows = try await client.windows(of: application)
      if windows.isEmpty { Output.note("stagedoor close: there are no such windows") }
    } else {
      windows = try await client.windows(invocation.arguments)
    }
    // A person who typed whole identifiers has chosen. A shortened identifier may mean another window.
    let isChosen = !invocation.arguments.isEmpty && invocation.arguments.allSatisfy { SessionIdentifier($0) != nil }
    if !isChosen, !windows.isEmpty, invocation.has(.all) || Question.isPossible {
      let which = windows.count == 1 ? windows[0].described : counted(windows.count, "window", "windows")
      try confirm("close \(which) for good", "nothing was closed", invocation)
    }
    try await close(windows, client, invocation)
  }

  private static func close(_ windows: [Window], _ client: Client, _ invocation: Invocation) async throws {
    let animation = invocation[.animation].flatMap { DismissalAnimation(rawValue: $0) } ?? .standard
    for window in windows {
      do { try await client.stagedoor.destroy(window.session, animation: animation) } catch {
        // Somebody else has closed it meanwhile.
        if error.code == .noSuchSession { continue }
        throw error
      }
      try Change.say("closed", window.session.description, window.title, invocation)
    }
  }

  /// Cancels the deliveries that wait, closes all windows, and forgets the chosen applications.
  static func reset(_ invocation: Invocation, _ client: Client) async throws {
    let windows = try await client.windows(of: nil)
    var held: [DeliveryIdentifier] = []
    for try await page in client.stagedoor.deliveryPages(in: .held) { held += page.map(\.identifier) }
    let choices = try await client.stagedoor.preferredApplications()
    if windows.isEmpty, held.isEmpty, choices.isEmpty {
      Output.note("stagedoor reset: there is nothing to forget")
      return
    }
    let what = [
      counted(windows.count, "window for good", "windows for good"),
      counted(held.count, "delivery that waits", "deliveries that wait"),
      counted(choices.count, "chosen application", "chosen applications"),
    ].listed("and")
    try confirm("forget \(what)", "nothing was forgotten", invocation)
    // The end of a delivery also discards a session that was made for it.
    for delivery in held {
      do { try await client.stagedoor.cancel(delivery) } catch {
        // A host has taken it meanwhile.
        if error.code == .requestDenied { continue }
        throw error
      }
      try Change.say("cancelled", delivery.description, "", invocation)
    }
    try await close(windows, client, invocation)
    for choice in choices {
      try await client.stagedoor.setPreferredApplication(nil, for: choice.type)
      try Change.say("forgotten", choice.type, choice.application, invocation)
    }
  }

  /// Asks a person; without a terminal, --yes is the answer.
  private static func confirm(_ act: String, _ refusal: String, _ invocation: Invocation) throws(Problem) {
    if invocation.has(.yes) { return }
    guard Question.isPossible else { throw Problem.usage("this would \(act); --yes does it without asking") }
    let question = act.prefix(1).uppercased() + act.dropFirst()
    guard Question.ask("\(question)?") else { throw Problem(.cancelled, refusal) }
  }

  static func new(_ invocation: Invocation, _ client: Client) async throws {
    let application = try await client.application(invocation.arguments[0])
    return try answer(
      try await client.stagedoor.newSession(of: application, configuration: invocation.argument(1) ?? ""), invocation)
  }

  static func cancel(_ invocation: Invocation, _ client: Client) async throws {
    // All deliveries are found before the first is cancelled.
    var deliveries: [(identifier: DeliveryIdentifier, application: String)] = []
    for text in invocation.arguments {
      let delivery = try await client.delivery(text)
      if deliveries.contains(where: { $0.identifier == delivery }) { continue }
      let (state, decision) = try await client.stagedoor.delivery(delivery)
      if state != .held, state != .forwarded {
        throw Problem(.refused, "the delivery \(delivery) is neither held nor forwarded; nothing is cancelled")
      }
      deliveries.append((delivery, try Printed.value(decision.json)["application"]?["chosen"]?.string ?? ""))
    }
    for delivery in deliveries {
      try await client.stagedoor.cancel(delivery.identifier)
      try Change.say("cancelled", delivery.identifier.description, delivery.application, invocation)
    }
  }

  static func redirect(_ invocation: Invocation, _ client: Client) async throws {
    let delivery = try await client.delivery(invocation.arguments[0])
    let session = try await client.session(invocation.arguments[1])
    return try answer(try await client.stagedoor.redirect(delivery, to: session), invocation)
  }

  static func answer(_ delivery: Delivery, _ invocation: Invocation) throws(Problem) {
    try Listing(invocation, answer).answer(delivery)
  }
}

/// "1 window", "2 windows".
func counted(_ count: Int, _ one: String, _ more: String) -> String { "\(count) \(count == 1 ? one : more)" }

/// A session, for people.
struct Window: Sendable {
  let session: SessionIdentifier
  let application: String
  /// The title, or else the key of the content.
  let title: String

  var described: String {
    title.isEmpty ? "the window \(session) of \(application)" : "the window \"\(title)\" of \(application)"
  }
}

extension Client {
  /// The windows whose identifiers begin with these texts.
  func windows(_ texts: [String]) async throws -> [Window] {
    var windows: [Window] = []
    for text in texts {
      let session = try await stagedoor.session(try await session(text))
      let titles = [session.title, session.userActivity?.title ?? "", session.targetContentIdentifier]
      let title = titles.first { !$0.isEmpty } ?? ""
      windows.append(Window(session: session.identifier, application: session.application, title: title))
    }
    return windows
  }

  func windows(of application: String?) async throws -> [Window] {
    var windows: [Window] = []
    for try await page in stagedoor.sessionPages(of: application) {
      windows += page.map {
        Window(
          session: $0.session, application: $0.application,
          title: $0.title.isEmpty ? $0.targetContentIdentifier : $0.title)
      }
    }
    return windows
  }

  func hasEnded(_ delivery: DeliveryIdentifier) async throws -> Bool {
    try Printed.value(try await stagedoor.delivery(delivery).decision.json)["ended"] != nil
  }
}

/// The token that lets a window come to the front. The desktop gave it to the program that started us.
enum DesktopToken {
  static var current: String? { Environment["XDG_ACTIVATION_TOKEN"] ?? Environment["DESKTOP_STARTUP_ID"] }
}
