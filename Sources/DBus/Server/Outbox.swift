/// The announcements of a turn of the loop, and the messages that wait behind them.
///
/// Objects that come and go and properties that change are collected until the turn ends, and then announced once. A reply or signal that is sent
/// after a change must not overtake its announcement: a caller that has its answer must find the state that the answer describes. So while something
/// is collected, all other outgoing messages wait here, in order.
struct Outbox {
  /// The changes of one interface of one object since the turn's beginning.
  struct Fact {
    let path: ObjectPath
    let interface: InterfaceName
    /// It existed when the turn began.
    let wasThere: Bool
    /// It existed then, and was removed.
    var went = false
    /// It was exported, or exported again.
    var came = false
    var changed: [MemberName] = []
    /// The changed properties whose values are not announced.
    var invalidated: [MemberName] = []
  }

  private struct Place: Hashable {
    let path: ObjectPath
    let interface: InterfaceName
  }

  fileprivate var facts: [Fact] = []
  /// The index of each fact: thousands of objects may change in one turn.
  private var places: [Place: Int] = [:]
  fileprivate var waiting: [MessageBox] = []
  /// Whether announcements are being made, and getters are called for values: messages that the getters cause come after the waiting ones.
  fileprivate var isTelling = false

  var hasAnnouncements: Bool { isTelling || !facts.isEmpty || !waiting.isEmpty }

  fileprivate mutating func takeFacts() -> [Fact] {
    places = [:]
    return exchange(&facts, with: [])
  }

  mutating func hold(_ message: borrowing Message) { waiting.append(MessageBox(message)) }

  /// - Parameter wasThere: Whether the interface existed before this change.
  fileprivate mutating func note(
    _ path: ObjectPath, _ interface: InterfaceName, wasThere: Bool = true, _ change: (inout Fact) -> Void
  ) {
    let place = Place(path: path, interface: interface)
    if let index = places[place] { return change(&facts[index]) }
    places[place] = facts.count
    facts.append(Fact(path: path, interface: interface, wasThere: wasThere))
    change(&facts[facts.count - 1])
  }
}

// MARK: - Noting

extension Connection {
  /// - Parameter replaced: Those of the interfaces that took the place of others.
  func announceAdded(_ path: ObjectPath, _ interfaces: [InterfaceName], inPlaceOf replaced: [InterfaceName] = []) {
    guard objects.manager(above: path) != nil else { return }
    flushAtEndOfTurn()
    for interface in interfaces {
      outbox.note(path, interface, wasThere: replaced.contains(interface)) { fact in
        fact.came = true
        // The announcement of the interface carries its newest values.
        fact.changed = []
        fact.invalidated = []
      }
    }
  }

  func announceRemoved(_ path: ObjectPath, _ interfaces: [InterfaceName]) {
    let hasManager = objects.manager(above: path) != nil
    flushAtEndOfTurn()
    for interface in interfaces {
      outbox.note(path, interface) { fact in
        // Nobody has heard of an interface that was exported in this turn.
        fact.went = hasManager && fact.wasThere
        fact.came = false
        fact.changed = []
        fact.invalidated = []
      }
    }
  }

  func announceChanged(_ path: ObjectPath, _ interface: InterfaceName, _ property: MemberName, withValue: Bool) {
    guard let declared = objects.interfaces(at: path, for: nil)?.first(where: { $0.name == interface }),
      let entry = declared.properties[property], entry.emits == .true || entry.emits == .invalidates
    else { return }
    // A value that not every caller may read is not announced to everyone either.
    let showsValue = withValue && entry.emits == .true && entry.get != nil && declared.access == nil
    flushAtEndOfTurn()
    outbox.note(path, interface) { fact in
      if fact.came { return }
      if showsValue {
        if !fact.changed.contains(property) { fact.changed.append(property) }
      } else if !fact.invalidated.contains(property) {
        fact.invalidated.append(property)
      }
    }
  }

  private func flushAtEndOfTurn() {
    if !outbox.hasAnnouncements { flushLater() }
  }

  private func flushLater() {
    loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.flushAnnouncements() } }
  }
}

// MARK: - Telling

extension Connection {
  /// Announces removals, additions and changes, and then sends the waiting messages. The values are those of this moment.
  package func flushAnnouncements() {
    guard outbox.hasAnnouncements, !outbox.isTelling else { return }
    let facts = outbox.takeFacts()
    outbox.isTelling = true
    for (path, facts) in grouped(facts.filter(\.went)) { tellRemoved(path, facts.map(\.interface)) }
    for (path, facts) in grouped(facts.filter(\.came)) { tellAdded(path, facts.map(\.interface)) }
    for fact in facts where !fact.came && !(fact.changed.isEmpty && fact.invalidated.isEmpty) { tellChanged(fact) }
    outbox.isTelling = false
    for box in exchange(&outbox.waiting, with: []) { transmit(box.message) }
    // Changes that were noted while getters were called.
    if outbox.hasAnnouncements { flushLater() }
  }

  /// By path, in the order of the first fact about each.
  private func grouped(_ facts: [Outbox.Fact]) -> [(ObjectPath, [Outbox.Fact])] {
    var groups: [(ObjectPath, [Outbox.Fact])] = []
    var places: [ObjectPath: Int] = [:]
    for fact in facts {
      if let place = places[fact.path] {
        groups[place].1.append(fact)
      } else {
        places[fact.path] = groups.count
        groups.append((fact.path, [fact]))
      }
    }
    return groups
  }

  private func tellRemoved(_ path: ObjectPath, _ interfaces: [InterfaceName]) {
    guard let manager = objects.manager(above: path) else { return }
    tell { () throws(CodingError) in
      try .signal(
        from: manager, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", path, interfaces.map(\.rawValue))
    }
  }

  private func tellAdded(_ path: ObjectPath, _ names: [InterfaceName]) {
    guard let manager = objects.manager(above: path), let interfaces = objects.interfaces(at: path, for: nil) else {
      return
    }
    let access = PropertyAccess(path: path, call: nil)
    var description: [String: [String: Variant]] = [:]
    for interface in interfaces where names.contains(interface.name) {
      if interface.access != nil {
        description[interface.name.rawValue] = [:]
      } else if let shown = try? interface.readableProperties(for: access) {
        // If no property can be read, the object has gone meanwhile.
        description[interface.name.rawValue] = shown
      }
    }
    if description.isEmpty { return }
    tell { () throws(CodingError) in
      try .signal(from: manager, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", path, description)
    }
  }

  private func tellChanged(_ fact: Outbox.Fact) {
    guard let interface = objects.interfaces(at: fact.path, for: nil)?.first(where: { $0.name == fact.interface })
    else { return }
    let access = PropertyAccess(path: fact.path, call: nil)
    var values: [String: Variant] = [:]
    var invalidated = fact.invalidated.map(\.rawValue)
    // A value that one place of the turn withholds is withheld everywhere.
    for property in fact.changed where !fact.invalidated.contains(property) {
      if let value = try? interface.properties[property]?.get?(access) {
        values[property.rawValue] = value
      } else {
        invalidated.append(property.rawValue)
      }
    }
    tell { () throws(CodingError) in
      try .signal(
        from: fact.path, "org.freedesktop.DBus.Properties", "PropertiesChanged", fact.interface.rawValue, values,
        invalidated)
    }
  }

  /// A value that does not fit into a message is not announced; a caller that reads it gets the error.
  private func tell(_ make: () throws(CodingError) -> Message) {
    if let message = try? make() { transmit(message) }
  }
}

extension Interface {
  /// Every property that can be read now. A property whose getter throws is left out; if all getters throw, the first error is thrown.
  func readableProperties(for access: PropertyAccess) throws -> [String: Variant] {
    var values: [String: Variant] = [:]
    var refusal: (any Error)?
    for (name, entry) in properties {
      do {
        if let value = try entry.get?(access) { values[name.rawValue] = value }
      } catch {
        refusal = refusal ?? error
      }
    }
    if values.isEmpty, let refusal { throw refusal }
    return values
  }

  /// Whether the check of the whole interface admits a caller.
  func admits(_ call: Call) -> Bool {
    do {
      try access?(call)
      return true
    } catch {
      return false
    }
  }
}
