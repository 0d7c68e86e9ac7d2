import SceneModel

extension Record {
  /// The kind of a log entry, as stored in the file: a number is never reused for another kind.
  enum Kind: Int64 {
    case session = 1
    case sessionActivated, sessionDiscarded, delivery, deliveryProgress, event, preference, discardOwed, discardTold,
      deliveryRedirected, baggage, baggageReleased
  }

  var kind: Kind {
    switch self {
    case .session: .session
    case .sessionActivated: .sessionActivated
    case .sessionDiscarded: .sessionDiscarded
    case .delivery: .delivery
    case .deliveryProgress: .deliveryProgress
    case .deliveryRedirected: .deliveryRedirected
    case .event: .event
    case .preference: .preference
    case .discardOwed: .discardOwed
    case .discardTold: .discardTold
    case .baggage: .baggage
    case .baggageReleased: .baggageReleased
    }
  }

  func put(into cells: inout some CellWriter & ~Copyable) {
    switch self {
    case .session(let session): session.put(into: &cells)
    case .sessionActivated(let activation):
      cells.put(activation.session)
      cells.put(activation.instant)
      cells.put(activation.userActivity)
      cells.put(activation.openedContent)
      cells.put(activation.isPrivate.map { $0 ? 1 : 0 })
      // Most activations only bring a session to the front, so the fields for new content are left out then.
      if activation.title == nil, activation.shownBy == nil { break }
      cells.put(activation.title)
      cells.put(activation.shownBy)
    case .sessionDiscarded(let identifier): cells.put(identifier)
    case .delivery(let delivery): delivery.put(into: &cells)
    case .deliveryProgress(let identifier, let progress):
      cells.put(identifier)
      progress.put(into: &cells)
      progress.putEnd(into: &cells)
      if let deadline = progress.deadline { cells.put(deadline) }
    case .deliveryRedirected(let identifier, let progress, let previous):
      cells.put(identifier)
      progress.put(into: &cells)
      previous.put(into: &cells)
      progress.putEnd(into: &cells)
    case .event(let event): event.put(into: &cells)
    case .preference(let type, let application):
      cells.put(type)
      cells.put(application)
    case .discardOwed(let application, let session), .discardTold(let application, let session):
      cells.put(application)
      cells.put(session)
    case .baggage(let baggage): baggage.put(into: &cells)
    case .baggageReleased(let delivery): cells.put(delivery)
    }
  }

  init(_ number: Int64, _ body: [UInt8], _ rules: ReadingRules) throws(Malformed) {
    guard let kind = Kind(rawValue: number) else { throw Malformed("there is no kind \(number) of entries") }
    var cells = LogBodyReader(body)
    switch kind {
    case .session: self = .session(try Session(from: &cells, rules))
    case .sessionActivated:
      var activation = SessionActivation(
        session: try cells.identifier(), at: try cells.instant(), userActivity: try cells.optionalActivity(rules),
        openedContent: try cells.optionalText(), isPrivate: try cells.optionalInteger().map { $0 != 0 })
      if !cells.isAtEnd {
        (activation.title, activation.shownBy) = (try cells.optionalText(), try cells.optionalIdentifier())
      }
      self = .sessionActivated(activation)
    case .sessionDiscarded: self = .sessionDiscarded(try cells.identifier())
    case .delivery: self = .delivery(try StoredDelivery(from: &cells, rules))
    case .deliveryProgress:
      let identifier = try cells.identifier()
      var progress = try DeliveryProgress(from: &cells)
      try progress.readEnd(from: &cells)
      // Only the record of a delivery that is forwarded has it.
      if !cells.isAtEnd { progress.deadline = try cells.instant() }
      self = .deliveryProgress(identifier, progress)
    case .deliveryRedirected:
      let identifier = try cells.identifier()
      var progress = try DeliveryProgress(from: &cells)
      let previous = try PreviouslyShown(from: &cells, rules)
      try progress.readEnd(from: &cells)
      self = .deliveryRedirected(identifier, progress, previous)
    case .event: self = .event(try StoredEvent(from: &cells))
    case .preference: self = .preference(type: try cells.text(), application: try cells.optionalText())
    case .discardOwed: self = .discardOwed(application: try cells.text(), session: try cells.identifier())
    case .discardTold: self = .discardTold(application: try cells.text(), session: try cells.identifier())
    case .baggage: self = .baggage(try Baggage(from: &cells, rules))
    case .baggageReleased: self = .baggageReleased(try cells.identifier())
    }
    if !cells.isAtEnd { throw Malformed("expected no more values") }
  }
}

extension StoredEvent {
  static let columns = "sequence, name, application, arguments, instant"

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(Int64(clamping: sequence))
    cells.put(name)
    cells.put(application)
    cells.put(arguments)
    cells.put(instant)
  }

  init(from cells: inout some CellReader & ~Copyable) throws(Malformed) {
    let sequence = try cells.integer()
    guard sequence > 0, sequence < Ledger.end else {
      throw Malformed("expected the number of an event, got \(sequence)")
    }
    self.init(
      sequence: UInt64(sequence), name: try cells.text(), application: try cells.text(), arguments: try cells.text(),
      at: try cells.instant())
  }
}

extension Baggage {
  static let columns = "delivery, is_private, document"

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(delivery)
    cells.put(isPrivate)
    cells.put(document)
  }

  init(from cells: inout some CellReader & ~Copyable, _ rules: ReadingRules) throws(Malformed) {
    let (delivery, isPrivate, document) = (try cells.identifier(), try cells.bool(), try cells.text())
    do throws(Fault) {
      try self.init(delivery: delivery, isPrivate: isPrivate, document: document, rules)
    } catch {
      throw Malformed("the baggage does not parse: \(error)")
    }
  }
}
