import DBus
import DBusTestSupport
import ExitTestSupport
import Glibc
import Testing

/// Where the binding looks for the buses. Each test has a process of its own: the environment belongs to the whole process.
@Suite(.ownThreads) struct BusAddressTests {
  @Test func `the environment says where the buses are`() async {
    await #expect(processExitsWith: .success) {
      setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/session", 1)
      setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/system", 1)
      expect(try BusAddress.session(), "unix:path=/session")
      expect(BusAddress.system(), "unix:path=/system")
      setenv("DBUS_STARTER_ADDRESS", "unix:path=/starter", 1)
      setenv("DBUS_STARTER_BUS_TYPE", "session", 1)
      expect(try BusAddress.starter(), "unix:path=/starter")
      unsetenv("DBUS_STARTER_ADDRESS")
      expect(try BusAddress.starter(), "unix:path=/session")
      setenv("DBUS_STARTER_BUS_TYPE", "system", 1)
      expect(try BusAddress.starter(), "unix:path=/system")
    }
  }

  @Test func `without a word from the environment, the usual places are taken`() async {
    await #expect(processExitsWith: .success) {
      for name in ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS"] { unsetenv(name) }
      unsetenv("DBUS_STARTER_BUS_TYPE")
      setenv("XDG_RUNTIME_DIR", "/nowhere", 1)
      expect(BusAddress.system(), "unix:path=/run/dbus/system_bus_socket")
      #expect(throws: ConnectionError.self) { try BusAddress.session() }
      #expect(throws: ConnectionError.self) { try BusAddress.starter() }
      // systemd puts the user's bus there.
      var template = Array("/tmp/bus address-XXXXXX".utf8CString)
      let folder = String(cString: mkdtemp(&template))
      close(open("\(folder)/bus", O_CREAT | O_WRONLY, 0o600))
      setenv("XDG_RUNTIME_DIR", folder, 1)
      let escaped = folder.split(separator: " ").joined(separator: "%20")
      expect(try BusAddress.session(), BusAddress("unix:path=\(escaped)/bus"))
      unlink("\(folder)/bus")
      rmdir(folder)
    }
  }

  @Test func `each name leads to the bus that it names`() async {
    await #expect(processExitsWith: .success) {
      try await withPrivateBus(.daemon) { bus in
        for name in ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS"] {
          setenv(name, bus.address.rawValue, 1)
        }
        let all = try await [Connection.session(), Connection.system(), Connection.starter()]
        for connection in all {
          #expect(await connection.uniqueName != nil)
          await connection.close()
        }
      }
    }
  }

  @Test func `what may not stand in an address is escaped`() {
    #expect(BusAddress.escaped("/tmp/a bus,1;é") == "/tmp/a%20bus%2c1%3b%c3%a9")
    #expect(BusAddress.escaped("-0Az_/.\\") == "-0Az_/.\\")
  }
}

/// A function outside the macro, which does not see that a thrown error is handled inside.
private func expect(_ actual: @autoclosure () throws -> BusAddress, _ expected: BusAddress) {
  let address = try? actual()
  #expect(address == expected)
}
