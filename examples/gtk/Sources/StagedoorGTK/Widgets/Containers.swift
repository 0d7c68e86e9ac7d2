internal import CGtk4

/// Widgets in a row. Use ``Column`` or ``Row``.
///
/// ```swift
/// let box: Stack = Row(Label("Tom"))
/// box.append(Label("asleep"))
/// box.removeAll()
/// ```
@MainActor open class Stack: Widget {
  init(_ orientation: GtkOrientation, _ spacing: Int, _ parts: [Widget]) {
    super.init { gtk_box_new(orientation, Int32(spacing)) }
    for part in parts { append(part) }
  }

  /// Adds a part at the end.
  public func append(_ part: Widget) {
    add(part)
    raw { box in part.raw { gtk_box_append(box.as(GtkBox.self), $0) } }
  }

  /// Removes a part.
  func take(_ part: Widget) {
    raw { box in part.raw { gtk_box_remove(box.as(GtkBox.self), $0) } }
    remove(part)
  }

  /// Removes all parts.
  public func removeAll() { for part in children { take(part) } }
}

/// Widgets one below the other.
///
/// ```swift
/// let form = Column(spacing: 6, Label("Name"), TextField(placeholder: "Tom"))
/// ```
@MainActor open class Column: Stack {
  /// Makes a column.
  public init(spacing: Int = 6, _ parts: Widget...) { super.init(GTK_ORIENTATION_VERTICAL, spacing, parts) }
}

/// Widgets side by side.
///
/// ```swift
/// let bar = Row(Button("Back") {}, Label("Tom").expand())
/// ```
@MainActor open class Row: Stack {
  /// Makes a row.
  public init(spacing: Int = 6, _ parts: Widget...) { super.init(GTK_ORIENTATION_HORIZONTAL, spacing, parts) }

  open override var lines: [String] {
    let columns = children.filter(\.isVisible).map { $0.lines.joined(separator: " / ") }.filter { !$0.isEmpty }
    return columns.isEmpty ? [] : [columns.joined(separator: "  ")]
  }
}

/// Two widgets with a border that people can move, such as a list and its selected item.
///
/// ```swift
/// let split = Split(Label("the list"), Label("the entry"), at: 240)
/// ```
public final class Split: Widget {
  /// Makes a split; `position` is the width of the first part.
  public init(_ first: Widget, _ second: Widget, at position: Int = 260) {
    super.init { gtk_paned_new(GTK_ORIENTATION_HORIZONTAL) }
    add(first)
    add(second)
    opaque { paned in
      first.raw { gtk_paned_set_start_child(paned, $0) }
      second.raw { gtk_paned_set_end_child(paned, $0) }
      gtk_paned_set_position(paned, Int32(position))
      gtk_paned_set_resize_start_child(paned, 0)
      gtk_paned_set_shrink_start_child(paned, 0)
      gtk_paned_set_shrink_end_child(paned, 0)
    }
  }
}

/// A widget that may be larger than its window.
///
/// ```swift
/// let page = Scroll(Label("a long text"))
/// ```
public final class Scroll: Widget {
  /// Makes a widget scroll.
  public init(_ part: Widget) {
    super.init { gtk_scrolled_window_new() }
    add(part)
    opaque { scroll in
      part.raw { gtk_scrolled_window_set_child(scroll, $0) }
      gtk_scrolled_window_set_policy(scroll, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
    }
    expand()
  }
}

/// A place for one widget, which can be replaced by another.
///
/// ```swift
/// let place = Place(Label("nothing is selected"))
/// place.content = Label("Tom")
/// ```
public final class Place: Widget {
  /// The widget in the place.
  public var content: Widget {
    didSet {
      if content === oldValue { return }
      remove(oldValue)
      take()
    }
  }

  /// Makes a place.
  public init(_ content: Widget) {
    self.content = content
    super.init { gtk_frame_new(nil) }
    style("stage-place")
    take()
  }

  private func take() {
    add(content)
    raw { frame in content.raw { gtk_frame_set_child(frame.as(GtkFrame.self), $0) } }
  }
}
