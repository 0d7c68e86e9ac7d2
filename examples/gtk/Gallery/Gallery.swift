import Foundation
import StagedoorGTK
import StagedoorKit

/// Photos in any number of windows.
@MainActor final class Gallery: Application {
  static let identifier = "org.stagedoor.examples.Gallery"
  static let inspector = "Inspector Configuration"
  let photos: Photos

  init() throws {
    photos = try Photos(in: GtkStage.dataFolder(of: Self.identifier))
    super.init(Self.identifier)
    photos.onUpdate = { [weak self] in self?.post(.photosUpdated) }
  }

  override func didFinishLaunching(with options: LaunchOptions) { restoresWindows = true }

  override func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    options.userActivities.first?.activityType == Photo.openInspector ? SceneConfiguration(name: Self.inspector) : nil
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? {
    session.configuration.name == Self.inspector ? InspectorScene(photos) : GalleryScene(self)
  }

  /// Adds the pictures among some items, and returns the last.
  func take(_ items: [DragItem], _ progress: ItemProgress = ItemProgress()) async throws -> Photo? {
    var last: Photo?
    for item in items where item.itemProvider.hasItem(conformingTo: "image/*") {
      let provider = item.itemProvider
      guard let type = Photo.types.first(where: { provider.hasItem(conformingTo: $0.type) }) else {
        throw StagedoorError(.noSuchItem, "the gallery takes no \(provider.registeredTypes.joined(separator: ", "))")
      }
      let picture = try await provider.loadDataRepresentation(as: type.type, progress: progress)
      last = try await photos.add(picture, named: provider.suggestedName ?? "Picture", as: type.suffix)
    }
    return last
  }
}

/// All photos, or one of them.
@MainActor final class GalleryScene: WindowScene {
  private static let mainIdentifier = "main"
  private let gallery: Gallery
  private var photos: Photos { gallery.photos }
  private let grid = Grid<Photo> { $0.card }.onOpen { (photo, window: GalleryScene) in window.show(photo) }
  private lazy var overview = Scroll(grid.padding(16)).onDrop(of: ["image/*"]) { (drop, window: GalleryScene) in
    try await window.take(drop)
  }
  init(_ gallery: Gallery) { self.gallery = gallery }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (700, 540)
    content = overview
    scene.observe(.photosUpdated) { _ in self.grid.items = self.photos.all }
    grid.items = photos.all
    show(nil)
    if let activity = options.userActivities.first ?? session.stateRestorationActivity {
      self.scene(scene, continue: activity)
    }
    if !options.items.isEmpty { receive(options.items) }
  }

  override func scene(_ scene: Scene, continue activity: UserActivity) {
    let name = activity.userInfo[Photo.titleKey]?.string ?? activity.targetContentIdentifier ?? "without a name"
    let photo = photos.photo(activity.userInfo[Photo.identifierKey]?.string ?? activity.targetContentIdentifier)
    show(photo)
    if photo == nil { message = "There is no photo \(name) any more." }
  }

  override func scene(_ scene: Scene, receive items: [DragItem]) { receive(items) }

  private func receive(_ items: [DragItem]) {
    let progress = ItemProgress()
    task("Taking the picture", progress: progress) { [self] in
      if let photo = try await gallery.take(items, progress) { show(photo) }
    }
  }

  /// Takes pictures that somebody drops onto all photos.
  private func take(_ drop: Drop) async throws -> DropOperation {
    // The gallery has this photo already.
    if drop.source != nil { return .cancel }
    guard let photo = try await gallery.take(drop.items, drop.progress) else { return .cancel }
    grid.reveal(photo.id)
    return .copy
  }

  // MARK: Content

  /// Shows one photo, or all photos.
  private func show(_ photo: Photo?) {
    message = nil
    guard let photo else {
      content = overview
      (leadingItems, trailingItems) = ([], [])
      scene?.title = "Gallery"
      scene?.userActivity = nil
      scene?.activationConditions = .only(Self.mainIdentifier)
      return
    }
    content = Picture(.file(photo.file), photo.title).padding(16).onDrag { [photo.dragItem] }
    leadingItems = [Button(icon: "go-previous-symbolic", "All Photos") { (window: GalleryScene) in window.show(nil) }]
    trailingItems = [Button("Inspect") { (window: GalleryScene) in window.inspect(photo) }]
    scene?.title = photo.title
    scene?.userActivity = photo.detailActivity
    scene?.activationConditions = .only(photo.id)
  }

  /// Activates the open inspector of the photo, or opens a new one.
  fileprivate func inspect(_ photo: Photo) {
    let place = gallery.window(showing: photo.inspectorActivity)
    open(place == nil ? photo.inspectorActivity : nil, at: place ?? .edge, style: .prominent)
  }
}

extension Photo {
  /// The photo among all photos.
  @MainActor fileprivate var card: Widget {
    let picture = Picture(.file(file), title, within: (200, 150)).style("rounded")
    return Column(picture, Label(title, align: .center))
      .onDrag(icon: picture) { [dragItem] }
      .contextMenu { (window: GalleryScene) in
        [
          MenuItem("Inspect") { window.inspect(self) },
          MenuItem("Open in New Window") { window.open(detailActivity, at: .edge) },
        ]
      }
  }
}

/// The details of a photo.
@MainActor final class InspectorScene: WindowScene {
  private let photos: Photos
  init(_ photos: Photos) { self.photos = photos }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (320, 380)
    let activity = options.userActivities.first ?? session.stateRestorationActivity
    scene.title = "Inspector"
    scene.userActivity = activity
    content =
      photos.photo(activity?.targetContentIdentifier).map(details)
      ?? Label("This photo is not in the gallery.", align: .center).style("dim-label")
    if options.presentationStyle == .prominent { stands(above: options.requestingSession) }
  }

  private func details(_ photo: Photo) -> Widget {
    Column(
      spacing: 10, Picture(.file(photo.file), photo.title, within: (280, 210)).style("rounded"),
      Label(photo.title, align: .center).style("title-2"),
      Label("\(photo.type), \(photo.size) bytes", align: .center),
      Label(photo.file.lastPathComponent, align: .center).style("dim-label")
    ).padding(16)
  }
}

@main enum Main {
  static func main() { GtkStage.run { try Gallery() } }
}
