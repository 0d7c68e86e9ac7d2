internal import Glibc

/// The address of a bus, or of a listening peer.
///
/// ```swift
/// let address: BusAddress = "unix:path=/run/user/1000/bus"
/// print(address)
/// print((try? BusAddress.session()) ?? "no session bus here")
/// ```
public struct BusAddress: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The address, as D-Bus spells it. Several addresses with semicolons between them are tried in order.
  public let rawValue: String

  /// An address as it is written. It is checked when it is used.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// An address written in source.
  public init(stringLiteral rawValue: String) { self.rawValue = rawValue }

  /// The address itself.
  public var description: String { rawValue }

  /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, or the socket that systemd makes for a user.
  public static func session() throws(ConnectionError) -> BusAddress {
    if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return BusAddress(address) }
    if let directory = environment("XDG_RUNTIME_DIR"), access("\(directory)/bus", F_OK) == 0 {
      return BusAddress("unix:path=\(escaped("\(directory)/bus"))")
    }
    throw .noAddress("there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no bus")
  }

  /// The system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
  public static func system() -> BusAddress {
    BusAddress(environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket")
  }

  /// The bus that started this process: `DBUS_STARTER_ADDRESS`.
  public static func starter() throws(ConnectionError) -> BusAddress {
    if let address = environment("DBUS_STARTER_ADDRESS") { return BusAddress(address) }
    switch environment("DBUS_STARTER_BUS_TYPE") {
    case "session": return try session()
    case "system": return system()
    default: throw .noAddress("no bus started this process: DBUS_STARTER_ADDRESS is not set")
    }
  }

  /// A value in the spelling of an address: every byte except `[-0-9A-Za-z_/.\]` becomes `%` and two digits.
  ///
  /// ```swift
  /// print(BusAddress.escaped("/tmp/a bus"))  // /tmp/a%20bus
  /// ```
  public static func escaped(_ value: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var bytes: [UInt8] = []
    for byte in value.utf8 {
      if isNameByte(byte) || "-/.\\".utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
