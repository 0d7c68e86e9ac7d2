import CGtk4
import Foundation
import StagedoorGTK
import StagedoorKit

/// A photo of the gallery.
struct Photo: Identifiable, Equatable {
  let id: String
  let title: String
  let file: URL
  /// The digest by which the content is recognised.
  let digest: String

  /// A photo by the name of its file: `Tom-0cc175b9c0f1b6a8.png`, and for one of the program's own `7-Palm-f791873bb73535fa.jpg`.
  init(in file: URL, isOwn: Bool = false) {
    self.file = file
    let name = file.deletingPathExtension().lastPathComponent
    var parts = name.split(separator: "-")
    digest = parts.popLast().map(String.init) ?? ""
    id = isOwn ? "photo-\(parts.removeFirst())" : name
    title = parts.joined(separator: "-")
  }

  static func digest(of content: Data) -> String {
    let sum = content.withUnsafeBytes {
      g_compute_checksum_for_data(
        G_CHECKSUM_SHA256, $0.assumingMemoryBound(to: UInt8.self).baseAddress, gsize($0.count))
    }
    defer { g_free(sum) }
    return sum.map { String(String(cString: $0).prefix(16)) } ?? ""
  }

  static let openDetail = "org.stagedoor.examples.Gallery.openDetail"
  static let openInspector = "org.stagedoor.examples.Gallery.openInspector"
  static let identifierKey = "photoID"
  static let titleKey = "photoTitle"

  var size: Int { (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0 }
  var type: String { Self.types.first { $0.suffix == file.pathExtension }?.type ?? "image/*" }

  /// The types that the gallery takes, the best first, with the endings of their file names.
  static let types: [(type: String, suffix: String)] = [
    ("image/png", "png"), ("image/jpeg", "jpg"), ("image/webp", "webp"), ("image/gif", "gif"),
    ("image/tiff", "tiff"), ("image/bmp", "bmp"), ("image/svg+xml", "svg"),
  ]

  /// The activity of the window that shows the photo.
  var detailActivity: UserActivity { activity(Self.openDetail) }
  /// The activity of the photo's inspector.
  var inspectorActivity: UserActivity { activity(Self.openInspector) }

  private func activity(_ type: String) -> UserActivity {
    UserActivity(
      type, targetContentIdentifier: id, title: title,
      userInfo: [Self.identifierKey: .string(id), Self.titleKey: .string(title)])
  }

  /// The photo as a dragged item: the activity of its window, and the photo itself.
  var dragItem: DragItem {
    var provider = ItemProvider(detailActivity)
    provider.suggestedName = "\(title).\(file.pathExtension)"
    provider.registerFile(file, as: type)
    var item = DragItem(itemProvider: provider)
    item.localObject = self
    return item
  }
}

extension SceneNotification.Name {
  static let photosUpdated: Self = "PhotosUpdated"
}

/// The one collection that all windows show: the photos of the program, and those that people dropped onto it.
///
/// The name of a photo's file ends with the digest of its content, so no photo is read to find out whether the gallery has a picture already.
@MainActor final class Photos {
  private(set) var all: [Photo]
  /// Called after each change.
  var onUpdate: @MainActor () -> Void = {}
  private let folder: URL

  /// Finds the photos of the program, and those in a folder.
  init(in folder: URL) throws {
    self.folder = folder
    let own = (Bundle.module.urls(forResourcesWithExtension: "jpg", subdirectory: "Photos") ?? []).map { $0 as URL }
    let added = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    all =
      own.sorted { $0.path < $1.path }.map { Photo(in: $0, isOwn: true) }
      + added.sorted { $0.path < $1.path }.map { Photo(in: $0) }
  }

  func photo(_ id: String?) -> Photo? { all.first { $0.id == id } }

  /// Adds a picture in a file of its own. A picture that the gallery has already is not added again.
  func add(_ picture: Data, named name: String, as suffix: String) async throws -> Photo {
    var title = name.split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? "Picture"
    // The name of a file has 255 bytes at most, of which the digest and the ending need some.
    while title.utf8.count > 200 { title.removeLast() }
    let folder = folder
    let known = Set(all.map(\.digest))
    let photo = try await GtkStage.onThread { [title] in
      let digest = Photo.digest(of: picture)
      let photo = Photo(in: folder.appending(path: "\(title)-\(digest).\(suffix)"))
      if !known.contains(digest) { try picture.write(to: photo.file, options: .atomic) }
      return photo
    }
    // The same picture may have come twice meanwhile.
    if let same = all.first(where: { $0.digest == photo.digest }) { return same }
    all.append(photo)
    onUpdate()
    return photo
  }
}
