package import SceneModel

extension State {
  /// Who takes an activity type or a content type: the application first that a payload of this type alone would go to, then the one that
  /// would get it if the first were not there, and so on.
  ///
  /// A text may be both kinds of type. An activity is asked about before content, so those who declare the activity type come first.
  package func handlers(of type: Text) throws(Stop) -> [Text] {
    var steps = Limits.conditionSteps
    let declaring = declared(type).map { declared[$0].applications } ?? []
    var handlers = try inOrderOfUse(declaring, preferred: preferredApplication(for: .activity(type)), &steps)
    if let content = ContentType(type) {
      steps -= Steps.type
      let asked = AskedType(content, types)
      let isDeclaring = Set(declaring)
      let taking = applications(taking: asked, &steps).filter { !isDeclaring.contains($0) }
      handlers += try inOrderOfUse(taking, preferred: preferredApplication(for: .content(asked)), &steps)
    }
    return handlers.map { applications[$0].identifier }
  }

  /// As step 3 chooses where there is no key: the preferred application, then the one that was used last, then the first by identifier.
  private func inOrderOfUse(_ among: [Int], preferred: Text?, _ steps: inout Int) throws(Stop) -> [Int] {
    if among.count > 1 {
      for application in among {
        let need = Need.allSessions(of: applications[application].identifier)
        if !knows(need) { throw .needs(need) }
        steps -= Steps.application + Steps.lookup * applications[application].index.ofConfiguration.count
      }
    }
    if steps < 0 {
      throw .refusal(.limitsExceeded, "to find who takes this takes more than \(Limits.conditionSteps) steps")
    }
    let beginning = Instant(microseconds: .min)
    let used = among.map { (number: $0, at: lastActivated($0) ?? beginning) }
    let ranked = used.sorted { one, other in
      let names = (applications[one.number].identifier, applications[other.number].identifier)
      if (names.0 == preferred) != (names.1 == preferred) { return names.0 == preferred }
      return one.at != other.at ? one.at > other.at : names.0 < names.1
    }
    return ranked.map(\.number)
  }
}
