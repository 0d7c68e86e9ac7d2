internal import CDBus

/// A signal of an interface, with the types of its arguments. ``Interface/signal(_:_:of:)`` returns it.
///
/// ```swift
/// var player = Interface("org.example.Player")
/// let trackChanged = player.signal("TrackChanged", "title", "seconds", of: String.self, UInt32.self)
///
/// let connection = try await Connection.session()
/// try connection.emit(trackChanged, from: "/org/example/Player", "Clair de lune", 312)
/// ```
public struct SignalDeclaration<each Argument: BusValue>: Sendable {
  /// The interface that the signal belongs to.
  public let interface: InterfaceName
  /// The signal's name.
  public let member: MemberName
  let signature: Signature

  /// The rule that subscribes to it.
  ///
  /// ```swift
  /// var player = Interface("org.example.Player")
  /// let stopped = player.signal("Stopped")
  /// print(stopped.rule(sender: "org.example.Player"))
  /// ```
  public func rule(sender: BusName? = nil, path: ObjectPath? = nil) -> MatchRule {
    MatchRule(sender: sender, path: path, interface: interface, member: member)
  }
}

extension Interface {
  /// Declares a signal: the names of its arguments, and then their types. It traps if the types form no signature together.
  @discardableResult
  public mutating func signal<each Argument: BusValue>(
    _ member: MemberName, _ names: String..., of types: repeat (each Argument).Type
  ) -> SignalDeclaration<repeat each Argument> {
    SignalDeclaration(interface: name, member: member, signature: addSignal(member, names, repeat each types))
  }
}

extension Connection {
  /// Emits a declared signal, to all subscribers or to `destination` alone.
  public nonisolated func emit<each Argument: BusValue>(
    _ signal: SignalDeclaration<repeat each Argument>, from path: ObjectPath, _ arguments: repeat each Argument,
    to destination: BusName? = nil
  ) throws(CodingError) {
    var draft = try Message.Draft(
      DBUS_MESSAGE_TYPE_SIGNAL, to: destination, about: path, signal.interface, signal.member, signal.signature)
    repeat try (each arguments).write(to: &draft.writer)
    if try draft.mustBeginAgain() { repeat try (each arguments).write(to: &draft.writer) }
    send(try draft.finish())
  }
}
