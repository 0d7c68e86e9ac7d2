/// An event, as it is announced to everyone.
package struct Event: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case routed(
      outcome: Text, configuration: Text, activityType: Text, targetContentIdentifier: Text, delivery: UniqueIdentifier)
    case handled(delivery: UniqueIdentifier)
    case forwarded(delivery: UniqueIdentifier)
    case deliveryFailed(delivery: UniqueIdentifier, error: Text, message: Text)
    case unclaimed(delivery: UniqueIdentifier)
    case sessionConnected(configuration: Text)
    case sessionStateChanged(SceneState)
    case sessionDisconnected
    case sessionDiscarded(animation: Text)
    case sessionRefreshRequested
  }

  package let kind: Kind
  package let application: Text
  package let session: UniqueIdentifier
  package let sequence: UInt64

  package init(_ kind: Kind, application: Text, session: UniqueIdentifier, sequence: UInt64) {
    self.kind = kind
    self.application = application
    self.session = session
    self.sequence = sequence
  }

  /// The signal's name.
  package var name: Text {
    switch kind {
    case .routed: "Routed"
    case .handled: "Handled"
    case .forwarded: "Forwarded"
    case .deliveryFailed: "DeliveryFailed"
    case .unclaimed: "Unclaimed"
    case .sessionConnected: "SessionConnected"
    case .sessionStateChanged: "SessionStateChanged"
    case .sessionDisconnected: "SessionDisconnected"
    case .sessionDiscarded: "SessionDiscarded"
    case .sessionRefreshRequested: "SessionRefreshRequested"
    }
  }

  /// The signal's arguments in a short form: most are never read.
  package var stored: Text {
    var form = ShortForm()
    form.put(session)
    switch kind {
    case .routed(let outcome, let configuration, let type, let key, let delivery):
      form.put(delivery)
      for text in [outcome, configuration, type, key] { form.put(text) }
    case .handled(let delivery), .forwarded(let delivery), .unclaimed(let delivery): form.put(delivery)
    case .deliveryFailed(let delivery, let error, let message):
      form.put(delivery)
      form.put(error)
      form.put(message)
    case .sessionConnected(let text), .sessionDiscarded(let text): form.put(text)
    case .sessionStateChanged(let state): form.put(Text(state.rawValue))
    case .sessionDisconnected, .sessionRefreshRequested: break
    }
    return form.text()
  }

  /// `nil` if the stored event is damaged.
  init?(_ stored: StoredEvent) {
    var form = ShortFormReader(stored.arguments)
    guard let session = form.identifier(), let kind = Kind(stored.name, &form) else { return nil }
    self.init(kind, application: stored.application, session: session, sequence: stored.sequence)
  }

  /// The signal's arguments by their names, as a JSON object; without the number.
  package var arguments: Text {
    var type, animation, configuration, error, message, outcome, state, key: Text?
    var delivery, identifier: UniqueIdentifier?
    switch kind {
    case .routed(let how, let itsConfiguration, let itsType, let itsKey, let itsDelivery):
      (outcome, configuration, type, key, delivery) = (how, itsConfiguration, itsType, itsKey, itsDelivery)
    case .handled(let itsDelivery), .forwarded(let itsDelivery), .unclaimed(let itsDelivery): delivery = itsDelivery
    case .deliveryFailed(let itsDelivery, let name, let text): (delivery, error, message) = (itsDelivery, name, text)
    case .sessionConnected(let itsConfiguration): configuration = itsConfiguration
    case .sessionStateChanged(let itsState): state = Text(itsState.rawValue)
    case .sessionDisconnected, .sessionRefreshRequested: break
    case .sessionDiscarded(let itsAnimation): (identifier, animation) = (session, itsAnimation)
    }
    return JSONObjectWriter.text { fields in
      fields["activity_type"] = type
      fields["animation"] = animation
      fields["application"] = application
      fields["configuration"] = configuration
      fields["delivery"] = delivery
      fields["error"] = error
      fields["message"] = message
      fields["outcome"] = outcome
      fields["persistent_identifier"] = identifier
      fields["session"] = SessionReference.path(of: session)
      fields["state"] = state
      fields["target_content_identifier"] = key
    }
  }
}

extension Event.Kind {
  fileprivate init?(_ name: Text, _ form: inout ShortFormReader) {
    switch name {
    case "Routed":
      guard let delivery = form.identifier(), let outcome = form.text(), let configuration = form.text(),
        let type = form.text(), let key = form.text()
      else { return nil }
      self = .routed(
        outcome: outcome, configuration: configuration, activityType: type, targetContentIdentifier: key,
        delivery: delivery)
    case "Handled", "Forwarded", "Unclaimed":
      guard let delivery = form.identifier() else { return nil }
      self =
        name == "Handled"
        ? .handled(delivery: delivery)
        : name == "Forwarded" ? .forwarded(delivery: delivery) : .unclaimed(delivery: delivery)
    case "DeliveryFailed":
      guard let delivery = form.identifier(), let error = form.text(), let message = form.text() else { return nil }
      self = .deliveryFailed(delivery: delivery, error: error, message: message)
    case "SessionConnected":
      guard let configuration = form.text() else { return nil }
      self = .sessionConnected(configuration: configuration)
    case "SessionStateChanged":
      guard let state = form.text().flatMap({ SceneState(rawValue: $0.string) }) else { return nil }
      self = .sessionStateChanged(state)
    case "SessionDisconnected": self = .sessionDisconnected
    case "SessionDiscarded":
      guard let animation = form.text() else { return nil }
      self = .sessionDiscarded(animation: animation)
    case "SessionRefreshRequested": self = .sessionRefreshRequested
    default: return nil
    }
  }
}
