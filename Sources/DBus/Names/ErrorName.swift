/// The name of an error, such as `org.freedesktop.DBus.Error.UnknownMethod`.
///
/// ```swift
/// let unknown: ErrorName = .unknownMethod
/// let own: ErrorName = "org.example.Error.NotInTheMood"
/// print(unknown, own)
/// ```
public struct ErrorName: ValidatedName {
  /// The name, in its spelling on the wire.
  public let rawValue: String

  /// Wraps a string that is known to be a valid error name.
  public init(unchecked rawValue: String) { self.rawValue = rawValue }

  /// "error name"
  public static var kind: String { "error name" }

  /// The fault of `text` as an error name.
  public static func fault(in text: String) -> String? {
    faultInDottedName(text, allowHyphen: false, allowLeadingDigit: false)
  }
}

extension ErrorName {
  /// A failure without a name of its own.
  public static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
  /// There was not enough memory.
  public static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
  /// Nobody owns the name, and nothing can start an owner.
  public static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
  /// The name has no owner.
  public static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
  /// No reply came in time.
  public static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
  /// The connection is gone.
  public static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
  /// A limit was reached.
  public static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
  /// The caller may not do that.
  public static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
  /// The arguments are not those of the method.
  public static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
  /// The object has no such method.
  public static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
  /// There is no object at that path.
  public static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
  /// The object does not have that interface.
  public static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
  /// The interface has no such property.
  public static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
  /// The property cannot be written.
  public static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
  /// The operation is not supported.
  public static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
  /// The message is not well formed, or not of the expected type.
  public static let inconsistentMessage: ErrorName = "org.freedesktop.DBus.Error.InconsistentMessage"
}
