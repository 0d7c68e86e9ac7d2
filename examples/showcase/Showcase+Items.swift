package import DBus

/// Objects that come and go, under an object manager that announces them.
extension Showcase {
  package static let itemsPath: ObjectPath = "/org/stagedoor/Showcase1/items"
  /// Anyone may create items, so their number is limited.
  static let maximumItems = 1000

  nonisolated func declareItemMethods(in interface: inout Interface) {
    interface.method("CreateItem", in: "label", out: "path", on: self) { (showcase, call, label: String) in
      try showcase.createItem(label, on: call.connection)
    }
    interface.method("RemoveItem", in: "path", on: self) { (showcase, call, path: ObjectPath) -> Void in
      try showcase.removeItem(path, on: call.connection)
    }
  }

  /// The interface of the item with this label. Each item has an interface value of its own, because each has its own label.
  package nonisolated func itemInterface(_ label: String) -> Interface {
    var interface = Interface("org.stagedoor.Showcase1.Item", documentation: "Something with a label.")
    interface.property("Label", stored: StoredProperty(label), writable: true)
    interface.method("Remove", on: self) { (showcase: isolated Showcase, call) -> Void in
      try showcase.removeItem(call.path, on: call.connection)
    }
    return interface
  }

  @discardableResult
  func createItem(_ label: String, on connection: Connection) throws -> ObjectPath {
    if label.isEmpty { throw ShowcaseError.labelIsEmpty }
    if items.count >= Self.maximumItems { throw ShowcaseError.tooManyItems(limit: Self.maximumItems) }
    itemsMade += 1
    let path = Self.itemsPath.appending(label: "item\(itemsMade)")
    items.insert(path)
    connection.export(itemInterface(label), at: path)
    return path
  }

  private func removeItem(_ path: ObjectPath, on connection: Connection) throws {
    guard items.remove(path) != nil else { throw ShowcaseError.noSuchItem(path) }
    connection.unexport(at: path)
  }
}
