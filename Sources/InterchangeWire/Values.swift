package import DBus
package import SceneModel

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

// MARK: - Options

extension HostOptions {
  /// Other options are ignored, so that newer hosts work with older services.
  package init(_ options: [String: Variant]) throws(InterchangeError) {
    func option<Value: BusValue>(_ key: String) throws(InterchangeError) -> Value? {
      do throws(CodingError) {
        return try options[key].map { option throws(CodingError) in try Value(option) }
      } catch {
        throw InterchangeError(.invalidArgs, "options.\(key): \(error)")
      }
    }
    self.init()
    choosesConfiguration = try option("choosesConfiguration") ?? false
    isUnderstudy = try option("understudy") ?? false
    acceptsSandboxed = try option("acceptsSandboxed") ?? false
    path = try (option("path") as ObjectPath?).map { Text($0.rawValue) }
  }
}
