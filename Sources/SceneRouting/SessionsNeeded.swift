package import SceneModel

/// The sessions that a decision may look at. With these it is what it is with all that there are.
package enum SessionsNeeded: Hashable, Sendable {
  /// This one, whichever application's it is.
  case named(UniqueIdentifier)
  /// Those that may be concerned with the key: that show it, or have conditions of their own which may hold for it. And the requesting session,
  /// by which the application is said to be chosen.
  case concerned(application: Text, key: Text, requesting: UniqueIdentifier?)
  /// All of these applications.
  case all(Set<Text>)
}

extension State {
  /// Which sessions have to be known before this is decided. It depends on manifests, and on no session.
  package func sessionsNeeded(for request: Request) -> SessionsNeeded {
    if let named = request.payload.options.session {
      return SessionReference.identifier(named).map { .named($0) } ?? .all([])
    }
    var decider = Decider(request, self, Instant(microseconds: 0), 0)
    return decider.concerned(self) ?? .all(applications(concernedBy: request.payload))
  }

  /// The applications whose sessions a decision about a payload may look at, where its options name no session.
  private func applications(concernedBy payload: Payload) -> Set<Text> {
    var found: Set<Text> = []
    _ = everyApplication(concernedBy: payload) { application in
      found.insert(application)
      return true
    }
    return found
  }

  /// Whether all of them are so. One may be asked about several times.
  package func everyApplication(concernedBy payload: Payload, is so: (Text) -> Bool) -> Bool {
    if let named = payload.options.application { return so(named) }
    var types: Set<ContentType> = []
    for item in payload.items {
      for activity in item.activities {
        guard let declared = declared(activity.activityType) else { continue }
        for application in self.declared[declared].applications where !so(applications[application].identifier) {
          return false
        }
      }
      for representation in item.representations {
        let type = self.types.canonical(representation.type)
        guard types.insert(type).inserted else { continue }
        for application in applications(taking: type) where !so(applications[application].identifier) { return false }
      }
    }
    return true
  }
}

extension Decider {
  /// The rules again, as far as they look at no session: `nil` where one of them looks at more than those that may be concerned with the key.
  fileprivate mutating func concerned(_ state: State) -> SessionsNeeded? {
    // An explanation lists those that are not concerned too; without items the latest of all is looked for.
    if request.listsCandidates || request.payload.items.isEmpty { return nil }
    // Step 3 looks at the sessions of several.
    guard let subject = try? findSubject(state), subject.applications.count == 1,
      let application = subject.applications.first
    else { return nil }
    findKey()
    guard !key.isEmpty, let manifest = state.applications[application].manifest,
      let route = try? route(of: application, for: subject, state)
    else { return nil }
    let chosen = manifest.configurations[route.configuration]
    // Step 5, step 6, and step 10, which counts; by Apple's rule everyone is concerned.
    if !manifest.supportsMultipleScenes || chosen.launch != .automatic || chosen.maximumSessions != nil
      || manifest.routing == .uikit
    {
      return nil
    }
    // Step 8: what the manifest sets, all sessions of the configuration have.
    let isSet = manifest.configurations.indices.contains { place in
      route.eligible.contains(Int16(place)) && manifest.configurations[place].conditions != ActivationConditions()
    }
    if isSet { return nil }
    let requesting = options.requestingSession.flatMap(SessionReference.identifier)
    return .concerned(application: manifest.identifier, key: key, requesting: requesting)
  }
}
