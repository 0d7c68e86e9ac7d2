public import DBus
internal import InterchangeWire
internal import SceneModel

/// The identifier of a session, which never changes: a UUID, and no secret.
///
/// ```swift
/// if let session = SessionIdentifier("6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41") { print(session.path) }
/// // /org/stagedoor/Interchange1/session/6f1c0a52_8a3e_4f0e_9c55_2b7d1e90aa41
/// ```
public struct SessionIdentifier: Sendable, Hashable, Comparable, LosslessStringConvertible {
  let model: UniqueIdentifier

  init(_ model: UniqueIdentifier) { self.model = model }

  /// Reads an identifier, or a session's path on the bus.
  public init?(_ text: String) {
    guard let model = SessionReference.identifier(Text(text)) else { return nil }
    self.model = model
  }

  /// The UUID, in lower case.
  public var description: String { model.description }

  /// The session's path on the bus.
  public var path: ObjectPath { InterchangeNames.path(ofSession: model) }

  /// Orders by the letters.
  public static func < (one: Self, other: Self) -> Bool { one.model < other.model }
}

/// The identifier of a delivery: a UUID, and no secret.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// if let delivery = DeliveryIdentifier(CommandLine.arguments[1]) { try await stagedoor.cancel(delivery) }
/// ```
public struct DeliveryIdentifier: Sendable, Hashable, LosslessStringConvertible {
  let model: UniqueIdentifier

  /// Reads an identifier.
  public init?(_ text: String) {
    guard let model = UniqueIdentifier(Text(text)) else { return nil }
    self.model = model
  }

  /// The UUID, in lower case.
  public var description: String { model.description }
}
