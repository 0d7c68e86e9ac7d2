import SceneModel

extension StoredDelivery {
  /// In the order of `put`: the columns that lists need come first, so that a list need not read through the documents.
  static let columns = """
    \(DeliverySummary.firstColumns), source_application, fingerprint, is_private, routing_item, routing_activity, \
    \(PreviouslyShown.columns), answer, decision, payload, ended
    """

  /// Whether a row has content that must not stay in the file once it is removed.
  static let privacy = "is_private OR previous_private"

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(identifier)
    cells.put(self.application)
    cells.put(self.sender)
    cells.put(self.token)
    cells.put(self.created)
    cells.put(self.deadline)
    self.progress.put(into: &cells)
    cells.put(self.sourceApplication)
    cells.put(self.fingerprint)
    cells.put(self.isPrivate)
    cells.put(self.routing?.item)
    cells.put(self.routing?.activity)
    self.previous.put(into: &cells)
    cells.put(self.answer)
    cells.put(self.decision)
    cells.put(self.payload)
    self.progress.putEnd(into: &cells)
  }

  init(from cells: inout some CellReader & ~Copyable, _ rules: ReadingRules) throws(Malformed) {
    let summary = try DeliverySummary(firstOf: &cells)
    self.init(
      identifier: summary.identifier, application: summary.application, sender: summary.sender, token: summary.token,
      created: summary.created, deadline: summary.deadline, progress: summary.progress)
    self.sourceApplication = try cells.text()
    self.fingerprint = try cells.text()
    self.isPrivate = try cells.bool()
    let (item, activity) = (try cells.optionalInteger(), try cells.optionalInteger())
    self.routing = item.map { RoutingPlace(item: $0, activity: activity) }
    self.previous = try PreviouslyShown(from: &cells, rules)
    self.answer = try cells.text()
    self.decision = try cells.text()
    self.payload = try cells.text()
    try self.progress.readEnd(from: &cells)
  }
}

extension PreviouslyShown {
  static let columns = "previous_activity, previous_content, previous_title, previous_private, previous_by"

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(userActivity)
    cells.put(openedContent)
    cells.put(title)
    cells.put(isPrivate)
    cells.put(shownBy)
  }

  init(from cells: inout some CellReader & ~Copyable, _ rules: ReadingRules) throws(Malformed) {
    self.init(
      userActivity: try cells.optionalActivity(rules), openedContent: try cells.text(), title: try cells.text(),
      isPrivate: try cells.bool(), shownBy: try cells.optionalIdentifier())
  }
}

extension DeliverySummary {
  static let columns = "\(firstColumns), ended, is_private, previous_by"

  static let firstColumns = "identifier, application, sender, token, created, deadline, \(DeliveryProgress.columns)"

  init(from cells: inout some CellReader & ~Copyable) throws(Malformed) {
    try self.init(firstOf: &cells)
    try progress.readEnd(from: &cells)
    (isPrivate, previousBy) = (try cells.bool(), try cells.optionalIdentifier())
  }

  /// Applies a change that is not in the row yet. A delivery that is over drops the values that only an open delivery has.
  mutating func goOn(_ change: Tail.DeliveryChange? = nil) {
    if case .changed(let progress, let previous)? = change {
      advance(to: progress)
      if let previous { previousBy = previous.shownBy }
    }
    if !progress.isOpen { (isPrivate, previousBy) = (false, nil) }
  }

  /// All values except the time of the end, and the values that only an open delivery has.
  init(firstOf cells: inout some CellReader & ~Copyable) throws(Malformed) {
    self.init(
      identifier: try cells.identifier(), application: try cells.text(), sender: try cells.text(),
      token: try cells.optionalText(), created: try cells.instant(), deadline: try cells.instant(),
      progress: try DeliveryProgress(from: &cells))
  }
}

extension DeliveryProgress {
  /// All values except `ended`, which earlier versions did not write: it is the last value of everything that contains a progress, and may be missing
  /// there.
  static let columns = "state, is_open, session, outcome, attempt, departures, error, message"

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(Text(state.rawValue))
    cells.put(isOpen)
    cells.put(session)
    cells.put(outcome)
    cells.put(attempt)
    cells.put(departures)
    cells.put(error?.name)
    cells.put(error?.message)
  }

  init(from cells: inout some CellReader & ~Copyable) throws(Malformed) {
    guard let state = DeliveryState(rawValue: try cells.text().string) else {
      throw Malformed("expected a delivery's state")
    }
    self.init(
      state, isOpen: try cells.bool(), session: try cells.optionalIdentifier(), outcome: try cells.text(),
      attempt: try cells.count(), departures: try cells.count())
    let (name, message) = (try cells.optionalText(), try cells.optionalText())
    error = name.map { DeliveryError(name: $0, message: message ?? .empty) }
  }

  func putEnd(into cells: inout some CellWriter & ~Copyable) { cells.put(ended?.microseconds) }

  mutating func readEnd(from cells: inout some CellReader & ~Copyable) throws(Malformed) {
    if !cells.isAtEnd { ended = try cells.optionalInstant() }
  }
}
