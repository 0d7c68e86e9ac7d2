internal import FoundationEssentials
internal import Glibc
internal import StagedoorKit

/// The items of a drag as files, for programs that know nothing of Stagedoor. Items that are no files, or files that nobody else may change, are
/// copied once. The copies are deleted a minute after the drag, by which time its receiver has read them, or with the program's last window.
@MainActor final class DragFiles {
  static let type = "text/uri-list"
  /// The folders of copies.
  private static var folders: Set<URL> = []

  private let items: [DragItem]
  private var folder: URL?
  private lazy var loading = Once { [self] in try await load() }
  private var isDragOver = false

  init(of items: [DragItem]) { self.items = items }

  func uris() async throws -> [String] { try await loading.value }

  private func load() async throws -> [String] {
    defer { if isDragOver { removeLater() } }
    var uris: [String] = []
    for item in items {
      guard let type = item.itemProvider.registeredTypes.first else { continue }
      let (file, isInPlace) = try await item.itemProvider.loadInPlace(as: type)
      uris.append(try (isInPlace ? file : keep(file, uris.count)).absoluteString)
    }
    return uris
  }

  /// Moves a copy into the folder of this drag.
  private func keep(_ copy: URL, _ index: Int) throws -> URL {
    let folder = self.folder ?? FileManager.default.temporaryDirectory.appending(path: "drag-\(UUID().uuidString)")
    self.folder = folder
    Self.folders.insert(folder)
    // Two items can have the same name.
    let place = folder.appending(path: "\(index)")
    try FileManager.default.createDirectory(
      at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = place.appending(path: copy.lastPathComponent)
    try FileManager.default.moveItem(at: copy, to: file)
    // The copy had a folder of its own, which is empty now.
    rmdir(copy.deletingLastPathComponent().path(percentEncoded: false))
    return file
  }

  func removeLater() {
    isDragOver = true
    guard let folder else { return }
    Timeout.run(after: 60_000) { Self.remove(folder) }
  }

  /// Deletes all copies, because the program is about to end.
  static func removeAll() { for folder in folders { remove(folder) } }

  private static func remove(_ folder: URL) {
    if folders.remove(folder) != nil { try? FileManager.default.removeItem(at: folder) }
  }
}
