package import SceneModel

// Which sessions the state knows. A service begins with none, and reads from its store the sessions that a decision looks at. The
// decision itself says which those are: it asks the state at the place where it looks at sessions, and stops where the state does not
// know them.
//
// Knowledge stays true because every later change of a session goes through `update`, `apply`, `discard` and `revert`. What the state
// forgets it only has to learn again.

/// Sessions that a decision looks at, and that the state does not know.
package enum Need: Hashable, Sendable {
  /// This session, whichever application it belongs to.
  case session(UniqueIdentifier)
  /// Of an application, the sessions that show this key, and those with conditions of their own that may hold for the key.
  case sessions(of: Text, concernedWith: Text)
  case allSessions(of: Text)
}

/// Which sessions of one application the state knows.
struct Knowledge: Sendable {
  /// The state holds every session of the application.
  var isComplete = false
  /// The keys for which the state holds every session that is concerned.
  fileprivate var keys = Recent<Text>()

  mutating func learnKey(_ key: Text) { keys.insert(key, taking: key.count) }
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

  /// Merges the sessions that the store answered to a need. From then on the state knows them.
  ///
  /// A session that the state already holds stays as it is, and so does the absence of one that was discarded: both are newer than what
  /// the store answers.
  package mutating func learn(_ sessions: [Session], answering need: Need) {
    for session in sessions where slot(of: session.identifier) == nil && !absent.contains(session.identifier) {
      update(session)
    }
    switch need {
    case .session(let identifier): if slot(of: identifier) == nil { absent.insert(identifier, taking: 16) }
    case .sessions(of: let application, concernedWith: let key):
      applications[number(of: application)].knowledge.learnKey(key)
    case .allSessions(of: let application): noteComplete(application)
    }
  }

  /// The state holds every session of the application: each page of them was merged.
  package mutating func noteComplete(_ application: Text) {
    applications[number(of: application)].knowledge = Knowledge(isComplete: true)
  }

  /// Sessions of the application that were kept from the state may be in it from now on: what it does not hold it has to learn again.
  package mutating func forgetAbsent(of application: Text) {
    forgetKnowledge(of: number(of: application))
    absent = Recent()
  }

  /// Nothing is known for certain of the application's sessions any more, but of those that the state holds.
  mutating func forgetKnowledge(of application: Int) { applications[application].knowledge = Knowledge() }
}

/// A set that forgets its oldest elements before it grows too large. It keeps at least the last 2,048, or the last 256 KiB.
struct Recent<Element: Hashable & Sendable>: Sendable {
  private var newer: Set<Element> = []
  private var older: Set<Element> = []
  /// Bytes that the newer ones take.
  private var size = 0

  /// The newer and the older ones have as many each.
  private static var maximumCount: Int { 2_048 }
  private static var maximumSize: Int { 256 << 10 }

  var isEmpty: Bool { newer.isEmpty && older.isEmpty }

  func contains(_ element: Element) -> Bool { newer.contains(element) || older.contains(element) }

  /// - Parameter bytes: what the element takes.
  mutating func insert(_ element: Element, taking bytes: Int) {
    if newer.count == Self.maximumCount || size >= Self.maximumSize { (older, newer, size) = (newer, [], 0) }
    if newer.insert(element).inserted { size += bytes }
  }

  mutating func remove(_ element: Element) {
    newer.remove(element)
    older.remove(element)
  }
}
