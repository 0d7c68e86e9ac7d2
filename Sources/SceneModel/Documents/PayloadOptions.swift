/// The options of a payload.
public struct PayloadOptions: Hashable, Sendable {
  /// Whether a session may, or must, be made.
  package enum Disposition: String, CaseIterable, Sendable {
    case auto
    /// Always a new session, as for a drop at the edge of the screen.
    case new
    /// As `auto`; without a key an existing session rather than a new one.
    case existing
    /// Never a new session.
    case existingOnly
  }

  package enum PresentationStyle: String, CaseIterable, Sendable { case automatic, standard, prominent }

  /// When the service answers the sender.
  package enum Wait: String, CaseIterable, Sendable { case routed, handled }

  package enum Operation: String, CaseIterable, Sendable { case copy, move }

  package enum Batch: String, CaseIterable, Sendable { case allOrNothing, bestEffort }

  package static let defaultRole: Text = "UIWindowSceneSessionRoleApplication"
  /// In seconds.
  public static let defaultDeadline: Double = 20
  package static let maximumDeadline: Double = 3600

  package var disposition = Disposition.auto
  /// A session's identifier or path, in the sender's spelling.
  package var session: Text?
  package var application: Text?
  package var configuration: Text?
  package var role: Text?
  package var requestingSession: Text?
  package var presentationStyle = PresentationStyle.automatic
  package var token: Text?
  /// In seconds; `nil` if the sender sets no deadline.
  public var statedDeadline: Double?
  /// In seconds.
  @inlinable public var deadline: Double { statedDeadline ?? PayloadOptions.defaultDeadline }
  package var wait = Wait.routed
  package var activationToken: Text?
  package var keepPromises = false
  package var allowedOperations = [Operation.copy]
  package var isPrivate = false
  package var batch = Batch.allOrNothing
  /// Whether the payload has the rights of a sandboxed sender without an application, whoever hands it in.
  package var isFromStranger = false
  /// Where the payload came from, in words, if it was passed on.
  package var origin: Text?
  /// Whether the person's rules are asked.
  package var asksRules = true
  /// Strings for the rules.
  package var info = UserInfo()
  package var isStrict = false

  package init() {}
}

// MARK: - As a document

extension PayloadOptions: Document {
  private static let keys: [StaticString] = [
    "disposition", "session", "application", "configuration", "role", "requestingSession", "presentationStyle", "token",
    "deadline", "wait", "activationToken", "keepPromises", "allowedOperations", "private", "batch", "asStranger",
    "origin", "rules", "info", "strict",
  ]

  package init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) {
    self.init()
    var saysDisposition = false
    for (key, node) in try node.requireFields("options") where !node.isNull {
      switch key {
      case "disposition":
        disposition = try node.requireChoice(Disposition.self)
        saysDisposition = true
      case "session": session = try node.requireSession()
      case "application": application = try node.requireName("an application's identifier")
      case "configuration": configuration = try node.requireName("the name of a configuration")
      case "role": role = try node.requireName("a session role")
      case "requestingSession": requestingSession = try node.requireName("a session's identifier or path")
      case "presentationStyle": presentationStyle = try node.requireChoice(PresentationStyle.self)
      case "token": token = try node.requireName("a name for this request")
      case "deadline": statedDeadline = try PayloadOptions.deadline(node)
      case "wait": wait = try node.requireChoice(Wait.self)
      case "activationToken": activationToken = try node.requireText()
      case "keepPromises": keepPromises = try node.requireBool()
      case "allowedOperations": allowedOperations = try PayloadOptions.operations(node)
      case "private": isPrivate = try node.requireBool()
      case "batch": batch = try node.requireChoice(Batch.self)
      case "asStranger": isFromStranger = try node.requireBool()
      case "origin": origin = try node.requireName("where it came from")
      case "rules": asksRules = try node.requireBool()
      case "info": info = try node.requireStrings()
      case "strict": isStrict = try node.requireBool()
      default: break
      }
    }
    if isStrict || rules.isStrict { try node.refuseUnknown(besides: PayloadOptions.keys) }
    if session != nil {
      let beside: [(Text, Bool)] = [
        ("application", application != nil), ("configuration", configuration != nil), ("role", role != nil),
        ("disposition", saysDisposition),
      ]
      if let (key, _) = beside.first(where: \.1) {
        throw .expected("a session alone to say where it goes", got: "\(key) too", at: node.place.key("session"))
      }
    }
  }

  private static func deadline(_ node: some DocumentNode) throws(Fault) -> Double {
    guard let seconds = node.double, seconds > 0, seconds <= maximumDeadline else {
      throw node.fault("a number of seconds above 0 and at most \(Int(maximumDeadline))")
    }
    return seconds
  }

  private static func operations(_ node: some DocumentNode) throws(Fault) -> [Operation] {
    var operations: [Operation] = []
    _ = try node.list(of: "operations") { node throws(Fault) in
      let operation = try node.requireChoice(Operation.self)
      if operations.contains(operation) { throw node.fault("each operation once") }
      operations.append(operation)
    }
    if operations.isEmpty { throw .expected("\"copy\", \"move\" or both", got: "neither", at: node.place) }
    return operations
  }

  package func write(to fields: inout some DocumentFields) {
    let plain = PayloadOptions()
    fields["activationToken"] = activationToken
    if allowedOperations != plain.allowedOperations {
      fields["allowedOperations"] = allowedOperations.map { Text($0.rawValue) }
    }
    fields["application"] = application
    if isFromStranger { fields["asStranger"] = true }
    if batch != plain.batch { fields["batch"] = batch }
    fields["configuration"] = configuration
    if let statedDeadline { fields.set("deadline", .double(statedDeadline)) }
    if disposition != plain.disposition { fields["disposition"] = disposition }
    fields["info"] = info
    if keepPromises { fields["keepPromises"] = true }
    fields["origin"] = origin
    if presentationStyle != plain.presentationStyle { fields["presentationStyle"] = presentationStyle }
    if isPrivate { fields["private"] = true }
    fields["requestingSession"] = requestingSession
    fields["role"] = role
    if !asksRules { fields["rules"] = false }
    fields["session"] = session
    if isStrict { fields["strict"] = true }
    fields["token"] = token
    if wait != plain.wait { fields["wait"] = wait }
  }
}
