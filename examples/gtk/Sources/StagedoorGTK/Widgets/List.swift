internal import CGtk4

/// The common parts of lists and grids: items, each with a widget. In a list, one item can be selected.
///
/// Use ``List`` or ``Grid``.
///
/// ```swift
/// struct Cat: Identifiable, Equatable { let id: String }
///
/// let list: Items<Cat> = List { Label($0.id) }
/// list.items = [Cat(id: "Tom"), Cat(id: "Kitty")]
/// list.selection = "Tom"
/// ```
///
/// A row is made when its item is first shown, and again when the item changes. Every item has a widget, so lists are for some hundred items.
@MainActor public class Items<Item: Identifiable & Equatable>: Widget {
  private let row: @MainActor (Items, Item) throws -> Widget
  private var onSelect: (@MainActor (Items, Item.ID?) -> Void)?
  private var onOpen: (@MainActor (Items, Item) -> Void)?
  /// The items that have rows, in the order of the rows. A row that needs the window is made when there is a window.
  private var shown: [Item] = []
  private var selected: Item.ID?
  private var isChangedHere = false

  init(_ row: @escaping @MainActor (Items, Item) throws -> Widget, _ make: () -> UnsafeMutablePointer<GtkWidget>?) {
    self.row = row
    super.init(make)
  }

  /// The items. After a change, unchanged items keep their widgets.
  public var items: [Item] = [] {
    didSet {
      if items == oldValue { return }
      if let selected, !items.contains(where: { $0.id == selected }) { self.selected = nil }
      show()
    }
  }

  override func enteredWindow() {
    super.enteredWindow()
    if shown != items { show() }
  }

  private func show() {
    isChangedHere = true
    try? update()
    showSelection(of: index(of: selected))
    isChangedHere = false
    changed()
  }

  /// The selected item.
  public var selection: Item.ID? {
    get { selected }
    set {
      if newValue == selected { return }
      selected = newValue
      isChangedHere = true
      showSelection(of: index(of: newValue))
      isChangedHere = false
      changed()
    }
  }

  /// Scrolls to an item, and gives it the keyboard focus.
  public func reveal(_ item: Item.ID) {
    // A new item has its position only after GTK's layout.
    Timeout.run(after: 100) { [weak self] in
      guard let self, let index = index(of: item) else { return }
      children[index].raw { widget in
        guard let row = gtk_widget_get_parent(widget) else { return }
        gtk_widget_grab_focus(row)
        if let root = gtk_widget_get_root(row) { gtk_window_set_focus_visible(root.as(GtkWindow.self), 1) }
      }
    }
  }

  /// Calls `body` when the user selects another item.
  @discardableResult
  public func onSelect<each Window: WindowScene>(
    _ body: @escaping @MainActor (Item.ID?, repeat each Window) -> Void
  ) -> Self {
    onSelect = { items, item in try? body(item, repeat items.window(as: (each Window).self)) }
    return self
  }

  /// Calls `body` when the user clicks an item, or presses Return on it.
  @discardableResult
  public func onOpen<each Window: WindowScene>(
    _ body: @escaping @MainActor (Item, repeat each Window) -> Void
  ) -> Self {
    onOpen = { items, item in try? body(item, repeat items.window(as: (each Window).self)) }
    return self
  }

  private func index(of item: Item.ID?) -> Int? { shown.firstIndex { $0.id == item } }

  /// Makes the rows those of the items. An item that has moved keeps its widget, and a widget that is not shown any more ends.
  private func update() throws {
    var removed: [Item.ID: (item: Item, widget: Widget)] = [:]
    defer { for (_, widget) in removed.values { widget.end() } }
    for change in items.map(\.id).difference(from: shown.map(\.id)) {
      switch change {
      case .remove(let offset, let id, _):
        let widget = children[offset]
        removeRow(at: offset)
        remove(widget)
        removed[id] = (shown.remove(at: offset), widget)
      case .insert(let offset, let id, _):
        let old = removed[id]
        let (item, widget) = try old ?? (items[offset], row(self, items[offset]))
        removed[id] = nil
        add(widget, at: offset)
        insert(widget, at: offset)
        shown.insert(item, at: offset)
      }
    }
    for index in items.indices where shown[index] != items[index] { try makeRow(at: index) }
  }

  private func makeRow(at index: Int) throws {
    let (widget, old) = (try row(self, items[index]), children[index])
    replaceRow(at: index, with: widget)
    remove(old)
    if old !== widget { old.end() }
    add(widget, at: index)
    shown[index] = items[index]
  }

  /// Makes the widgets of all items again, after a change of other data that they show.
  public func reload() { for index in shown.indices { try? makeRow(at: index) } }

  func wasSelected(at index: Int?) {
    let item = index.flatMap { shown.indices.contains($0) ? shown[$0].id : nil }
    if isChangedHere || item == selected { return }
    selected = item
    changed()
    onSelect?(self, item)
  }

  func wasOpened(at index: Int) { if shown.indices.contains(index) { onOpen?(self, shown[index]) } }

  override func handlersEnded() { (onSelect, onOpen) = (nil, nil) }

  // GTK's list and grid do these in different ways.
  func insert(_ widget: Widget, at index: Int) {}
  func removeRow(at index: Int) {}
  func replaceRow(at index: Int, with widget: Widget) {}
  func showSelection(of index: Int?) {}

  /// The text of the items; a star marks the selection.
  public override var lines: [String] {
    zip(shown, children).flatMap { item, widget in
      widget.lines.enumerated().map { number, line in
        "\(number > 0 ? " " : item.id == selected ? "*" : "-") \(line)"
      }
    }
  }
}

/// Items one below the other.
///
/// ```swift
/// struct Entry: Identifiable, Equatable { let id: Int, text: String }
///
/// let list = List<Entry> { Label($0.text) }.onSelect { print($0 ?? "nothing") }
/// list.items = [Entry(id: 1, text: "a fine day")]
/// ```
public final class List<Item: Identifiable & Equatable>: Items<Item> {
  /// Makes a list; `row` makes the widget of an item.
  public init<each Window: WindowScene>(row: @escaping @MainActor (Item, repeat each Window) -> Widget) {
    super.init({ list, item in try row(item, repeat list.window(as: (each Window).self)) }) { gtk_list_box_new() }
    connect("row-selected") { list, signal in
      list.wasSelected(at: signal.object(1).map { Int(gtk_list_box_row_get_index($0.as(GtkListBoxRow.self))) })
    }
    connect("row-activated") { list, signal in
      guard let row = signal.object(1) else { return }
      list.wasOpened(at: Int(gtk_list_box_row_get_index(row.as(GtkListBoxRow.self))))
    }
  }

  override func insert(_ widget: Widget, at index: Int) {
    opaque { list in widget.raw { gtk_list_box_insert(list, $0, Int32(index)) } }
  }

  override func removeRow(at index: Int) {
    opaque { list in
      guard let row = gtk_list_box_get_row_at_index(list, Int32(index)) else { return }
      gtk_list_box_row_set_child(row, nil)
      gtk_list_box_remove(list, OpaquePointer(row).as(GtkWidget.self))
    }
  }

  override func replaceRow(at index: Int, with widget: Widget) {
    opaque { list in
      guard let row = gtk_list_box_get_row_at_index(list, Int32(index)) else { return }
      gtk_list_box_row_set_child(row, widget.pointer)
    }
  }

  override func showSelection(of index: Int?) {
    opaque { list in
      let row = index.flatMap { gtk_list_box_get_row_at_index(list, Int32($0)) }
      // Selecting a row takes the focus.
      if row != gtk_list_box_get_selected_row(list) { gtk_list_box_select_row(list, row) }
    }
  }
}

/// Items side by side, in as many columns as fit. No item is selected.
///
/// ```swift
/// struct Photo: Identifiable, Equatable { let id: String }
///
/// let grid = Grid<Photo> { Label($0.id) }.onOpen { print($0.id) }
/// grid.items = [Photo(id: "1"), Photo(id: "2")]
/// ```
public final class Grid<Item: Identifiable & Equatable>: Items<Item> {
  /// Makes a grid; `cell` makes the widget of an item.
  public init<each Window: WindowScene>(
    spacing: Int = 12, cell: @escaping @MainActor (Item, repeat each Window) -> Widget
  ) {
    super.init({ grid, item in try cell(item, repeat grid.window(as: (each Window).self)) }) { gtk_flow_box_new() }
    opaque { grid in
      gtk_flow_box_set_homogeneous(grid, 1)
      gtk_flow_box_set_column_spacing(grid, UInt32(spacing))
      gtk_flow_box_set_row_spacing(grid, UInt32(spacing))
      gtk_flow_box_set_max_children_per_line(grid, 12)
      gtk_flow_box_set_activate_on_single_click(grid, 1)
      gtk_flow_box_set_selection_mode(grid, GTK_SELECTION_NONE)
    }
    align(vertically: .start)
    connect("child-activated") { grid, signal in
      guard let cell = signal.object(1) else { return }
      grid.wasOpened(at: Int(gtk_flow_box_child_get_index(cell.as(GtkFlowBoxChild.self))))
    }
  }

  override func insert(_ widget: Widget, at index: Int) {
    opaque { grid in widget.raw { gtk_flow_box_insert(grid, $0, Int32(index)) } }
  }

  override func removeRow(at index: Int) {
    opaque { grid in
      guard let cell = gtk_flow_box_get_child_at_index(grid, Int32(index)) else { return }
      gtk_flow_box_child_set_child(cell, nil)
      gtk_flow_box_remove(grid, OpaquePointer(cell).as(GtkWidget.self))
    }
  }

  override func replaceRow(at index: Int, with widget: Widget) {
    opaque { grid in
      guard let cell = gtk_flow_box_get_child_at_index(grid, Int32(index)) else { return }
      gtk_flow_box_child_set_child(cell, widget.pointer)
    }
  }
}
