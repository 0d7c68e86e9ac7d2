internal import CGtk4

/// The common parts of lists and grids: items, each with a widget. One item can be selected.
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
@MainActor public class Items<Item: Identifiable & Equatable>: Widget {
  private let row: @MainActor (Item) -> Widget
  private var onSelect: (@MainActor (Item.ID?) -> Void)?
  private var onOpen: (@MainActor (Item) -> Void)?
  private var selected: Item.ID?
  private var isChangedHere = false

  init(_ row: @escaping @MainActor (Item) -> Widget, _ make: () -> UnsafeMutablePointer<GtkWidget>?) {
    self.row = row
    super.init(make)
  }

  /// The items. After a change, unchanged items keep their widgets.
  public var items: [Item] = [] {
    didSet {
      if items == oldValue { return }
      isChangedHere = true
      update(oldValue)
      if let selected, !items.contains(where: { $0.id == selected }) { self.selected = nil }
      showSelection(of: index(of: selected))
      isChangedHere = false
      changed()
    }
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
        guard let root = gtk_widget_get_root(row) else { return }
        gtk_window_set_focus_visible(UnsafeMutableRawPointer(root).assumingMemoryBound(to: GtkWindow.self), 1)
      }
    }
  }

  /// Calls `body` when the user selects another item.
  @discardableResult
  public func onSelect(_ body: @escaping @MainActor (Item.ID?) -> Void) -> Self {
    onSelect = body
    return self
  }

  /// Calls `body` when the user clicks an item, or presses Return on it.
  @discardableResult
  public func onOpen(_ body: @escaping @MainActor (Item) -> Void) -> Self {
    onOpen = body
    return self
  }

  private func index(of item: Item.ID?) -> Int? { items.firstIndex { $0.id == item } }

  private func update(_ old: [Item]) {
    var kept = old
    for change in items.map(\.id).difference(from: old.map(\.id)) {
      switch change {
      case .remove(let offset, _, _):
        kept.remove(at: offset)
        removeRow(at: offset)
        remove(children[offset])
      case .insert(let offset, let id, _):
        guard let item = items.first(where: { $0.id == id }) else { continue }
        let widget = row(item)
        add(widget, at: offset)
        insert(widget, at: offset)
        kept.insert(item, at: offset)
      }
    }
    for (index, item) in items.enumerated() where kept[index] != item { makeRow(at: index) }
  }

  private func makeRow(at index: Int) {
    let widget = row(items[index])
    replaceRow(at: index, with: widget)
    remove(children[index])
    add(widget, at: index)
  }

  /// Makes the widgets of all items again, after a change of other data that they show.
  public func reload() { for index in items.indices { makeRow(at: index) } }

  func wasSelected(at index: Int?) {
    let item = index.flatMap { items.indices.contains($0) ? items[$0].id : nil }
    if isChangedHere || item == selected { return }
    selected = item
    changed()
    onSelect?(item)
  }

  func wasOpened(at index: Int) { if items.indices.contains(index) { onOpen?(items[index]) } }

  override func handlersEnded() { (onSelect, onOpen) = (nil, nil) }

  // GTK's list and grid do these in different ways.
  func insert(_ widget: Widget, at index: Int) {}
  func removeRow(at index: Int) {}
  func replaceRow(at index: Int, with widget: Widget) {}
  func showSelection(of index: Int?) {}

  /// The text of the items; a star marks the selection.
  public override var lines: [String] {
    zip(items, children).flatMap { item, widget in
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
  public init(row: @escaping @MainActor (Item) -> Widget) {
    super.init(row) { gtk_list_box_new() }
    connect("row-selected") { [unowned self] signal in
      wasSelected(at: signal.object(1).map { Int(gtk_list_box_row_get_index(Self.row($0))) })
    }
    connect("row-activated") { [unowned self] signal in
      if let row = signal.object(1) { wasOpened(at: Int(gtk_list_box_row_get_index(Self.row(row)))) }
    }
  }

  override func insert(_ widget: Widget, at index: Int) {
    opaque { list in widget.raw { gtk_list_box_insert(list, $0, Int32(index)) } }
  }

  override func removeRow(at index: Int) {
    opaque { list in
      guard let row = gtk_list_box_get_row_at_index(list, Int32(index)) else { return }
      gtk_list_box_row_set_child(row, nil)
      gtk_list_box_remove(list, UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkWidget.self))
    }
  }

  override func replaceRow(at index: Int, with widget: Widget) {
    opaque { list in
      guard let row = gtk_list_box_get_row_at_index(list, Int32(index)) else { return }
      gtk_list_box_row_set_child(row, widget.raw { $0 } ?? nil)
    }
  }

  override func showSelection(of index: Int?) {
    opaque { list in
      let row = index.flatMap { gtk_list_box_get_row_at_index(list, Int32($0)) }
      // Selecting a row takes the focus.
      if row != gtk_list_box_get_selected_row(list) { gtk_list_box_select_row(list, row) }
    }
  }

  private static func row(_ row: OpaquePointer) -> UnsafeMutablePointer<GtkListBoxRow> {
    UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkListBoxRow.self)
  }
}

/// Items side by side, in as many columns as fit.
///
/// ```swift
/// struct Photo: Identifiable, Equatable { let id: String }
///
/// let grid = Grid<Photo> { Label($0.id) }.onOpen { print($0.id) }
/// grid.items = [Photo(id: "1"), Photo(id: "2")]
/// ```
public final class Grid<Item: Identifiable & Equatable>: Items<Item> {
  /// Makes a grid; `cell` makes the widget of an item. With `selects`, the item that was clicked last stays marked.
  public init(spacing: Int = 12, selects: Bool = false, cell: @escaping @MainActor (Item) -> Widget) {
    super.init(cell) { gtk_flow_box_new() }
    opaque { grid in
      gtk_flow_box_set_homogeneous(grid, 1)
      gtk_flow_box_set_column_spacing(grid, UInt32(spacing))
      gtk_flow_box_set_row_spacing(grid, UInt32(spacing))
      gtk_flow_box_set_max_children_per_line(grid, 12)
      gtk_flow_box_set_activate_on_single_click(grid, 1)
      gtk_flow_box_set_selection_mode(grid, selects ? GTK_SELECTION_SINGLE : GTK_SELECTION_NONE)
    }
    align(vertically: .start)
    connect("selected-children-changed") { [unowned self] _ in
      opaque { grid in
        let selected = gtk_flow_box_get_selected_children(grid)
        defer { g_list_free(selected) }
        wasSelected(
          at: (selected?.pointee.data).map { Int(gtk_flow_box_child_get_index(Self.cell(OpaquePointer($0)))) })
      }
    }
    connect("child-activated") { [unowned self] signal in
      if let cell = signal.object(1) { wasOpened(at: Int(gtk_flow_box_child_get_index(Self.cell(cell)))) }
    }
  }

  override func insert(_ widget: Widget, at index: Int) {
    opaque { grid in widget.raw { gtk_flow_box_insert(grid, $0, Int32(index)) } }
  }

  override func removeRow(at index: Int) {
    opaque { grid in
      guard let cell = gtk_flow_box_get_child_at_index(grid, Int32(index)) else { return }
      gtk_flow_box_child_set_child(cell, nil)
      gtk_flow_box_remove(grid, UnsafeMutableRawPointer(cell).assumingMemoryBound(to: GtkWidget.self))
    }
  }

  override func replaceRow(at index: Int, with widget: Widget) {
    opaque { grid in
      guard let cell = gtk_flow_box_get_child_at_index(grid, Int32(index)) else { return }
      gtk_flow_box_child_set_child(cell, widget.raw { $0 } ?? nil)
    }
  }

  override func showSelection(of index: Int?) {
    opaque { grid in
      // Selecting a cell takes the focus.
      let cell = index.flatMap { gtk_flow_box_get_child_at_index(grid, Int32($0)) }
      if let cell, gtk_flow_box_child_is_selected(cell) != 0 { return }
      gtk_flow_box_unselect_all(grid)
      if let cell { gtk_flow_box_select_child(grid, cell) }
    }
  }

  private static func cell(_ cell: OpaquePointer) -> UnsafeMutablePointer<GtkFlowBoxChild> {
    UnsafeMutableRawPointer(cell).assumingMemoryBound(to: GtkFlowBoxChild.self)
  }
}
