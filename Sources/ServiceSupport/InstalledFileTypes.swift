package import DBus
import Glibc
package import SceneModel
package import TextRules

/// The types of files, by the desktop's shared MIME databases, or by a file's content if its name gives no type.
///
/// The databases are read at the first question: most services never get the name of a file.
package final class InstalledFileTypes: Sendable {
  private let names: Later<FileTypes>

  /// - Parameters:
  ///   - directories: the user's data directory, then those of the system.
  ///   - complain: called for each database that cannot be read.
  package init(in directories: [String], complaining complain: @escaping @Sendable (Fault) -> Void = { _ in }) {
    names = Later {
      FileTypes(directories.compactMap { TypeDatabase.read("\($0)/mime/globs2", complaining: complain) })
    }
  }

  /// The type of the file at a path; the type of any data if it cannot be read.
  package func type(ofFile path: [UInt8]) -> ContentType {
    let file = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    return type(ofFile: OwnedFileDescriptor(owning: file), at: path)
  }

  /// The type of an open file with a path; the type of any data if it cannot be read.
  package func type(ofFile file: OwnedFileDescriptor, at path: [UInt8]) -> ContentType {
    // The bytes of a name that are no text stand in none of the patterns.
    let name = path.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    if let type = name.flatMap({ type(ofName: $0) }) { return type }
    return FileTypes.type(ofBytes: beginning(of: file) ?? [0])
  }

  /// What the disk says of a path, for rules.
  package func answer(for path: Text) -> DiskAnswer {
    var status = stat()
    guard stat(path.string, &status) == 0 else { return .nothing }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return .directory
    case S_IFREG: return .file(type(ofFile: Array(path.string.utf8)))
    default: return .file(.anyData)
    }
  }

  /// Reads the databases now, so that no question waits for them.
  package func read() { _ = names.value }

  /// The type by the end of a name; `nil` if no database knows it.
  package func type(ofName name: String) -> ContentType? { names.value.type(ofName: Text(name)) }

  private func beginning(of file: OwnedFileDescriptor) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = file.withRawValue { pread($0, &bytes, bytes.count, 0) }
    return count < 0 ? nil : Array(bytes[..<count])
  }
}
