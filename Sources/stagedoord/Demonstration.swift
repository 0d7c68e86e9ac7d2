import DBus
import Interchange
import InterchangeWire
import SceneModel
import ServiceSupport

/// `make run`: the service with a small application, lines to try, and each event as it happens.
enum Demonstration {
  static func run(_ arguments: Arguments) async throws -> Int32 { 0 }
}
