import FoundationEssentials
import Glibc
import ServiceSupport
import StagedoorKit

/// The items of a scene as files: files in their place, and all other items in a folder that only this user can read.
@MainActor final class ItemFiles {
  private var folder: URL?
  private var count = 0

  static func pathInPlace(_ item: ItemProvider) -> String? {
    item.registeredTypes.lazy.compactMap { item.pathOpenedInPlace(as: $0) }.first
  }

  /// Refuses files in their place whose names cannot be arguments here.
  static func refuseNotUTF8(_ items: [ItemProvider]) throws(Problem) {
    for path in items.compactMap(pathInPlace) where path.contains("\u{FFFD}") && access(path, F_OK) != 0 {
      throw .failed(
        "the name of \(path.printable) is not UTF-8, and a command here cannot open it; hand it in with --copy")
    }
  }

  /// Whether the item has content and is not a file in its place.
  static func needsFile(_ item: ItemProvider) -> Bool {
    !item.registeredTypes.isEmpty && pathInPlace(item) == nil
  }

  /// The paths of all items, with a new file for each that needs one.
  func paths(of items: [ItemProvider]) async throws -> [String] {
    var paths: [String] = []
    for item in items {
      if let path = ItemFiles.pathInPlace(item) {
        item.finishLoading()
        paths.append(path)
      } else if let type = item.registeredTypes.first {
        let loaded = try await item.loadFileRepresentation(as: type)
        // Each item has a folder of its own, because several may have the same name.
        let own = try place()
        try FileManager.default.moveItem(at: loaded.deletingLastPathComponent(), to: own)
        paths.append(own.appending(path: loaded.lastPathComponent).path)
      }
    }
    return paths
  }

  func remove() {
    if let folder { try? FileManager.default.removeItem(at: folder) }
    folder = nil
  }

  private func place() throws -> URL {
    let whole = try folder ?? ItemFiles.makeFolder()
    folder = whole
    count += 1
    return whole.appending(path: "\(count)")
  }

  private static func makeFolder() throws -> URL {
    let base = Environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/stagedoor.XXXXXX".utf8CString)
    if mkdtemp(&template) == nil { throw Problem.failed("\(base.printable): \(InputFile.reason)") }
    return URL(filePath: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}
