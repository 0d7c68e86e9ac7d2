/// A drag in the form that one caller may see before the drop.
package struct DragView: Hashable, Sendable {
  /// The items as this caller may see them, without their contents.
  package var items: [Item]
  package var allowedOperations: [PayloadOptions.Operation]
  /// "dragging", "dropped", "cancelled" or "ended".
  package var state: Text
  /// How the drag ended: "copy", "move" or "cancel"; "" before.
  package var operation: Text

  package init(items: [Item], allowedOperations: [PayloadOptions.Operation], state: Text, operation: Text) {
    (self.items, self.allowedOperations, self.state, self.operation) = (items, allowedOperations, state, operation)
  }
}
