internal import CGtk4
public import FoundationEssentials

/// Text for people to read.
///
/// ```swift
/// let title = Label("Tom").style("title-1")
/// title.text = "Tom, asleep"
/// ```
public final class Label: Widget {
  /// The text.
  public var text: String {
    didSet {
      if text == oldValue { return }
      opaque { gtk_label_set_text($0, text) }
      changed()
    }
  }

  /// Makes a label. A label that wraps has as many lines as its text needs; in any other, an ellipsis ends a text that is too long.
  public init(_ text: String = "", wraps: Bool = false, align: Alignment = .start) {
    self.text = text
    super.init { gtk_label_new(text) }
    opaque { label in
      gtk_label_set_xalign(label, align.fraction)
      gtk_label_set_wrap(label, wraps ? 1 : 0)
      gtk_label_set_ellipsize(label, wraps ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END)
    }
  }

  public override var lines: [String] { text.isEmpty ? [] : text.split(separator: "\n").map(String.init) }
}

/// A button.
///
/// ```swift
/// let add = Button("Add") { print("clicked") }
/// let delete = Button(icon: "user-trash-symbolic", "Delete") { print("gone") }
/// ```
public final class Button: Widget {
  private let title: String

  /// Makes a button with a title.
  public init(_ title: String, action: @escaping @MainActor () -> Void) {
    self.title = title
    super.init { gtk_button_new_with_label(title) }
    connect("clicked") { _ in action() }
  }

  /// Makes a button with an icon of the desktop's theme. The title appears when the pointer rests on the button.
  public init(icon: String, _ title: String, action: @escaping @MainActor () -> Void) {
    self.title = title
    super.init { gtk_button_new_from_icon_name(icon) }
    help(title)
    connect("clicked") { _ in action() }
  }

  public override var lines: [String] { ["[\(title)]"] }
}

/// A button that is on or off.
///
/// ```swift
/// let edits = Toggle("Edit") { isOn in print(isOn) }
/// edits.isOn = true
/// ```
public final class Toggle: Widget {
  private let title: String
  private var value: Bool

  /// Makes a toggle. `action` is called when its user turns it on or off.
  public init(_ title: String, isOn: Bool = false, action: @escaping @MainActor (Bool) -> Void) {
    self.title = title
    value = isOn
    super.init { gtk_check_button_new_with_label(title) }
    raw { gtk_check_button_set_active(Self.check($0), isOn ? 1 : 0) }
    connect("toggled") { [unowned self] _ in
      guard let isOn = raw({ gtk_check_button_get_active(Self.check($0)) != 0 }), isOn != value else { return }
      value = isOn
      changed()
      action(isOn)
    }
  }

  /// Whether the toggle is on.
  public var isOn: Bool {
    get { value }
    set {
      if newValue == value { return }
      value = newValue
      raw { gtk_check_button_set_active(Self.check($0), newValue ? 1 : 0) }
      changed()
    }
  }

  private static func check(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkCheckButton> {
    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkCheckButton.self)
  }

  public override var lines: [String] { ["[\(isOn ? "x" : " ")] \(title)"] }
}

/// A picture: the bytes of a PNG, a JPEG, or any other type that the desktop can read.
///
/// ```swift
/// import FoundationEssentials
///
/// let picture = try Picture(Data(contentsOf: URL(filePath: "/usr/share/pixmaps/cat.png")), "a cat")
/// ```
public final class Picture: Widget {
  /// The bytes; `nil` for no picture.
  public var data: Data? { didSet { if data != oldValue { show() } } }
  /// A description of the picture in words.
  public var description: String { didSet { describe() } }

  private let room: (width: Double, height: Double)?

  /// Makes a picture, with a description in words.
  ///
  /// - Parameter room: The space for the picture, which stays in its middle and is no larger; `nil` for the size of its place.
  public init(_ data: Data? = nil, _ description: String, within room: (width: Double, height: Double)? = nil) {
    self.data = data
    self.description = description
    self.room = room
    super.init { gtk_picture_new() }
    opaque { gtk_picture_set_can_shrink($0, room == nil ? 1 : 0) }
    if room != nil { align(horizontally: .center, vertically: .center) }
    raw { gtk_widget_set_overflow($0, GTK_OVERFLOW_HIDDEN) }
    show()
    describe()
  }

  private func show() {
    opaque { picture in
      let paintable = data.flatMap { Self.texture(of: $0) }.flatMap { texture in
        room.map { Self.fit(texture, $0) } ?? texture
      }
      gtk_picture_set_paintable(picture, paintable)
      if let paintable { g_object_unref(UnsafeMutableRawPointer(paintable)) }
    }
    changed()
  }

  private func describe() { opaque { gtk_picture_set_alternative_text($0, description) } }

  /// The picture in the middle of the space, and no larger. This takes over the texture.
  private static func fit(_ texture: OpaquePointer, _ room: (width: Double, height: Double)) -> OpaquePointer? {
    let (width, height) = (Double(gdk_texture_get_width(texture)), Double(gdk_texture_get_height(texture)))
    let scale = min(1, room.width / max(width, 1), room.height / max(height, 1))
    defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
    guard let snapshot = gtk_snapshot_new() else { return nil }
    var corner = graphene_point_t(
      x: Float((room.width - width * scale) / 2), y: Float((room.height - height * scale) / 2))
    gtk_snapshot_translate(snapshot, &corner)
    gdk_paintable_snapshot(texture, snapshot, width * scale, height * scale)
    var size = graphene_size_t(width: Float(room.width), height: Float(room.height))
    return gtk_snapshot_free_to_paintable(snapshot, &size)
  }

  private static func texture(of data: Data) -> OpaquePointer? {
    let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, UInt(data.count)) }
    defer { g_bytes_unref(bytes) }
    return gdk_texture_new_from_bytes(bytes, nil)
  }

  public override var lines: [String] { ["(\(description))"] }
}

/// Text for people to edit. Use ``TextField`` or ``TextArea``.
///
/// ```swift
/// let input: TextInput = TextField(placeholder: "Name").onChange { print($0) }
/// input.text = "Tom"
/// ```
@MainActor public class TextInput: Widget {
  private var value: String
  private var handler: (@MainActor (String) -> Void)?
  /// Whether this sets the text: GTK first reports the removal of the old text, and then the new text.
  private var isFilling = false

  init(_ text: String, _ make: () -> UnsafeMutablePointer<GtkWidget>?) {
    value = text
    super.init(make)
    fill()
  }

  /// The text. `onChange` hears only what the user changes.
  public var text: String {
    get { value }
    set {
      if newValue == value { return }
      value = newValue
      fill()
      changed()
    }
  }

  /// Calls `body` with the text whenever the user has changed it.
  @discardableResult
  public func onChange(_ body: @escaping @MainActor (String) -> Void) -> Self {
    handler = body
    return self
  }

  private func fill() {
    isFilling = true
    shownText = value
    isFilling = false
  }

  func shownTextChanged() {
    let text = shownText
    if isFilling || text == value { return }
    value = text
    changed()
    handler?(text)
  }

  /// The text of GTK's widget.
  var shownText: String {
    get { value }
    set {}
  }

  override func handlersEnded() { handler = nil }
}

/// One line of text for people to edit.
///
/// ```swift
/// let name = TextField(placeholder: "Name").onChange { print($0) }
/// ```
public final class TextField: TextInput {
  private let placeholder: String

  /// Makes a field.
  public init(_ text: String = "", placeholder: String = "") {
    self.placeholder = placeholder
    super.init(text) { gtk_entry_new() }
    raw { entry in
      gtk_entry_set_placeholder_text(
        UnsafeMutableRawPointer(entry).assumingMemoryBound(to: GtkEntry.self), placeholder)
    }
    connect("changed") { [unowned self] _ in shownTextChanged() }
  }

  override var shownText: String {
    get { opaque { String(cString: gtk_editable_get_text($0)) } ?? super.shownText }
    set { opaque { gtk_editable_set_text($0, newValue) } }
  }

  public override var lines: [String] { ["_\(text.isEmpty ? placeholder : text)_"] }
}

/// Text with many lines for people to edit.
///
/// ```swift
/// let body = TextArea("Dear Tom,").onChange { print($0) }
/// ```
public final class TextArea: TextInput {
  /// Makes an area.
  public init(_ text: String = "") {
    super.init(text) { gtk_text_view_new() }
    raw { view in
      let text = Self.view(view)
      gtk_text_view_set_wrap_mode(text, GTK_WRAP_WORD_CHAR)
      gtk_text_view_set_top_margin(text, 12)
      gtk_text_view_set_bottom_margin(text, 12)
      gtk_text_view_set_left_margin(text, 14)
      gtk_text_view_set_right_margin(text, 14)
    }
    expand()
    if let buffer { connect("changed", of: OpaquePointer(buffer)) { [unowned self] _ in shownTextChanged() } }
  }

  override var shownText: String {
    get { buffer.map { Self.text(of: $0) } ?? super.shownText }
    set { if let buffer { gtk_text_buffer_set_text(buffer, newValue, -1) } }
  }

  private var buffer: UnsafeMutablePointer<GtkTextBuffer>? { raw { gtk_text_view_get_buffer(Self.view($0)) } ?? nil }

  private static func view(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkTextView> {
    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkTextView.self)
  }

  private static func text(of buffer: UnsafeMutablePointer<GtkTextBuffer>) -> String {
    var (start, end) = (GtkTextIter(), GtkTextIter())
    gtk_text_buffer_get_bounds(buffer, &start, &end)
    guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 0) else { return "" }
    defer { g_free(text) }
    return String(cString: text)
  }

  public override var lines: [String] { text.split(separator: "\n").map { "| \($0)" } }
}
