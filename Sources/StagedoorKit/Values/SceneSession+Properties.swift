internal import DBus
internal import FoundationEssentials
internal import SceneModel

// Reads the properties of `org.stagedoor.SceneSession1`.
extension SceneSession {
  /// All properties of a session's object.
  init(at path: ObjectPath, _ properties: [String: Variant]) throws(StagedoorError) {
    guard let identifier = SessionIdentifier(path.rawValue) else {
      throw .unexpectedReply("not a session path: \(path)")
    }
    self.identifier = identifier
    application = try Self.text("Application", properties)
    configuration = SceneConfiguration(
      name: try Self.text("Configuration", properties),
      sessionRole: SessionRole(rawValue: try Self.text("Role", properties)))
    try update(properties)
  }

  /// Reads the given properties; the others stay unchanged.
  mutating func update(_ properties: [String: Variant]) throws(StagedoorError) {
    for (name, variant) in properties {
      switch (name, variant) {
      case ("Configuration", .string(let text)): configuration.name = text
      case ("State", .string(let text)):
        guard let state = ActivationState(rawValue: text) else {
          throw .unexpectedReply("unknown session state: \(quoted(text))")
        }
        activationState = state
      case ("Connected", .boolean(let value)): isConnected = value
      case ("TargetContentIdentifier", .string(let text)): targetContentIdentifier = text
      case ("Created", .uint64(let value)): created = Self.date(value)
      case ("LastActivated", .uint64(let value)): lastActivated = Self.date(value)
      case ("Title", .string(let text)): title = text
      case ("UserActivity", .string(let text)): userActivity = try UserActivity(json: text)
      case ("StateRestorationActivity", .string(let text)): stateRestorationActivity = try UserActivity(json: text)
      case ("UserInfo", .string(let text)): (userInfo, wasShown) = try Self.userInfo(text)
      case ("CanActivatePredicate", .string(let text)):
        activationConditions.canActivateForTargetContentIdentifierPredicate = ActivationPredicate(stored: text)
      case ("PrefersToActivatePredicate", .string(let text)):
        activationConditions.prefersToActivateForTargetContentIdentifierPredicate = ActivationPredicate(stored: text)
      default: break
      }
    }
  }

  private static func text(_ name: String, _ properties: [String: Variant]) throws(StagedoorError) -> String {
    guard case .string(let text)? = properties[name] else { throw .unexpectedReply("a session without \(name)") }
    return text
  }

  private static func date(_ microseconds: UInt64) -> Date {
    Date(Instant(microseconds: Int64(clamping: microseconds)))
  }

  /// The key in the session's user info by which this library records, beside the application's data, that the window is shown.
  private static let shownKey = "org.stagedoor.kit.shown"

  static func text(of userInfo: [String: UserInfoValue], wasShown: Bool) throws(StagedoorError) -> String {
    var fields = userInfo
    if wasShown { fields[shownKey] = true }
    if fields.isEmpty { return "" }
    return JSON.text(of: .dictionary(try SceneModel.UserInfo(fields, at: Place.document.key("userInfo")))).string
  }

  private static func userInfo(
    _ text: String
  ) throws(StagedoorError) -> (userInfo: [String: UserInfoValue], wasShown: Bool) {
    if text.isEmpty { return ([:], false) }
    guard case .dictionary(let fields) = try Value(document: text) else {
      throw .unexpectedReply("not a dictionary: \(quoted(text))")
    }
    var userInfo = [String: UserInfoValue](fields)
    let wasShown = userInfo.removeValue(forKey: shownKey) == true
    return (userInfo, wasShown)
  }
}
