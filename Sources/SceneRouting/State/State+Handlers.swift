package import SceneModel

extension State {
  package func declares(_ type: Text) -> Bool { declared(type) != nil }

  /// Whether the person's rules are asked what a payload is about: nothing in it says so already.
  package func asksRules(of payload: Payload) -> Bool {
    payload.options.asksRules && payload.options.session == nil && payload.options.application == nil
      && !payload.items.contains { item in item.activities.contains { declared($0.activityType) != nil } }
  }

  /// The applications that take an activity type or a content type. A payload of this type alone would go to the first; if the first did not exist,
  /// to the second, and so on.
  ///
  /// A text may be both kinds of type. Activities come before contents, so the applications that declare the activity type come first. A text that is
  /// declared as an activity type, and that nobody has described as the type of some content, is the activity type alone.
  package func handlers(of type: Text) throws(Stop) -> [Text] {
    var steps = Limits.conditionSteps
    let declaring = declared(type).map { declared[$0].applications } ?? []
    var handlers = try inOrderOfUse(
      declaring.map { Taking(application: $0) }, preferred: preferredApplication(for: .activity(type)), &steps)
    if let content = ContentType(type), declaring.isEmpty || types.isDescribed(content) {
      steps -= Steps.type
      let asked = AskedType(content, types)
      let isDeclaring = Set(declaring)
      let preferred = preferredApplication(for: .content(asked))
      let taking = applications(taking: asked, &steps).filter {
        !isDeclaring.contains($0.application)
          && ($0.rank != .none || applications[$0.application].identifier == preferred)
      }
      handlers += try inOrderOfUse(taking, preferred: preferred, &steps)
    }
    return handlers.map { applications[$0].identifier }
  }

  /// The order of step 3 without a key: the preferred application; then those that are no understudies; then by the type that they list, by rank, by last
  /// use, and by identifier.
  private func inOrderOfUse(_ among: [Taking], preferred: Text?, _ steps: inout Int) throws(Stop) -> [Int] {
    if among.count > 1 {
      for application in among.map(\.application) {
        let need = Need.allSessions(of: applications[application].identifier)
        if !knows(need) { throw .needs(need) }
        steps -= Steps.application + Steps.lookup * applications[application].index.ofConfiguration.count
      }
    }
    if steps < 0 {
      throw .refusal(.limitsExceeded, "to find who takes this takes more than \(Limits.conditionSteps) steps")
    }
    let beginning = Instant(microseconds: .min)
    let used = among.map { (taking: $0, at: lastActivated($0.application) ?? beginning) }
    let ranked = used.sorted { one, other in
      let numbers = (one.taking.application, other.taking.application)
      let names = (applications[numbers.0].identifier, applications[numbers.1].identifier)
      if (names.0 == preferred) != (names.1 == preferred) { return names.0 == preferred }
      if isUnderstudied(numbers.0) != isUnderstudied(numbers.1) { return isUnderstudied(numbers.1) }
      if one.taking.comes(before: other.taking) { return true }
      if other.taking.comes(before: one.taking) { return false }
      return one.at != other.at ? one.at > other.at : names.0 < names.1
    }
    return ranked.map(\.taking.application)
  }
}
