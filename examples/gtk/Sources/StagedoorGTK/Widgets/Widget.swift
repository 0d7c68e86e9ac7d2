public import CGtk4
internal import CStage
public import StagedoorKit

/// A part of a window: a label, a list, a column of other parts.
///
/// A widget is made, changed and combined in Swift. Where there is a display, each has a widget of GTK; without one (see ``GtkStage``) it
/// is what it says in Swift, and the same code runs.
///
/// ```swift
/// let name = Label("Tom").style("title-1")
/// let card = Column(name, Button("Wake") { name.text = "Tom, awake" }).padding(12)
/// print(card.lines)  // ["Tom", "[Wake]"]
/// ```
///
/// GTK has more than this library names. Any of its widgets can be part of a window, and any property can be set:
///
/// ```swift
/// import CGtk4
///
/// let calendar = Widget { gtk_calendar_new() }
/// calendar.raw { gtk_widget_set_size_request($0, 300, -1) }
/// ```
@MainActor open class Widget {
  /// Owned by this object; `nil` without a display.
  let pointer: UnsafeMutablePointer<GtkWidget>?
  /// What it is part of.
  public private(set) weak var parent: Widget?
  /// Its parts.
  public private(set) var children: [Widget] = []
  /// The window that it is in, once it is in one.
  weak var window: WindowScene?
  var dragging: Dragging?
  var openMenu: UnsafeMutablePointer<GtkWidget>?
  private var isShown = true

  private let handlers = Handlers()

  /// Makes a widget of one of GTK's. `make` runs only where there is a display.
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

  /// What people read in it, line by line: what a program without a display prints.
  open var lines: [String] { children.filter(\.isVisible).flatMap(\.lines) }

  // MARK: The tree

  func add(_ child: Widget, at index: Int? = nil) {
    child.parent = self
    children.insert(child, at: index ?? children.count)
    changed()
  }

  /// It stays what it is: whoever keeps it may show it again.
  func remove(_ child: Widget) {
    children.removeAll { $0 === child }
    child.parent = nil
    changed()
  }

  /// The window that it is in.
  public var scene: Scene? { delegate?.scene }
  var delegate: WindowScene? { window ?? parent?.delegate }

  /// Tells the window that it has something else to say.
  public func changed() { parent?.changed() }

  /// Drops the handlers of the widget and of its parts, when their window has closed. What they keep may keep the widget.
  func end() {
    for child in children { child.end() }
    handlers.drop()
    dragging = nil
    closeMenu()
    handlersEnded()
  }

  /// For subclasses that keep closures: drop them.
  func handlersEnded() {}

  // MARK: Signals

  func connect(_ signal: String, _ body: @escaping @MainActor (Signal) -> Void) {
    guard let pointer else { return }
    connect(signal, of: OpaquePointer(pointer), body)
  }

  /// A signal of one of the widget's controllers, or of another object that it owns.
  func connect(_ signal: String, of object: OpaquePointer, _ body: @escaping @MainActor (Signal) -> Void) {
    handlers.connect(signal, of: object, body)
  }

  func add(controller: OpaquePointer) {
    guard let pointer else { return }
    // The widget takes the controller over.
    gtk_widget_add_controller(pointer, controller)
  }
}

/// Where something stands in more room than it needs.
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
  /// In all of it.
  case fill

  var gtk: GtkAlign {
    switch self {
    case .start: GTK_ALIGN_START
    case .center: GTK_ALIGN_CENTER
    case .end: GTK_ALIGN_END
    case .fill: GTK_ALIGN_FILL
    }
  }

  /// From 0 to 1, as labels have it.
  var fraction: Float { self == .center ? 0.5 : self == .end ? 1 : 0 }
}

// MARK: - For every widget

extension Widget {
  /// The style classes of GTK: `title-1`, `heading`, `dim-label`, `card`, `flat`, `suggested-action`, `destructive-action` and others.
  @discardableResult
  public func style(_ classes: String...) -> Self {
    raw { widget in for name in classes { gtk_widget_add_css_class(widget, name) } }
    return self
  }

  /// Gives it a style class, or takes it away.
  public func style(_ name: String, isOn: Bool) {
    raw { widget in
      if isOn { gtk_widget_add_css_class(widget, name) } else { gtk_widget_remove_css_class(widget, name) }
    }
  }

  /// Room around it.
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

  /// Takes what room there is.
  @discardableResult
  public func expand(horizontally: Bool = true, vertically: Bool = true) -> Self {
    raw { widget in
      gtk_widget_set_hexpand(widget, horizontally ? 1 : 0)
      gtk_widget_set_vexpand(widget, vertically ? 1 : 0)
    }
    return self
  }

  /// Takes at least this room; what is `nil` is left to the widget.
  @discardableResult
  public func size(width: Int? = nil, height: Int? = nil) -> Self {
    raw { gtk_widget_set_size_request($0, width.map { Int32($0) } ?? -1, height.map { Int32($0) } ?? -1) }
    return self
  }

  /// Where it stands in more room than it needs.
  @discardableResult
  public func align(horizontally: Alignment? = nil, vertically: Alignment? = nil) -> Self {
    raw { widget in
      if let horizontally { gtk_widget_set_halign(widget, horizontally.gtk) }
      if let vertically { gtk_widget_set_valign(widget, vertically.gtk) }
    }
    return self
  }

  /// What people read when the pointer rests on it, and what assistive programs read.
  @discardableResult
  public func help(_ text: String) -> Self {
    raw { gtk_widget_set_tooltip_text($0, text) }
    return self
  }

  /// Whether it can be seen.
  public var isVisible: Bool {
    get { isShown }
    set {
      isShown = newValue
      raw { gtk_widget_set_visible($0, newValue ? 1 : 0) }
      changed()
    }
  }

  /// Calls `body` when it is clicked, and not dragged.
  @discardableResult
  public func onTap(_ body: @escaping @MainActor () -> Void) -> Self {
    guard pointer != nil, let click = gtk_gesture_click_new() else { return self }
    connect("released", of: click) { signal in if signal.integer(1) == 1 { body() } }
    add(controller: click)
    return self
  }
}
