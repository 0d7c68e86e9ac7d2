/// What a turn of the loop has to announce, and what has to wait behind it.
///
/// Property changes and new objects are collected until the turn ends and then told once. A reply or signal that is sent after them
/// may not overtake them: a caller that has its answer must find the world as the answer says. So while
/// something is collected, all else that goes out waits here, in order.
struct Outbox {
  struct Change {
    let path: ObjectPath
    let interface: InterfaceName
    var properties: [MemberName]
    var invalidated: [MemberName]
  }

  enum Waiting {
    case message(MessageBox)
    /// An object that was taken away in this turn and is there again: its coming is told behind its going.
    case addedAgain(ObjectPath)
  }

  fileprivate var added: [ObjectPath] = []
  fileprivate var changes: [Change] = []
  /// The objects whose going waits with the messages.
  fileprivate var removed: Set<ObjectPath> = []
  fileprivate var waiting: [Waiting] = []

  var hasAnnouncements: Bool { !added.isEmpty || !changes.isEmpty || !waiting.isEmpty }

  mutating func hold(_ message: borrowing Message) { waiting.append(.message(MessageBox(message))) }
}

extension Outbox {
  @discardableResult
  fileprivate mutating func forgetAddedAgain(_ path: ObjectPath) -> Bool {
    let count = waiting.count
    waiting.removeAll { item in
      if case .addedAgain(path) = item { true } else { false }
    }
    return waiting.count < count
  }
}

extension Connection {
  func announceAdded(_ path: ObjectPath) {
    guard objects.manager(above: path) != nil, !outbox.added.contains(path) else { return }
    flushAtEndOfTurn()
    if outbox.removed.contains(path) {
      outbox.forgetAddedAgain(path)
      outbox.waiting.append(.addedAgain(path))
    } else {
      outbox.added.append(path)
    }
  }

  func announceRemoved(_ path: ObjectPath, _ interfaces: [InterfaceName]) {
    outbox.changes.removeAll { $0.path == path && interfaces.contains($0.interface) }
    let remains = objects.interfaces(at: path)?.isEmpty == false
    if let index = outbox.added.firstIndex(of: path) {
      // It came and went within the turn: nobody has heard of it.
      if !remains { outbox.added.remove(at: index) }
      return
    }
    if outbox.forgetAddedAgain(path) {
      if remains { outbox.waiting.append(.addedAgain(path)) }
      return
    }
    guard let manager = objects.manager(above: path), !interfaces.isEmpty else { return }
    if let message = try? Message.signal(
      from: manager, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", path, interfaces.map(\.rawValue))
    {
      if outbox.hasAnnouncements { outbox.removed.insert(path) }
      post(message)
    }
  }

  func announceChanged(_ path: ObjectPath, _ interface: InterfaceName, _ property: MemberName, withValue: Bool) {
    let entry = objects.interfaces(at: path)?.first { $0.name == interface }?.properties[property]
    guard let entry, entry.emits == .true || entry.emits == .invalidates else { return }
    flushAtEndOfTurn()
    let index =
      outbox.changes.firstIndex { $0.path == path && $0.interface == interface }
      ?? {
        outbox.changes.append(.init(path: path, interface: interface, properties: [], invalidated: []))
        return outbox.changes.count - 1
      }()
    if withValue && entry.emits == .true && entry.get != nil {
      if !outbox.changes[index].properties.contains(property) { outbox.changes[index].properties.append(property) }
    } else {
      if !outbox.changes[index].invalidated.contains(property) { outbox.changes[index].invalidated.append(property) }
    }
  }

  private func flushAtEndOfTurn() {
    if outbox.hasAnnouncements { return }
    loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.flushAnnouncements() } }
  }

  /// New objects first, then changes, then what waited. The values are those of this moment.
  func flushAnnouncements() {
    guard outbox.hasAnnouncements else { return }
    let all = outbox
    outbox = Outbox()
    for path in all.added { sendInterfacesAdded(path) }
    // What a new object is announced with is its newest state already.
    for change in all.changes where !all.added.contains(change.path) && !all.removed.contains(change.path) {
      sendPropertiesChanged(change)
    }
    for item in all.waiting {
      switch item {
      case .message(let box): transmit(box.open())
      case .addedAgain(let path): sendInterfacesAdded(path)
      }
    }
  }

  private func sendInterfacesAdded(_ path: ObjectPath) {
    guard let manager = objects.manager(above: path), let interfaces = objects.interfaces(at: path) else { return }
    let access = PropertyAccess(path: path, call: nil)
    var description: [String: [String: Variant]] = [:]
    for interface in interfaces { description[interface.name.rawValue] = interface.readableProperties(for: access) }
    if let message = try? Message.signal(
      from: manager, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", path, description)
    {
      transmit(message)
    }
  }

  private func sendPropertiesChanged(_ change: Outbox.Change) {
    let interfaces = objects.interfaces(at: change.path) ?? []
    guard let interface = interfaces.first(where: { $0.name == change.interface }) else { return }
    let access = PropertyAccess(path: change.path, call: nil)
    var values: [String: Variant] = [:]
    var invalidated = change.invalidated.map(\.rawValue)
    // A value that is kept back in one place of the turn is kept back altogether.
    for property in change.properties where !change.invalidated.contains(property) {
      if let value = try? interface.properties[property]?.get?(access) {
        values[property.rawValue] = value
      } else {
        invalidated.append(property.rawValue)
      }
    }
    if let message = try? Message.signal(
      from: change.path, "org.freedesktop.DBus.Properties", "PropertiesChanged", change.interface.rawValue, values,
      invalidated)
    {
      transmit(message)
    }
  }
}

extension Interface {
  /// Every property that can be read now. One whose getter throws is left out.
  func readableProperties(for access: PropertyAccess) -> [String: Variant] {
    var values: [String: Variant] = [:]
    for (name, entry) in properties {
      if let value = try? entry.get?(access) { values[name.rawValue] = value }
    }
    return values
  }
}
