package import DBus
package import SceneModel

/// The signals of the service. Each begins with the application's identifier and ends with its number. An object, because each event looks one up.
package final class Signals: Sendable {
  let routed: SignalDeclaration<String, ObjectPath, String, String, String, String, String, UInt64>
  let handled: SignalDeclaration<String, ObjectPath, String, UInt64>
  let forwarded: SignalDeclaration<String, ObjectPath, String, UInt64>
  let deliveryFailed: SignalDeclaration<String, ObjectPath, String, String, String, UInt64>
  let unclaimed: SignalDeclaration<String, ObjectPath, String, UInt64>
  let sessionConnected: SignalDeclaration<String, ObjectPath, String, UInt64>
  let sessionStateChanged: SignalDeclaration<String, ObjectPath, String, UInt64>
  let sessionDisconnected: SignalDeclaration<String, ObjectPath, UInt64>
  let sessionDiscarded: SignalDeclaration<String, ObjectPath, String, String, UInt64>
  let sessionRefreshRequested: SignalDeclaration<String, ObjectPath, UInt64>

  package init(on interface: inout Interface) {
    let (text, path, number) = (String.self, ObjectPath.self, UInt64.self)
    routed = interface.signal(
      "Routed", "application", "session", "outcome", "configuration", "activity_type", "target_content_identifier",
      "delivery", "sequence", of: text, path, text, text, text, text, text, number)
    handled = interface.signal(
      "Handled", "application", "session", "delivery", "sequence", of: text, path, text, number)
    forwarded = interface.signal(
      "Forwarded", "application", "session", "delivery", "sequence", of: text, path, text, number)
    deliveryFailed = interface.signal(
      "DeliveryFailed", "application", "session", "delivery", "error", "message", "sequence", of: text, path, text,
      text, text, number)
    unclaimed = interface.signal(
      "Unclaimed", "application", "session", "delivery", "sequence", of: text, path, text, number)
    sessionConnected = interface.signal(
      "SessionConnected", "application", "session", "configuration", "sequence", of: text, path, text, number)
    sessionStateChanged = interface.signal(
      "SessionStateChanged", "application", "session", "state", "sequence", of: text, path, text, number)
    sessionDisconnected = interface.signal(
      "SessionDisconnected", "application", "session", "sequence", of: text, path, number)
    sessionDiscarded = interface.signal(
      "SessionDiscarded", "application", "session", "persistent_identifier", "animation", "sequence", of: text, path,
      text, text, number)
    sessionRefreshRequested = interface.signal(
      "SessionRefreshRequested", "application", "session", "sequence", of: text, path, number)
  }
}

extension Connection {
  /// Emits an event to everyone.
  package nonisolated func emit(_ event: Event, _ signals: Signals) throws(CodingError) {
    let root = InterchangeNames.root
    let application = event.application.string
    let session = InterchangeNames.path(ofSession: event.session)
    let sequence = event.sequence
    switch event.kind {
    case .routed(let outcome, let configuration, let type, let key, let delivery):
      try emit(
        signals.routed, from: root, application, session, outcome.string, configuration.string, type.string, key.string,
        "\(delivery)", sequence)
    case .handled(let delivery): try emit(signals.handled, from: root, application, session, "\(delivery)", sequence)
    case .forwarded(let delivery):
      try emit(signals.forwarded, from: root, application, session, "\(delivery)", sequence)
    case .deliveryFailed(let delivery, let error, let message):
      try emit(
        signals.deliveryFailed, from: root, application, session, "\(delivery)", error.string, message.string, sequence)
    case .unclaimed(let delivery):
      try emit(signals.unclaimed, from: root, application, session, "\(delivery)", sequence)
    case .sessionConnected(let configuration):
      try emit(signals.sessionConnected, from: root, application, session, configuration.string, sequence)
    case .sessionStateChanged(let state):
      try emit(signals.sessionStateChanged, from: root, application, session, state.rawValue, sequence)
    case .sessionDisconnected: try emit(signals.sessionDisconnected, from: root, application, session, sequence)
    case .sessionDiscarded(let animation):
      try emit(
        signals.sessionDiscarded, from: root, application, session, "\(event.session)", animation.string, sequence)
    case .sessionRefreshRequested: try emit(signals.sessionRefreshRequested, from: root, application, session, sequence)
    }
  }
}
