import DBus
import DBusTestSupport
import Glibc

enum Files {
  static func exist(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The folder of a bus's socket.
  static func folder(of address: BusAddress) -> String {
    let path = address.rawValue.split(separator: ",")[0].dropFirst("unix:path=".count)
    return String(path.dropLast("/bus".count))
  }
}

enum Processes {
  /// A zombie counts: nobody has waited for it.
  static func exist(_ identifier: Int32) -> Bool { kill(identifier, 0) == 0 }
}
