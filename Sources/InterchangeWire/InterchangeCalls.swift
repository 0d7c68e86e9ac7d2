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
/// A call that changes something is answered through its reply, once the change is stored; other calls at once. A thrown error is an answer too. The
/// call of the reply has the path of the object that is called.
///
/// A method whose first parameter is the reply or the call then takes the values of the bus as they are, in their order.
///
/// The receiver of a descriptor owns it. A payload names its descriptors by their index in `descriptors`.
package protocol InterchangeCalls: Actor {
  /// The catalogue that tells which content types are the same; payloads in dictionaries are read with it.
  nonisolated var types: TypeCatalog { get }

  // The root
  func drop(_ activity: UserActivity, _ reply: DeliveryReply) throws
  func dropURIs(_ reply: DeliveryReply, _ list: Text, _ type: Text, _ key: Text) throws
  func dropText(_ reply: DeliveryReply, _ text: Text, _ directory: Text, _ info: [Text: Text]) throws
  func dropData(
    _ reply: DeliveryReply, _ type: Text, _ name: Text, _ activityType: Text, _ key: Text, _ data: OwnedFileDescriptor
  ) throws
  func deliver(_ reply: DeliveryReply, _ document: Text) throws
  func deliverEach(_ reply: Reply<[DeliveryResult]>, _ document: Text) throws
  func deliverItems(_ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: DeliveryReply) throws
  func explain(_ reply: Reply<String>, _ document: Text) throws
  func delivery(_ reply: Reply<Text, Text>, _ identifier: Text) throws
  func deliveries(_ call: Call, in state: Text, after: Text, limit: UInt32) throws -> [DeliveryRow]
  func cancelDelivery(_ reply: Reply<>, _ identifier: Text) throws
  func redirectDelivery(_ reply: Reply<String>, _ identifier: Text, to session: ObjectPath) throws
  func deferDelivery(_ reply: Reply<>, _ identifier: Text, seconds: UInt32) throws
  func finishDelivery(_ reply: Reply<>, _ identifier: Text, _ error: Text, _ message: Text) throws
  func openItem(_ reply: Reply<OwnedFileDescriptor, Int64>, _ delivery: Text, _ item: UInt32, _ type: Text) throws
  func releaseDelivery(_ reply: Reply<>, _ delivery: Text) throws
  func renewPromises(_ reply: Reply<>, _ token: Text) throws
  func sessions(_ call: Call, of application: Text, after: Text, limit: UInt32) throws -> [SessionRow]
  func events(_ call: Call, since sequence: UInt64, limit: UInt32) throws -> [EventRow]
  func eventSequence() -> UInt64
  func oldestSequence() -> UInt64
  func register(_ reply: Reply<ObjectPath>, _ manifest: Text) throws
  func unregister(_ reply: Reply<>, _ application: Text) throws
  func applications(_ call: Call) -> [ApplicationRow]
  func handlers(_ call: Call, of type: Text) throws -> [HandlerRow]
  func setPreferredApplication(_ reply: Reply<>, for type: Text, _ identifier: Text) throws
  func preferredApplication(_ call: Call, for type: Text) throws -> Text
  func preferredApplications(_ call: Call) throws -> [PreferenceRow]
  func rules(_ call: Call) throws -> [RuleRow]
  func attachHost(
    of identifier: Text, connected: [ObjectPath], _ options: HostOptions, _ reply: Reply<ObjectPath, [ObjectPath]>
  ) throws
  func beginDrag(_ reply: Reply<ObjectPath, String>, _ document: Text) throws
  func beginDragItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: Reply<ObjectPath, String>
  ) throws
  func openDrag(_ reply: Reply<ObjectPath>, _ ticket: Text) throws

  // An application
  func manifest(_ access: PropertyAccess) throws -> (manifest: Manifest, file: Text, isAttached: Bool)
  func newSession(_ reply: DeliveryReply, of configuration: Text) throws
  func adoptSession(_ reply: Reply<ObjectPath>, _ configuration: Text, _ activity: Text, _ title: Text) throws
  func postNotification(_ reply: Reply<>, _ name: Text, _ userInfo: Text) throws

  // A session
  func session(_ access: PropertyAccess) throws -> Session
  func setProperty(_ property: SessionProperty, to text: Text, _ access: PropertyAccess, _ reply: Reply<>) throws
  func activate(_ reply: Reply<String, String>, _ activity: Text) throws
  func refresh(_ reply: Reply<>) throws
  func destroy(_ reply: Reply<>, _ animation: Text) throws
  func setState(_ reply: Reply<>, _ state: Text) throws
  func disconnect(_ reply: Reply<>) throws
  func setSnapshot(_ reply: Reply<>, _ type: Text, _ data: OwnedFileDescriptor) throws
  func openSnapshot(_ reply: Reply<String, OwnedFileDescriptor>) throws

  // A drag
  func drag(_ access: PropertyAccess) throws -> DragView
  func addItems(_ items: [Item], _ descriptors: [OwnedFileDescriptor], _ reply: Reply<>) throws
  func cancelDrag(_ reply: Reply<>) throws
  func propose(_ reply: Reply<String>, _ session: ObjectPath) throws
  func dropOn(_ reply: DeliveryReply, _ session: ObjectPath, _ operation: Text) throws
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
