internal import CGtk4

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
/// let close = Button(icon: "window-close-symbolic", "Close") { (window: WindowScene) in window.close() }
/// ```
public final class Button: Widget {
  private let title: String

  /// Makes a button. With an icon of the desktop's theme, the title appears when the pointer rests on the button.
  public init<each Window: WindowScene>(
    icon: String? = nil, _ title: String, action: @escaping @MainActor (repeat each Window) -> Void
  ) {
    self.title = title
    super.init { icon.map { gtk_button_new_from_icon_name($0) } ?? gtk_button_new_with_label(title) }
    if icon != nil { help(title) }
    connect("clicked") { button, _ in try? action(repeat button.window(as: (each Window).self)) }
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
  public init<each Window: WindowScene>(
    _ title: String, isOn: Bool = false, action: @escaping @MainActor (Bool, repeat each Window) -> Void
  ) {
    self.title = title
    value = isOn
    super.init { gtk_check_button_new_with_label(title) }
    raw { gtk_check_button_set_active($0.as(GtkCheckButton.self), isOn ? 1 : 0) }
    connect("toggled") { toggle, _ in
      guard let isOn = toggle.raw({ gtk_check_button_get_active($0.as(GtkCheckButton.self)) != 0 }),
        isOn != toggle.value
      else { return }
      toggle.value = isOn
      toggle.changed()
      try? action(isOn, repeat toggle.window(as: (each Window).self))
    }
  }

  /// Whether the toggle is on.
  public var isOn: Bool {
    get { value }
    set {
      if newValue == value { return }
      value = newValue
      raw { gtk_check_button_set_active($0.as(GtkCheckButton.self), newValue ? 1 : 0) }
      changed()
    }
  }

  public override var lines: [String] { ["[\(isOn ? "x" : " ")] \(title)"] }
}

/// Text for people to edit. Use ``TextField`` or ``TextArea``.
///
/// ```swift
/// let input: TextInput = TextField(placeholder: "Name").onChange { print($0) }
/// input.text = "Tom"
/// ```
@MainActor public class TextInput: Widget {
  private var value: String
  private var handler: (@MainActor (TextInput, String) -> Void)?
  /// Whether this sets the text: GTK first reports the removal of the old text, and then the new text.
  private var isFilling = false

  init(_ text: String, _ make: () -> UnsafeMutablePointer<GtkWidget>?) {
    value = text
    super.init(make)
    fill()
  }

  /// The text. `onChange` reports the user's changes only.
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
  public func onChange<each Window: WindowScene>(
    _ body: @escaping @MainActor (String, repeat each Window) -> Void
  ) -> Self {
    handler = { input, text in try? body(text, repeat input.window(as: (each Window).self)) }
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
    handler?(self, text)
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
    raw { gtk_entry_set_placeholder_text($0.as(GtkEntry.self), placeholder) }
    connect("changed") { field, _ in field.shownTextChanged() }
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
      let text = view.as(GtkTextView.self)
      gtk_text_view_set_wrap_mode(text, GTK_WRAP_WORD_CHAR)
      gtk_text_view_set_top_margin(text, 12)
      gtk_text_view_set_bottom_margin(text, 12)
      gtk_text_view_set_left_margin(text, 14)
      gtk_text_view_set_right_margin(text, 14)
    }
    expand()
    if let buffer { connect("changed", of: OpaquePointer(buffer)) { area, _ in area.shownTextChanged() } }
  }

  override var shownText: String {
    get { buffer.map { Self.text(of: $0) } ?? super.shownText }
    set { if let buffer { gtk_text_buffer_set_text(buffer, newValue, -1) } }
  }

  private var buffer: UnsafeMutablePointer<GtkTextBuffer>? {
    pointer.flatMap { gtk_text_view_get_buffer($0.as(GtkTextView.self)) }
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

extension Widget {
  /// The first empty text field or area among the visible parts, or else the last one.
  var placeToType: TextInput? {
    let inputs = textInputs
    return inputs.first(where: \.text.isEmpty) ?? inputs.last
  }

  private var textInputs: [TextInput] {
    if !isVisible { return [] }
    return (self as? TextInput).map { [$0] } ?? children.flatMap(\.textInputs)
  }
}
