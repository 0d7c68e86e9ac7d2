package import DBus
package import SceneModel

/// The names of the service on the bus.
package enum InterchangeNames {
  package static let bus: BusName = "org.stagedoor.Interchange1"
  package static let root: ObjectPath = "/org/stagedoor/Interchange1"
  package static let applications: ObjectPath = "/org/stagedoor/Interchange1/application"
  package static let sessions: ObjectPath = "/org/stagedoor/Interchange1/session"
  package static let drags: ObjectPath = "/org/stagedoor/Interchange1/drag"

  package static let interchange: InterfaceName = "org.stagedoor.Interchange1"
  package static let application: InterfaceName = "org.stagedoor.Application1"
  package static let session: InterfaceName = "org.stagedoor.SceneSession1"
  package static let drag: InterfaceName = "org.stagedoor.DragSession1"
  package static let host: InterfaceName = "org.stagedoor.SceneHost1"
  package static let provider: InterfaceName = "org.stagedoor.ItemProvider1"

  package static func path(ofSession identifier: UniqueIdentifier) -> ObjectPath {
    ObjectPath(unchecked: SessionReference.path(of: identifier).string)
  }

  /// The session that a path names, whether or not it exists.
  package static func session(at path: ObjectPath) -> UniqueIdentifier? {
    SessionReference.identifier(Text(path.rawValue))
  }

  package static func path(ofDrag identifier: UniqueIdentifier) -> ObjectPath {
    ObjectPath(unchecked: identifier.path(after: dragPath).string)
  }

  /// The drag that a path names, whether or not it exists.
  package static func drag(at path: ObjectPath) -> UniqueIdentifier? {
    UniqueIdentifier(path: Text(path.rawValue), after: dragPath)
  }

  private static let dragPath: Text = "/org/stagedoor/Interchange1/drag/"

  package static func path(ofApplication identifier: Text) -> ObjectPath {
    applications.appending(label: identifier.string)
  }

  /// The path at which an application exports its host: the spelling of its name as a path.
  package static func path(ofHost application: Text) -> ObjectPath {
    let path = application.withBytes { name in
      String(unsafeUninitializedCapacity: name.count + 1) { buffer in
        buffer[0] = UInt8(ascii: "/")
        for place in name.indices {
          switch name[place] {
          case UInt8(ascii: "."): buffer[place + 1] = UInt8(ascii: "/")
          case UInt8(ascii: "-"): buffer[place + 1] = UInt8(ascii: "_")
          default: buffer[place + 1] = name[place]
          }
        }
        return name.count + 1
      }
    }
    return ObjectPath(unchecked: path)
  }

  package static func application(at path: ObjectPath) -> Text? {
    path.parent == applications ? path.label.map { Text($0) } : nil
  }
}
