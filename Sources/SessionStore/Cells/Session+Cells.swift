import SceneModel

extension Session {
  /// In the order of `put`. The first three never change.
  static let columns = """
    identifier, application, created, role, configuration, state, flags, last_activated, title, user_activity, \
    restoration_activity, opened_content, user_info, can_activate, prefers_to_activate, shown_by
    """

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(self.identifier)
    cells.put(self.application)
    cells.put(self.created)
    putChanging(into: &cells)
  }

  /// The values that may change.
  func putChanging(into cells: inout some CellWriter & ~Copyable) {
    cells.put(self.role)
    cells.put(self.configuration)
    cells.put(Text(self.state.rawValue))
    cells.put(SessionFlags(self).rawValue)
    cells.put(self.lastActivated)
    cells.put(self.title)
    cells.put(self.userActivity)
    cells.put(self.stateRestorationActivity)
    cells.put(self.openedContent)
    cells.put(self.userInfo.isEmpty ? nil : JSON.text(of: .dictionary(self.userInfo)))
    cells.put(self.canActivatePredicate)
    cells.put(self.prefersToActivatePredicate)
    cells.put(self.shownBy)
  }

  init(from cells: inout some CellReader & ~Copyable, _ rules: ReadingRules) throws(Malformed) {
    let identifier = try cells.identifier()
    let application = try cells.text()
    let created = try cells.instant()
    let role = try cells.text()
    let configuration = try cells.text()
    guard let state = SceneState(rawValue: try cells.text().string) else { throw Malformed("expected a scene's state") }
    let flags = SessionFlags(rawValue: try cells.integer())
    self.init(
      identifier: identifier, application: application, role: role, configuration: configuration, state: state,
      isConnected: flags.contains(.isConnected), hasBeenConnected: flags.contains(.hasBeenConnected), created: created,
      lastActivated: try cells.instant(), title: try cells.text(), userActivity: try cells.optionalActivity(rules),
      stateRestorationActivity: try cells.optionalActivity(rules), openedContent: try cells.text(),
      userInfo: try cells.userInfo(), canActivatePredicate: try cells.text(),
      prefersToActivatePredicate: try cells.text(), isPrivate: flags.contains(.isPrivate),
      shownBy: try cells.optionalIdentifier())
    self.hasSecrets = flags.contains(.hasSecrets)
  }
}

struct SessionFlags: OptionSet {
  let rawValue: Int64
  static let isConnected = SessionFlags(rawValue: 1)
  static let hasBeenConnected = SessionFlags(rawValue: 2)
  static let isPrivate = SessionFlags(rawValue: 4)
  static let hasSecrets = SessionFlags(rawValue: 8)

  init(rawValue: Int64) { self.rawValue = rawValue }

  init(_ session: Session) {
    self = []
    if session.isConnected { insert(.isConnected) }
    if session.hasBeenConnected { insert(.hasBeenConnected) }
    if session.isPrivate { insert(.isPrivate) }
    if session.hasSecrets { insert(.hasSecrets) }
  }
}

extension CellReader where Self: ~Copyable {
  fileprivate mutating func userInfo() throws(Malformed) -> UserInfo {
    guard let text = try optionalText() else { return UserInfo() }
    do throws(Fault) {
      if case .dictionary(let userInfo) = try JSON.value(text, atMost: .max, values: .max) { return userInfo }
    } catch {
      throw Malformed("the user info does not parse: \(error)")
    }
    throw Malformed("the user info is no dictionary")
  }
}
