public import CGtk4
internal import CStage
public import StagedoorKit

/// A part of a window: a label, a list, a column of other parts.
///
/// A widget is made, changed and combined in Swift. With a display, each has a widget of GTK. Without one (see ``GtkStage``) it exists in
/// Swift only, and the same code runs.
///
/// ```swift
/// let name = Label("Tom").style("title-1")
/// let card = Column(name, Button("Wake") { name.text = "Tom, awake" }).padding(12)
/// print(card.lines)  // ["Tom", "[Wake]"]
/// ```
///
/// A closure of a widget gets the window that the widget is in, if the closure names the class of this window, so it need not capture the window:
///
/// ```swift
/// import StagedoorKit
///
/// final class NoteScene: WindowScene {
///   func rename(to title: String) { scene?.title = title }
/// }
///
/// let title = TextField().onChange { (text, window: NoteScene) in window.rename(to: text) }
/// let close = Button("Close") { (window: WindowScene) in window.close() }
/// let hello = Button("Hello") { print("this closure needs no window") }
/// ```
///
/// Such a closure is not called after its window has closed. A window drops all closures of its widgets when it closes.
///
/// GTK has more widgets than this library names. Any of them can be part of a window, and any property can be set:
///
/// ```swift
/// import CGtk4
///
/// let calendar = Widget { gtk_calendar_new() }
/// calendar.raw { gtk_widget_set_size_request($0, 300, -1) }
/// let name = Widget { gtk_entry_new() }
/// name.raw { gtk_entry_set_max_length($0.as(GtkEntry.self), 40) }
/// ```
@MainActor open class Widget: Connecting {
  /// GTK's widget, which this object owns; `nil` without a display.
  let pointer: UnsafeMutablePointer<GtkWidget>?
  /// The widget that contains this one.
  public private(set) weak var parent: Widget?
  /// The parts of this widget.
  public private(set) var children: [Widget] = []
  /// The window that contains the widget, once one does.
  weak var window: WindowScene?
  var dragging: Dragging?
  var openMenu: UnsafeMutablePointer<GtkWidget>?
  private var isShown = true

  fileprivate let handlers = Handlers()

  /// Makes a widget from one of GTK's. `make` runs only with a display.
  public init(_ make: () -> UnsafeMutablePointer<GtkWidget>?) {
    pointer = GtkStage.isHeadless ? nil : make()
    if let pointer { g_object_ref_sink(pointer) }
  }

  isolated deinit {
    end()
    if let pointer { g_object_unref(pointer) }
  }

  /// Calls `body` with GTK's widget; without a display it does nothing and returns `nil`.
  @discardableResult
  public func raw<Value>(_ body: (UnsafeMutablePointer<GtkWidget>) -> Value) -> Value? { pointer.map(body) }

  /// The same for the functions of GTK that take a pointer without a type.
  @discardableResult
  func opaque<Value>(_ body: (OpaquePointer) -> Value) -> Value? { pointer.map { body(OpaquePointer($0)) } }

  /// The text of the widget, line by line. A program without a display prints these lines.
  open var lines: [String] { children.filter(\.isVisible).flatMap(\.lines) }

  // MARK: The tree

  func add(_ child: Widget, at index: Int? = nil) {
    child.parent = self
    children.insert(child, at: index ?? children.count)
    if delegate != nil { child.enteredWindow() }
    changed()
  }

  /// The widget, or one that contains it, has become part of a window.
  func enteredWindow() { for child in children { child.enteredWindow() } }

  /// Removes a part. The part stays usable: its owner may show it again.
  func remove(_ child: Widget) {
    children.removeAll { $0 === child }
    child.parent = nil
    changed()
  }

  /// The scene of the window that contains the widget.
  public var scene: Scene? { delegate?.scene }
  var delegate: WindowScene? { window ?? parent?.delegate }

  /// The window that contains the widget, for a closure that names the class of this window.
  func window<Kind: WindowScene>(as kind: Kind.Type) throws -> Kind {
    guard let delegate else { throw NoWindow() }
    guard let window = delegate as? Kind else {
      preconditionFailure("a closure of a widget wants a \(kind), and the widget is in a \(type(of: delegate))")
    }
    return window
  }

  /// Tells the window that the text of the widget has changed.
  public func changed() { parent?.changed() }

  /// Drops the handlers of the widget and of its parts, when their window has closed. The handlers may keep the widget alive.
  func end() {
    for child in children { child.end() }
    handlers.drop()
    dragging = nil
    closeMenu()
    handlersEnded()
  }

  /// Subclasses drop their closures here.
  func handlersEnded() {}

  func add(controller: OpaquePointer) {
    guard let pointer else { return }
    // The widget takes over the controller.
    gtk_widget_add_controller(pointer, controller)
  }
}

/// Hands the handlers of a widget's signals the widget, in its own class.
@MainActor protocol Connecting: Widget {}

extension Connecting {
  /// Connects a signal of the widget, or of one of its controllers or other objects.
  func connect(
    _ signal: String, of object: OpaquePointer? = nil, _ body: @escaping @MainActor (Self, Signal) -> Void
  ) {
    guard let object = object ?? pointer.map({ OpaquePointer($0) }) else { return }
    handlers.connect(signal, of: object) { [weak self] signal in if let self { body(self, signal) } }
  }
}

/// The widget of a closure is in no window, or the window has closed.
struct NoWindow: Error {}

extension UnsafeMutablePointer<GtkWidget> {
  /// The same widget for the functions of its class, such as `GtkEntry`.
  public func `as`<Kind>(_ kind: Kind.Type) -> UnsafeMutablePointer<Kind> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: kind)
  }
}

extension OpaquePointer {
  /// The same object for the functions of its class.
  func `as`<Kind>(_ kind: Kind.Type) -> UnsafeMutablePointer<Kind> { UnsafeMutablePointer(self) }
}

/// The position of a widget in more space than it needs.
///
/// ```swift
/// let note = Label("in the middle", align: .center)
/// let button = Button("Below") {}.align(horizontally: .end)
/// ```
public enum Alignment: Sendable {
  /// At the beginning: left, where people read from left to right.
  case start
  /// In the middle.
  case center
  /// At the end.
  case end
  /// Over all of the space.
  case fill

  var gtk: GtkAlign {
    switch self {
    case .start: GTK_ALIGN_START
    case .center: GTK_ALIGN_CENTER
    case .end: GTK_ALIGN_END
    case .fill: GTK_ALIGN_FILL
    }
  }

  /// The position from 0 to 1, for labels.
  var fraction: Float { self == .center ? 0.5 : self == .end ? 1 : 0 }
}

// MARK: - Every widget

extension Widget {
  /// Adds style classes of GTK: `title-1`, `heading`, `dim-label`, `card`, `flat`, `suggested-action`, `destructive-action` and others.
  @discardableResult
  public func style(_ classes: String...) -> Self {
    raw { widget in for name in classes { gtk_widget_add_css_class(widget, name) } }
    return self
  }

  /// Adds or removes a style class.
  public func style(_ name: String, isOn: Bool) {
    raw { widget in
      if isOn { gtk_widget_add_css_class(widget, name) } else { gtk_widget_remove_css_class(widget, name) }
    }
  }

  /// Adds space around the widget.
  @discardableResult
  public func padding(_ width: Int) -> Self {
    let width = Int32(width)
    raw { widget in
      gtk_widget_set_margin_top(widget, width)
      gtk_widget_set_margin_bottom(widget, width)
      gtk_widget_set_margin_start(widget, width)
      gtk_widget_set_margin_end(widget, width)
    }
    return self
  }

  /// Lets the widget take all available space.
  @discardableResult
  public func expand(horizontally: Bool = true, vertically: Bool = true) -> Self {
    raw { widget in
      gtk_widget_set_hexpand(widget, horizontally ? 1 : 0)
      gtk_widget_set_vexpand(widget, vertically ? 1 : 0)
    }
    return self
  }

  /// Lets the widget take at least this space; for `nil` the widget decides.
  @discardableResult
  public func size(width: Int? = nil, height: Int? = nil) -> Self {
    raw { gtk_widget_set_size_request($0, width.map { Int32($0) } ?? -1, height.map { Int32($0) } ?? -1) }
    return self
  }

  /// Sets the position of the widget in more space than it needs.
  @discardableResult
  public func align(horizontally: Alignment? = nil, vertically: Alignment? = nil) -> Self {
    raw { widget in
      if let horizontally { gtk_widget_set_halign(widget, horizontally.gtk) }
      if let vertically { gtk_widget_set_valign(widget, vertically.gtk) }
    }
    return self
  }

  /// Sets the text that people read when the pointer rests on the widget, and that assistive programs read.
  @discardableResult
  public func help(_ text: String) -> Self {
    raw { gtk_widget_set_tooltip_text($0, text) }
    return self
  }

  /// Whether the widget is visible.
  public var isVisible: Bool {
    get { isShown }
    set {
      isShown = newValue
      raw { gtk_widget_set_visible($0, newValue ? 1 : 0) }
      changed()
    }
  }

  /// Gives the widget the keyboard focus; in a window that is not open yet, when the window opens.
  ///
  /// A window opens with the focus in its first text field or area that is empty, or else in its last one.
  public func focus() {
    delegate?.focusWhenOpen = self
    raw { gtk_widget_grab_focus($0) }
  }

  /// Calls `body` when the widget is clicked, and not dragged.
  @discardableResult
  public func onTap<each Window: WindowScene>(_ body: @escaping @MainActor (repeat each Window) -> Void) -> Self {
    guard pointer != nil, let click = gtk_gesture_click_new() else { return self }
    connect("released", of: click) { widget, signal in
      if signal.integer(1) == 1 { try? body(repeat widget.window(as: (each Window).self)) }
    }
    add(controller: click)
    return self
  }
}
