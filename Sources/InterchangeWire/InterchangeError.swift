package import DBus
package import SceneModel

extension InterchangeError: NamedOnBus {
  package var errorReply: ErrorReply { ErrorReply(ErrorName(unchecked: errorName.string), message) }
}
