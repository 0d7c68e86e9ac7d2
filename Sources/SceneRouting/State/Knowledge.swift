package import SceneModel

// The sessions that the state knows. A service starts with none, and reads the sessions that a decision looks at from its store. The decision itself
// names these sessions: where it looks at sessions it asks the state, and stops if the state does not know them.
//
// The knowledge stays true because every later change of a session goes through `update`, `apply`, `discard` and `revert`. If the state forgets
// something, it only has to learn it again.

/// Sessions that a decision looks at, and that the state does not know.
package enum Need: Hashable, Sendable {
  /// This session, of any application.
  case session(UniqueIdentifier)
  /// The sessions of an application that show this key, and those with conditions of their own that may be true for the key.
  case sessions(of: Text, concernedWith: Text)
  case allSessions(of: Text)
}

/// The sessions of one application that the state knows.
struct Knowledge: Sendable {
  /// Whether the state holds every session of the application.
  var isComplete = false
  /// The keys for which the state holds every session concerned.
  fileprivate var keys = Recent<Text>()
}

extension State {
  /// Whether a decision may look at these sessions.
  package func knows(_ need: Need) -> Bool {
    if isComplete { return true }
    switch need {
    case .session(let identifier): return slot(of: identifier) != nil || absent.contains(identifier)
    case .sessions(of: let application, concernedWith: let key):
      guard let knowledge = knowledge(of: application) else { return false }
      return knowledge.isComplete || knowledge.keys.contains(key)
    case .allSessions(of: let application): return knowledge(of: application)?.isComplete ?? false
    }
  }

  /// Merges the sessions that the store has found for a need. From then on the state knows them.
  ///
  /// A session that the state already holds stays as it is, and so does the absence of a discarded one: both are newer than the store's answer.
  package mutating func learn(_ sessions: [Session], answering need: Need) {
    for session in sessions where slot(of: session.identifier) == nil && !absent.contains(session.identifier) {
      update(session)
    }
    switch need {
    case .session(let identifier): if slot(of: identifier) == nil { absent.insert(identifier, taking: 16) }
    case .sessions(of: let application, concernedWith: let key):
      applications[number(of: application)].knowledge.keys.insert(key, taking: key.count)
    case .allSessions(of: let application): noteComplete(application)
    }
  }

  /// Every page of the application's sessions was merged: the state holds all of them.
  package mutating func noteComplete(_ application: Text) {
    applications[number(of: application)].knowledge = Knowledge(isComplete: true)
  }

  /// Sessions of the application that were kept out of the state may enter it from now on: the state must learn again which sessions do not exist.
  package mutating func forgetAbsent(of application: Text) {
    forgetKnowledge(of: number(of: application))
    absent = Recent()
  }

  /// The state no longer knows which sessions of the application it lacks.
  mutating func forgetKnowledge(of application: Int) { applications[application].knowledge = Knowledge() }
}

/// A set that forgets its oldest elements before it grows too large. It keeps the last 2,048 or the last 256 KiB at least.
struct Recent<Element: Hashable & Sendable>: Sendable {
  private var newer: Set<Element> = []
  private var older: Set<Element> = []
  /// The bytes of the newer elements.
  private var size = 0

  /// The newer and the older elements each have at most this many.
  private static var maximumCount: Int { 2_048 }
  private static var maximumSize: Int { 256 << 10 }

  func contains(_ element: Element) -> Bool { newer.contains(element) || older.contains(element) }

  /// - Parameter bytes: The size of the element.
  mutating func insert(_ element: Element, taking bytes: Int) {
    if newer.count == Self.maximumCount || size >= Self.maximumSize { (older, newer, size) = (newer, [], 0) }
    if newer.insert(element).inserted { size += bytes }
  }

  mutating func remove(_ element: Element) {
    newer.remove(element)
    older.remove(element)
  }
}
