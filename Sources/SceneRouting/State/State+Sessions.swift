package import SceneModel

extension State {
  package var sessionCount: Int { entries.count - freeSlots.count }

  func slot(of identifier: UniqueIdentifier) -> Int32? {
    slotTable.find(State.hash(identifier)) { entries[Int($0)].identifier == identifier }
  }

  package func application(of identifier: UniqueIdentifier) -> Text? {
    slot(of: identifier).map { applications[Int(entries[Int($0)].application)].identifier }
  }

  /// Whether the session exists.
  package func contains(_ identifier: UniqueIdentifier) -> Bool { slot(of: identifier) != nil }

  /// Adds a session, or updates an existing one.
  @discardableResult
  package mutating func update(_ session: Session) -> Undo {
    let number = number(of: session.application)
    let kind = RoutedApplication.Kind(role: session.role, configuration: session.configuration)
    var entry = SessionEntry(session, Int32(number), applications[number].number(of: kind))
    let unreadableBefore = unreadable[session.identifier]
    unreadable[session.identifier] = entry.takeConditions(of: session)
    entry.shareTexts(self)
    let (wasAbsent, wasKnown) = (absent.contains(session.identifier), knowledge(number))
    if wasAbsent { absent.remove(session.identifier) }
    return Undo(
      identifier: session.identifier, before: put(entry), unreadableBefore: unreadableBefore, wasAbsent: wasAbsent,
      wasKnown: wasKnown)
  }

  private func knowledge(_ application: Int) -> Bool { isComplete || applications[application].knowledge.isComplete }

  /// Removes a session that no longer exists.
  @discardableResult
  package mutating func discard(_ identifier: UniqueIdentifier) -> Undo {
    let wasAbsent = absent.contains(identifier)
    if !isComplete { absent.insert(identifier, taking: 16) }
    return remove(identifier, wasAbsent: wasAbsent)
  }

  private mutating func remove(_ identifier: UniqueIdentifier, wasAbsent: Bool) -> Undo {
    guard let slot = slot(of: identifier) else { return Undo(identifier: identifier, wasAbsent: wasAbsent) }
    let before = entries[Int(slot)]
    applications[Int(before.application)].index.remove(slot, entries)
    slotTable.remove(slot, State.hash(identifier)) { [entries] in State.hash(entries[Int($0)].identifier) }
    noteEmptied(Int(before.application))
    entries[Int(slot)].application = -1
    freeSlots.append(slot)
    return Undo(
      identifier: identifier, before: before, unreadableBefore: unreadable.removeValue(forKey: identifier),
      wasAbsent: wasAbsent)
  }

  /// Whether the state holds sessions of the application whose configuration its manifest does not have.
  package func holdsOrphans(of application: Text) -> Bool {
    self.application(application).map { applications[$0].index.hasOthers } ?? false
  }

  // MARK: Facts

  @discardableResult
  package mutating func apply(_ fact: Fact) -> Undo {
    switch fact {
    case .sessionMade(let session):
      var undo = update(session)
      // Its identifier is new, so no store has an older version.
      undo.wasAbsent = true
      return undo
    case .sessionActivated(let identifier, at: let now, showing: let shown):
      guard let slot = slot(of: identifier) else {
        return Undo(identifier: identifier, wasAbsent: absent.contains(identifier))
      }
      var entry = entries[Int(slot)]
      entry.lastActivated = now
      if let shown { entry.shareTexts(self, type: entry.show(shown)) }
      return Undo(
        identifier: identifier, before: exchange(slot, entry),
        unreadableBefore: unreadable.isEmpty ? nil : unreadable[identifier])
    }
  }

  /// The state of a session before a change, in case the store refuses the change.
  package struct Undo: Sendable {
    let identifier: UniqueIdentifier
    var before: SessionEntry?
    /// The reason why its stored predicate did not parse.
    var unreadableBefore: Text?
    /// Whether the state knew that the session did not exist.
    var wasAbsent = false
    /// Whether the state knew every session of the application, so that a session which it did not hold did not exist.
    var wasKnown = true
  }

  /// Restores the earlier state. Of several changes the last is undone first.
  package mutating func revert(_ undo: Undo) {
    if undo.wasAbsent { absent.insert(undo.identifier, taking: 16) } else { absent.remove(undo.identifier) }
    guard let before = undo.before else {
      guard let slot = slot(of: undo.identifier) else { return }
      let application = Int(entries[Int(slot)].application)
      _ = remove(undo.identifier, wasAbsent: undo.wasAbsent)
      // The store may have an older version of this session, and sessions that were learnt since then were merged beside the newer version.
      if !undo.wasAbsent, !undo.wasKnown { forgetKnowledge(of: application) }
      return
    }
    put(before)
    unreadable[undo.identifier] = undo.unreadableBefore
  }

  // MARK: Entries

  /// Returns the earlier entry.
  @discardableResult
  private mutating func put(_ entry: SessionEntry) -> SessionEntry? {
    var entry = entry
    resolveConfiguration(of: &entry)
    if let slot = slot(of: entry.identifier) { return exchange(slot, entry) }
    let slot: Int32
    if let freed = freeSlots.popLast() {
      slot = freed
      entries[Int(slot)] = entry
    } else {
      slot = Int32(entries.count)
      entries.append(entry)
    }
    slotTable.insert(slot, State.hash(entry.identifier)) { [entries] in State.hash(entries[Int($0)].identifier) }
    applications[Int(entry.application)].index.insert(slot, entries)
    return nil
  }

  /// Returns the earlier entry. The configuration of the new one has been looked up.
  private mutating func exchange(_ slot: Int32, _ entry: SessionEntry) -> SessionEntry {
    let before = entries[Int(slot)]
    applications[Int(before.application)].index.remove(slot, entries)
    entries[Int(slot)] = entry
    applications[Int(entry.application)].index.insert(slot, entries)
    return before
  }

  /// Looks up the session's configuration in the manifest, and the conditions that result.
  func resolveConfiguration(of entry: inout SessionEntry) {
    let number = Int(entry.application)
    entry.configuration = applications[number].configuration(of: entry.kind)
    if entry.flags.contains(.canIsOwn), entry.flags.contains(.prefersIsOwn) { return }
    let place = Int(entry.configuration)
    let conditions = place < 0 ? nil : applications[number].manifest?.configurations[place].conditions
    if !entry.flags.contains(.canIsOwn) {
      // By Apple's rule a window takes everything unless its conditions say otherwise.
      let unset: Condition? = applications[number].manifest?.routing == .uikit ? .always : nil
      entry.can = (conditions?.can?.condition ?? unset).map(Requirement.init)
    }
    if !entry.flags.contains(.prefersIsOwn) {
      entry.prefers = (conditions?.prefers?.condition).map(Requirement.init)
    }
  }

  static func hash(_ identifier: UniqueIdentifier) -> UInt64 {
    UInt64(bitPattern: Int64(identifier._rawHashValue(seed: 0)))
  }
}

extension SessionEntry {
  init(_ session: Session, _ application: Int32, _ kind: Int32) {
    identifier = session.identifier
    self.application = application
    self.kind = kind
    state = session.state
    flags = []
    if session.isConnected { flags.insert(.isConnected) }
    if session.hasBeenConnected { flags.insert(.hasBeenConnected) }
    if session.stateRestorationActivity != nil { flags.insert(.hasRestorationActivity) }
    created = session.created
    lastActivated = session.lastActivated
    (shownType, shownKey) = (session.shownActivity?.activityType ?? .empty, session.shownKey)
  }

  /// The effect of a decision that gives content to the session. Returns whether its type is another.
  fileprivate mutating func show(_ shown: Shown) -> Bool {
    // A scene that is not connected would show its restoration activity first.
    if !flags.contains(.isConnected), flags.contains(.hasRestorationActivity) { return false }
    let before = shownType
    switch shown {
    case .activity(let activity): (shownType, shownKey) = (activity.activityType, activity.key ?? .empty)
    case .content(let key): if shownType.isEmpty { shownKey = key }
    }
    if shownType == before { shownType = before }
    return shownType != before
  }

  /// Usually the key of its conditions is the key that it shows, and its type is a declared one: each text is then kept once.
  fileprivate mutating func shareTexts(_ state: State, type isOther: Bool = true) {
    if isOther { shownType = state.shared(shownType) }
    if case .equals(let key) = can {
      if case .equals(key) = prefers { prefers = can }
      if shownKey == key { shownKey = key }
    } else if case .equals(let key) = prefers, shownKey == key {
      shownKey = key
    }
  }

  /// Takes the conditions that the host set. Returns the reason if one does not parse.
  fileprivate mutating func takeConditions(of session: Session) -> Text? {
    do throws(PredicateError) {
      if !session.canActivatePredicate.isEmpty {
        can = Requirement(try Predicate(session.canActivatePredicate).condition)
        flags.insert(.canIsOwn)
      }
      if !session.prefersToActivatePredicate.isEmpty {
        prefers = Requirement(try Predicate(session.prefersToActivatePredicate).condition)
        flags.insert(.prefersIsOwn)
      }
      return nil
    } catch {
      flags.insert(.isUnreadable)
      return Text("\(error)")
    }
  }
}

extension State {
  /// Of the sessions of an application that have no scene and show a key, the first by step 9. The state must know the sessions that are concerned with
  /// the key.
  package func sessionWithoutScene(of identifier: Text, showing key: Text) -> UniqueIdentifier? {
    guard !key.isEmpty, let number = application(identifier) else { return nil }
    let all = ConfigurationSet(applications[number].index.ofConfiguration.indices)
    var best: Int32?
    applications[number].index.visit(key, hash: KeyTable.hash(key), of: all) { interest, found, _ in
      guard interest == .shown else { return true }
      let first = found.first { slot in
        entries[Int(slot)].shownKey == key && !entries[Int(slot)].flags.contains(.isConnected)
      }
      if let (slot, _) = first, best.map({ entries[Int(slot)].rank < entries[Int($0)].rank }) ?? true { best = slot }
      return true
    }
    return best.map { entries[Int($0)].identifier }
  }

  /// The state of a session's scene; `unattached` if it has none, `nil` if the session does not exist.
  package func sceneState(of identifier: UniqueIdentifier) -> SceneState? {
    slot(of: identifier).map { entries[Int($0)].state }
  }

  /// Whether the state holds this session with other values, or not at all.
  package func differs(from session: Session) -> Bool {
    guard let slot = slot(of: session.identifier) else { return true }
    let held = entries[Int(slot)]
    var told = SessionEntry(session, held.application, held.kind)
    _ = told.takeConditions(of: session)
    let kind = applications[Int(held.application)].kind(held.kind)
    return applications[Int(held.application)].identifier != session.application || kind.role != session.role
      || kind.configuration != session.configuration || held.rank != told.rank || held.flags != told.flags
      || held.shownType != told.shownType || held.shownKey != told.shownKey
  }
}
