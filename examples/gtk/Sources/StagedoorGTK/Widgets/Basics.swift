internal import CGtk4
public import FoundationEssentials

/// Text that people read.
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

  /// Makes a label. One that wraps has as many lines as its text needs; any other ends with an ellipsis where it is too long.
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
/// add.click()
/// ```
public final class Button: Widget {
  /// What people read.
  public let title: String
  private var action: (@MainActor () -> Void)?

  /// Makes a button with a title.
  public init(_ title: String, action: @escaping @MainActor () -> Void) {
    self.title = title
    self.action = action
    super.init { gtk_button_new_with_label(title) }
    connect("clicked") { _ in action() }
  }

  /// Makes a button with an icon of the desktop's theme. The title is shown when the pointer rests on it.
  public init(icon: String, _ title: String, action: @escaping @MainActor () -> Void) {
    self.title = title
    self.action = action
    super.init { gtk_button_new_from_icon_name(icon) }
    help(title)
    connect("clicked") { _ in action() }
  }

  /// Does what a click does.
  public func click() { action?() }

  /// Whether it can be clicked.
  public var isEnabled = true {
    didSet {
      raw { gtk_widget_set_sensitive($0, isEnabled ? 1 : 0) }
      changed()
    }
  }

  override func handlersEnded() { action = nil }
  public override var lines: [String] { isEnabled ? ["[\(title)]"] : [] }
}

/// A button that is on or off.
///
/// ```swift
/// let edits = Toggle("Edit") { isOn in print(isOn) }
/// edits.isOn = true
/// ```
public final class Toggle: Widget {
  private let title: String
  private var action: (@MainActor (Bool) -> Void)?
  private var value: Bool

  /// Makes a toggle. `action` is called when its user turns it on or off.
  public init(_ title: String, isOn: Bool = false, action: @escaping @MainActor (Bool) -> Void) {
    self.title = title
    self.action = action
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

  /// Whether it is on.
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

  override func handlersEnded() { action = nil }
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
  /// What can be seen, in words.
  public var description: String { didSet { describe() } }

  private let room: (width: Double, height: Double)?

  /// Makes a picture, with what can be seen in words.
  ///
  /// - Parameter room: The room in whose middle it stands, no larger than that; `nil` for as large as its place is.
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

  /// The same in the middle of a room, and no larger than that. It takes the texture over.
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

/// One line of text that people edit.
///
/// ```swift
/// let name = TextField(placeholder: "Name").onChange { print($0) }
/// name.type("Tom")
/// ```
public final class TextField: Widget {
  private var value: String
  private var handler: (@MainActor (String) -> Void)?
  private let placeholder: String
  private var isFilling = false

  /// Makes a field.
  public init(_ text: String = "", placeholder: String = "") {
    value = text
    self.placeholder = placeholder
    super.init { gtk_entry_new() }
    opaque { gtk_editable_set_text($0, text) }
    raw { gtk_entry_set_placeholder_text(Self.entry($0), placeholder) }
    connect("changed") { [unowned self] _ in
      if !isFilling, let text = opaque({ String(cString: gtk_editable_get_text($0)) }) { typed(text) }
    }
  }

  /// The text. `onChange` hears only what the user changes.
  public var text: String {
    get { value }
    set {
      if newValue == value { return }
      value = newValue
      // GTK says first that the old text has gone, and then that the new one is there.
      isFilling = true
      opaque { gtk_editable_set_text($0, newValue) }
      isFilling = false
      changed()
    }
  }

  /// Calls `body` with the text whenever the user has changed it.
  @discardableResult
  public func onChange(_ body: @escaping @MainActor (String) -> Void) -> Self {
    handler = body
    return self
  }

  /// Does what typing this text does.
  public func type(_ text: String) {
    if text == value { return }
    self.text = text
    handler?(text)
  }

  private func typed(_ text: String) {
    if text == value { return }
    value = text
    changed()
    handler?(text)
  }

  private static func entry(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkEntry> {
    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkEntry.self)
  }

  override func handlersEnded() { handler = nil }
  public override var lines: [String] { ["_\(text.isEmpty ? placeholder : text)_"] }
}

/// Text of many lines that people edit.
///
/// ```swift
/// let body = TextArea("Dear Tom,").onChange { print($0) }
/// ```
public final class TextArea: Widget {
  private var value: String
  private var handler: (@MainActor (String) -> Void)?

  /// Makes an area.
  public init(_ text: String = "") {
    value = text
    super.init { gtk_text_view_new() }
    raw { view in
      let text = Self.view(view)
      gtk_text_view_set_wrap_mode(text, GTK_WRAP_WORD_CHAR)
      gtk_text_view_set_top_margin(text, 12)
      gtk_text_view_set_bottom_margin(text, 12)
      gtk_text_view_set_left_margin(text, 14)
      gtk_text_view_set_right_margin(text, 14)
    }
    fill()
    expand()
    if let buffer {
      connect("changed", of: OpaquePointer(buffer)) { [unowned self] _ in
        if !isFilling { typed(Self.text(of: buffer)) }
      }
    }
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

  /// Whether people can edit it.
  public var isEditable = true {
    didSet { raw { gtk_text_view_set_editable(Self.view($0), isEditable ? 1 : 0) } }
  }

  /// Calls `body` with the text whenever the user has changed it.
  @discardableResult
  public func onChange(_ body: @escaping @MainActor (String) -> Void) -> Self {
    handler = body
    return self
  }

  /// Does what typing this text in place of all that stands here does.
  public func type(_ text: String) {
    if text == value { return }
    self.text = text
    handler?(text)
  }

  private func typed(_ text: String) {
    if text == value { return }
    value = text
    changed()
    handler?(text)
  }

  /// GTK says first that the old text has gone, and then that the new one is there.
  private var isFilling = false

  private func fill() {
    guard let buffer else { return }
    isFilling = true
    gtk_text_buffer_set_text(buffer, value, -1)
    isFilling = false
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

  override func handlersEnded() { handler = nil }
  public override var lines: [String] { text.split(separator: "\n").map { "| \($0)" } }
}
