package import DBus
package import SceneModel

/// The reply for a delivery: session, outcome, delivery.
package typealias DeliveryReply = Reply<ObjectPath, String, String>
/// (session, outcome, delivery)
package typealias DeliveryResult = Structure<ObjectPath, String, String>
/// (delivery, state, application, session)
package typealias DeliveryRow = Structure<String, String, String, ObjectPath>
/// (path, application, configuration, state, target content identifier, title, last activated)
package typealias SessionRow = Structure<ObjectPath, String, String, String, String, String, UInt64>
/// (sequence, name, arguments)
package typealias EventRow = Structure<UInt64, String, String>
/// (identifier, path, name, whether its host is attached)
package typealias ApplicationRow = Structure<String, ObjectPath, String, Bool>
/// (identifier, name)
package typealias HandlerRow = Structure<String, String>
/// (type, identifier)
package typealias PreferenceRow = Structure<String, String>
/// Name, file, line, and how often it has matched.
package typealias RuleRow = Structure<String, String, UInt32, UInt64>
/// (role, name, activity types)
package typealias ConfigurationRow = Structure<String, String, [String]>

/// The calls to the objects of the service. Their bodies have been read and the types of the values checked. The implementation identifies the caller
/// and decides what the caller may do.
///
/// A call that changes something is answered through its reply, once the change is stored; other calls at once. A thrown error is an answer too.
///
/// The receiver of a descriptor owns it. A payload names its descriptors by their index in `descriptors`.
package protocol InterchangeCalls: Actor {
  /// The catalogue that tells which content types are the same; payloads in dictionaries are read with it.
  nonisolated var types: TypeCatalog { get }

  // The root
  func drop(_ activity: UserActivity, _ reply: DeliveryReply) throws
  func dropURIs(_ list: Text, _ type: Text, _ key: Text, _ reply: DeliveryReply) throws
  func dropText(_ text: Text, _ directory: Text, _ info: [Text: Text], _ reply: DeliveryReply) throws
  func dropData(
    _ type: Text, _ name: Text, _ activityType: Text, _ key: Text, _ data: OwnedFileDescriptor, _ reply: DeliveryReply
  ) throws
  func deliver(_ document: Text, _ reply: DeliveryReply) throws
  func deliverEach(_ document: Text, _ reply: Reply<[DeliveryResult]>) throws
  func deliverItems(_ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: DeliveryReply) throws
  func explain(_ document: Text, _ reply: Reply<String>) throws
  func delivery(_ identifier: Text, _ call: Call) throws -> (state: Text, decision: Text)
  func deliveries(in state: Text, after: Text, limit: UInt32, _ call: Call) throws -> [DeliveryRow]
  func cancelDelivery(_ identifier: Text, _ reply: Reply<>) throws
  func redirectDelivery(_ identifier: Text, to session: ObjectPath, _ reply: Reply<String>) throws
  func deferDelivery(_ identifier: Text, seconds: UInt32, _ reply: Reply<>) throws
  func finishDelivery(_ identifier: Text, _ error: Text, _ message: Text, _ reply: Reply<>) throws
  func openItem(
    _ delivery: Text, _ item: UInt32, _ type: Text, _ reply: Reply<OwnedFileDescriptor, Int64>
  ) throws
  func releaseDelivery(_ delivery: Text, _ reply: Reply<>) throws
  func renewPromises(_ token: Text, _ reply: Reply<>) throws
  func sessions(of application: Text, after: Text, limit: UInt32, _ call: Call) throws -> [SessionRow]
  func events(since sequence: UInt64, limit: UInt32, _ call: Call) throws -> [EventRow]
  func eventSequence() -> UInt64
  func oldestSequence() -> UInt64
  func register(_ manifest: Text, _ reply: Reply<ObjectPath>) throws
  func unregister(_ application: Text, _ reply: Reply<>) throws
  func applications(_ call: Call) -> [ApplicationRow]
  func handlers(of type: Text, _ call: Call) throws -> [HandlerRow]
  func setPreferredApplication(_ identifier: Text, for type: Text, _ reply: Reply<>) throws
  func preferredApplication(for type: Text, _ call: Call) throws -> Text
  func preferredApplications(_ call: Call) throws -> [PreferenceRow]
  func rules(_ call: Call) throws -> [RuleRow]
  func attachHost(
    of identifier: Text, connected: [ObjectPath], _ options: HostOptions, _ reply: Reply<ObjectPath, [ObjectPath]>
  ) throws
  func beginDrag(_ document: Text, _ reply: Reply<ObjectPath, String>) throws
  func beginDragItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: Reply<ObjectPath, String>
  ) throws
  func openDrag(_ ticket: Text, _ reply: Reply<ObjectPath>) throws

  // An application
  func manifest(_ access: PropertyAccess) throws -> (manifest: Manifest, file: Text, isAttached: Bool)
  func newSession(of configuration: Text, at path: ObjectPath, _ reply: DeliveryReply) throws
  func adoptSession(
    _ configuration: Text, _ activity: Text, _ title: Text, at path: ObjectPath, _ reply: Reply<ObjectPath>
  ) throws
  func postNotification(_ name: Text, _ userInfo: Text, at path: ObjectPath, _ reply: Reply<>) throws

  // A session
  func session(_ access: PropertyAccess) throws -> Session
  func setProperty(_ property: SessionProperty, to text: Text, _ access: PropertyAccess, _ reply: Reply<>) throws
  func activate(_ activity: Text, at path: ObjectPath, _ reply: Reply<String, String>) throws
  func refresh(at path: ObjectPath, _ reply: Reply<>) throws
  func destroy(_ animation: Text, at path: ObjectPath, _ reply: Reply<>) throws
  func setState(_ state: Text, at path: ObjectPath, _ reply: Reply<>) throws
  func disconnect(at path: ObjectPath, _ reply: Reply<>) throws
  func setSnapshot(
    _ type: Text, _ data: OwnedFileDescriptor, at path: ObjectPath, _ reply: Reply<>
  ) throws
  func openSnapshot(at path: ObjectPath, _ reply: Reply<String, OwnedFileDescriptor>) throws

  // A drag
  func drag(_ access: PropertyAccess) throws -> DragView
  func addItems(
    _ items: [Item], _ descriptors: [OwnedFileDescriptor], at path: ObjectPath, _ reply: Reply<>
  ) throws
  func cancelDrag(at path: ObjectPath, _ reply: Reply<>) throws
  func propose(_ session: ObjectPath, at path: ObjectPath, _ reply: Reply<String>) throws
  func dropOn(_ session: ObjectPath, _ operation: Text, at path: ObjectPath, _ reply: DeliveryReply) throws
}

// MARK: - Values and errors

/// On the bus a text is a string. Texts are compared by their bytes, so a dictionary keeps two keys that look the same.
extension Text: BasicBusValue {
  package static var signature: Signature { String.signature }

  package static func read(from reader: inout MessageReader) throws(CodingError) -> Text {
    Text(try String.read(from: &reader))
  }

  package func write(to writer: inout MessageWriter) throws(CodingError) { try string.write(to: &writer) }

  package init(_ variant: Variant) throws(CodingError) { self.init(try String(variant)) }

  package var variant: Variant { string.variant }
}

extension InterchangeError: NamedOnBus {
  package var errorReply: ErrorReply { ErrorReply(ErrorName(unchecked: errorName.string), message) }
}

/// A fault of a document in a call.
extension Fault: NamedOnBus {
  package var errorReply: ErrorReply { InterchangeError(payload: self).errorReply }
}
