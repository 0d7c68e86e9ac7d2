import Foundation
import StagedoorKit

/// A photo of the gallery.
struct Photo: Identifiable, Equatable {
  let id: String
  let title: String
  let file: URL

  static let openDetail = "org.stagedoor.examples.Gallery.openDetail"
  static let openInspector = "org.stagedoor.examples.Gallery.openInspector"
  static let identifierKey = "photoID"
  static let titleKey = "photoTitle"

  var data: Data? { try? Data(contentsOf: file) }
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
@MainActor final class Photos {
  private(set) var all: [Photo]
  /// Called after each change.
  var onUpdate: @MainActor () -> Void = {}
  private let folder: URL

  /// Loads the photos of the program, and those in a folder.
  init(in folder: URL) throws {
    self.folder = folder
    let titles = ["Beach", "Mountains", "Forest", "City", "Desert", "Lake", "Palm", "Meadow", "Hut"]
    all = titles.enumerated().compactMap { index, title in
      Bundle.module.url(forResource: "photo-\(index + 1)", withExtension: "jpg", subdirectory: "Photos").map {
        Photo(id: "photo-\(index + 1)", title: title, file: $0)
      }
    }
    let added = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    all += added.sorted { $0.path < $1.path }.map(Self.photo)
  }

  func photo(_ id: String?) -> Photo? { all.first { $0.id == id } }

  /// Adds a picture in a file with a new name. A picture that the folder has already is not added again.
  func add(_ picture: Data, named name: String, as suffix: String) throws -> Photo {
    if let photo = all.first(where: { $0.data == picture }) { return photo }
    let title = name.split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? "Picture"
    // Files can come and go without this program.
    let taken = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map(Self.photo)
    var number = 1
    while (all + taken).contains(where: { $0.id == "\(title)-\(number)" }) { number += 1 }
    let file = folder.appending(path: "\(title)-\(number).\(suffix)")
    try picture.write(to: file, options: .atomic)
    let photo = Self.photo(of: file)
    all.append(photo)
    onUpdate()
    return photo
  }

  private static func photo(of file: URL) -> Photo {
    let name = file.deletingPathExtension().lastPathComponent
    return Photo(id: name, title: name.split(separator: "-").dropLast().joined(separator: "-"), file: file)
  }
}
