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
