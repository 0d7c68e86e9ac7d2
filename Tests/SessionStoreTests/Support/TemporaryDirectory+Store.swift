import Glibc
import StoreTestSupport

extension TemporaryDirectory {
  /// A copy of what a process that is killed now leaves, in a directory of its own.
  func copy(walLength: Int? = nil) -> TemporaryDirectory {
    let copy = TemporaryDirectory()
    for name in names where name != "lock" {
      var bytes = bytes(of: name)
      if name == "stagedoor.db-wal", let walLength { bytes = Array(bytes.prefix(walLength)) }
      copy.write(bytes, to: name)
    }
    return copy
  }

  /// The names of the files in which this text stands.
  func files(with text: String) -> [String] { names.filter { bytes(of: $0).contains(Array(text.utf8)) } }

  /// The identity of a file, whatever its name.
  func inode(of name: String) -> UInt {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? UInt(status.st_ino) : 0
  }
}
