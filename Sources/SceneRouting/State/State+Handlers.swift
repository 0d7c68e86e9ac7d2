package import SceneModel

extension State {
  /// The applications that take an activity type or a content type. A payload of this type alone would go to the first; if the first did not exist,
  /// to the second, and so on.
  ///
  /// A text may be both kinds of type. Activities come before contents, so the applications that declare the activity type come first. A text that is
  /// declared as an activity type, and that nobody has described as the type of some content, is the activity type alone.
  package func handlers(of type: Text) throws(Stop) -> [Text] {
    var steps = Limits.conditionSteps
    let declaring = declared(type).map { declared[$0].applications } ?? []
    var handlers = try inOrderOfUse(declaring, preferred: preferredApplication(for: .activity(type)), &steps)
    if let content = ContentType(type), declaring.isEmpty || types.isDescribed(content) {
      steps -= Steps.type
      let asked = AskedType(content, types)
      let isDeclaring = Set(declaring)
      let taking = applications(taking: asked, &steps).filter { !isDeclaring.contains($0) }
      handlers += try inOrderOfUse(taking, preferred: preferredApplication(for: .content(asked)), &steps)
    }
    return handlers.map { applications[$0].identifier }
  }

  /// The order of step 3 without a key: the preferred application, then by last use, then by identifier.
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
