import DBus
import Glibc
import ServiceSupport

/// The files by which a bus starts a program when somebody calls its name.
enum ActivationFile {
  static func name(of name: BusName) -> String { "dbus-1/services/\(name).service" }

  /// Those of the directories of data, the first one first.
  static func all(of name: BusName) -> [String] {
    Directories.data().map { "\($0)/\(self.name(of: name))" }.filter { access($0, R_OK) == 0 }
  }

  /// Why nobody answers, though this file is installed.
  static func sentence(ofUnknown file: String, of name: BusName, starting program: String) -> String {
    "nobody serves \(name), and the bus does not know \(file); perhaps it reads other data directories: "
      + "set XDG_DATA_HOME and XDG_DATA_DIRS for the bus too, or run \(program)"
  }
}
