internal import CGtk4
public import FoundationEssentials

/// A picture: a PNG, a JPEG, or any other type that the desktop can read. Another thread reads it, so it appears a moment later.
///
/// ```swift
/// import FoundationEssentials
///
/// let picture = Picture(.file(URL(filePath: "/usr/share/pixmaps/cat.png")), "a cat")
/// picture.content = .data(try Data(contentsOf: URL(filePath: "/usr/share/pixmaps/dog.png")))
/// ```
public final class Picture: Widget {
  /// Where a picture comes from.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let cat = Picture.Content.file(URL(filePath: "/usr/share/pixmaps/cat.png"))
  /// ```
  public enum Content: Sendable, Equatable {
    /// A file.
    case file(URL)
    /// The bytes of a file.
    case data(Data)
  }

  /// The picture; `nil` for none.
  public var content: Content? { didSet { if content != oldValue { show() } } }
  /// A description of the picture in words.
  public var description: String { didSet { describe() } }

  private let room: (width: Double, height: Double)?
  private var reading: Task<Void, Never>?

  /// Makes a picture, with a description in words.
  ///
  /// - Parameter room: The space for the picture, which stays in its middle and is no larger; `nil` for the size of its place.
  public init(_ content: Content? = nil, _ description: String, within room: (width: Double, height: Double)? = nil) {
    self.content = content
    self.description = description
    self.room = room
    super.init { gtk_picture_new() }
    opaque { gtk_picture_set_can_shrink($0, room == nil ? 1 : 0) }
    if room != nil { align(horizontally: .center, vertically: .center) }
    raw { gtk_widget_set_overflow($0, GTK_OVERFLOW_HIDDEN) }
    show()
    describe()
  }

  isolated deinit { reading?.cancel() }

  private func show() {
    changed()
    if pointer == nil { return }
    reading?.cancel()
    reading = Task { @MainActor [weak self, content] in
      let texture = content == nil ? nil : try? await GtkStage.onThread { content.flatMap { Texture(of: $0) } }
      if !Task.isCancelled { self?.show(texture) }
    }
  }

  private func show(_ texture: Texture?) {
    opaque { picture in
      let paintable = texture.flatMap { texture in room.map { texture.fit($0) } ?? texture.pointer }
      gtk_picture_set_paintable(picture, paintable)
      if let paintable, paintable != texture?.pointer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
    }
  }

  private func describe() { opaque { gtk_picture_set_alternative_text($0, description) } }

  public override var lines: [String] { ["(\(description))"] }
}

/// The pixels of a picture.
private final class Texture: Sendable {
  // GDK never changes a texture, and counts its references atomically.
  nonisolated(unsafe) let pointer: OpaquePointer

  init?(of content: Picture.Content) {
    let texture: OpaquePointer?
    switch content {
    case .file(let file): texture = gdk_texture_new_from_filename(file.path(percentEncoded: false), nil)
    case .data(let data):
      let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, UInt(data.count)) }
      defer { g_bytes_unref(bytes) }
      texture = gdk_texture_new_from_bytes(bytes, nil)
    }
    guard let texture else { return nil }
    pointer = texture
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// The picture in the middle of the space, and no larger; the caller owns it.
  func fit(_ room: (width: Double, height: Double)) -> OpaquePointer? {
    let (width, height) = (Double(gdk_texture_get_width(pointer)), Double(gdk_texture_get_height(pointer)))
    let scale = min(1, room.width / max(width, 1), room.height / max(height, 1))
    guard let snapshot = gtk_snapshot_new() else { return nil }
    var corner = graphene_point_t(
      x: Float((room.width - width * scale) / 2), y: Float((room.height - height * scale) / 2))
    gtk_snapshot_translate(snapshot, &corner)
    gdk_paintable_snapshot(pointer, snapshot, width * scale, height * scale)
    var size = graphene_size_t(width: Float(room.width), height: Float(room.height))
    return gtk_snapshot_free_to_paintable(snapshot, &size)
  }
}
