/// The options of a payload.
public struct PayloadOptions: Boxed, Hashable, Sendable {
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
  package static let defaultDeadline: Double = 20
  package static let maximumDeadline: Double = 3600

  /// The box. Most payloads have no options, and share one.
  public var fields = PayloadOptions.none
  private static let none = Shared(Fields())

  /// What a payload may set.
  public struct Fields: Hashable, Sendable {
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
    package var statedDeadline: Double?
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
    /// The operation of a drop that ended a drag. Only the service says this, in the documents that it stores.
    package var operation: Operation?
  }

  package var deadline: Double { self.statedDeadline ?? PayloadOptions.defaultDeadline }

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
        self.disposition = try node.requireChoice(Disposition.self)
        saysDisposition = true
      case "session": self.session = try node.requireSession()
      case "application": self.application = try node.requireName("an application's identifier")
      case "configuration": self.configuration = try node.requireName("the name of a configuration")
      case "role": self.role = try node.requireName("a session role")
      case "requestingSession": self.requestingSession = try node.requireSession()
      case "presentationStyle": self.presentationStyle = try node.requireChoice(PresentationStyle.self)
      case "token": self.token = try node.requireName("a name for this request")
      case "deadline": self.statedDeadline = try PayloadOptions.deadline(node)
      case "wait": self.wait = try node.requireChoice(Wait.self)
      case "activationToken": self.activationToken = try node.requireText()
      case "keepPromises": self.keepPromises = try node.requireBool()
      case "allowedOperations": self.allowedOperations = try PayloadOptions.operations(node)
      case "private": self.isPrivate = try node.requireBool()
      case "batch": self.batch = try node.requireChoice(Batch.self)
      case "asStranger": self.isFromStranger = try node.requireBool()
      case "origin": self.origin = try node.requireName("where it came from")
      case "rules": self.asksRules = try node.requireBool()
      case "info": self.info = try node.requireStrings()
      case "strict": self.isStrict = try node.requireBool()
      case "operation" where rules.isStored: self.operation = try node.requireChoice(Operation.self)
      default: break
      }
    }
    if !rules.isStored, self.isStrict || rules.isStrict { try node.refuseUnknown(besides: PayloadOptions.keys) }
    if self.session != nil {
      let beside: [(Text, Bool)] = [
        ("application", self.application != nil), ("configuration", self.configuration != nil),
        ("role", self.role != nil),
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
    fields["activationToken"] = self.activationToken
    if self.allowedOperations != plain.allowedOperations {
      fields["allowedOperations"] = self.allowedOperations.map { Text($0.rawValue) }
    }
    fields["application"] = self.application
    if self.isFromStranger { fields["asStranger"] = true }
    if self.batch != plain.batch { fields["batch"] = self.batch }
    fields["configuration"] = self.configuration
    if let statedDeadline = self.statedDeadline { fields.set("deadline", .double(statedDeadline)) }
    if self.disposition != plain.disposition { fields["disposition"] = self.disposition }
    fields["info"] = self.info
    if self.keepPromises { fields["keepPromises"] = true }
    fields["operation"] = self.operation
    fields["origin"] = self.origin
    if self.presentationStyle != plain.presentationStyle { fields["presentationStyle"] = self.presentationStyle }
    if self.isPrivate { fields["private"] = true }
    fields["requestingSession"] = self.requestingSession
    fields["role"] = self.role
    if !self.asksRules { fields["rules"] = false }
    fields["session"] = self.session
    if self.isStrict { fields["strict"] = true }
    fields["token"] = self.token
    if self.wait != plain.wait { fields["wait"] = self.wait }
  }
}
