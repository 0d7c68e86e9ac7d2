import SceneModel

/// The type that routes a payload, and the applications for it.
struct Subject {
  let type: RoutedType
  /// Its index among the declared activity types; `nil` for other types.
  let declared: Int?
  /// The applications that declare the type and may see it, in the order of their identifiers.
  let applications: [Int]
  /// The same for a content type, with how they take it. Empty for an activity type, which an application declares or not.
  var takings: [Taking] = []
}

extension Decider {
  // MARK: The routing activity or content

  /// The first activity of a type that an application declares; or else the first representation of a type that an application takes. If the options
  /// name an application, only that one counts.
  mutating func findSubject(_ state: State) throws(Stop) -> Subject {
    let named = try options.application.map { name throws(Stop) in try existing(name, state) }
    if let named { try refuseForwarding(named, state) }
    // A host may hand its own scenes an activity of an undeclared type.
    let hosting = named.flatMap { request.sender.hosts == state.applications[$0].identifier ? $0 : nil }
    if let subject = firstDeclared(named, state) { return subject }
    if let hosting, let subject = firstOfHost(hosting, state) { return subject }
    if let subject = try firstContent(named, state) { return subject }
    throw .refused(undeclared(named, state))
  }

  /// Looks at each type once, however often the payload has it, and at no more than `Limits.routedTypes` types that nobody takes.
  private mutating func firstContent(_ named: Int?, _ state: State) throws(Stop) -> Subject? {
    // A type that is hidden from some may be looked at once more than a visible one.
    var (passed, passedHidden): (Set<ContentType>, Set<ContentType>) = ([], [])
    for item in request.payload.items {
      for representation in item.representations {
        let isNew =
          representation.visibility == .all
          ? passed.insert(representation.type).inserted : passedHidden.insert(representation.type).inserted
        if !isNew { continue }
        if passed.count + passedHidden.count > Limits.routedTypes { return nil }
        let (type, taking) = try applications(taking: representation.type, state)
        let seen = taking.filter {
          isVisible(representation.visibility, to: $0.application, state) && (named == nil || named == $0.application)
        }
        let subject = Subject(
          type: .content(type), declared: nil, applications: seen.map(\.application), takings: seen)
        // An application of the rank `None` takes only what somebody chose it for.
        if seen.allSatisfy({ $0.rank == .none }), chosen(for: subject, state) == nil { continue }
        explanation.contentType = representation.type.text
        explanation.hidesContentType = representation.visibility != .all
        return subject
      }
    }
    return nil
  }

  mutating func applications(taking type: ContentType, _ state: State) throws(Stop) -> (AskedType, [Taking]) {
    try refuseTooManySteps()
    steps -= Steps.type
    let asked = AskedType(type, state.types)
    let taking = state.applications(taking: asked, &steps)
    try refuseTooManySteps()
    return (asked, taking)
  }

  private mutating func firstDeclared(_ named: Int?, _ state: State) -> Subject? {
    for item in request.payload.items.indices {
      for number in request.payload.items[item].activities.indices {
        let type = request.payload.items[item].activities[number].activityType
        guard let declared = state.declared(type) else { continue }
        let visibility = request.payload.items[item].activities[number].visibility
        let applications = applications(declaring: declared, visibility, named, state)
        if applications.isEmpty { continue }
        explanation.routingActivity = RoutingActivity(item: item, activity: number, activityType: type)
        return Subject(type: .activity(type), declared: declared, applications: applications)
      }
    }
    return nil
  }

  /// At most one application, if the options name it, or if only the sender's own application may see the activity.
  private func applications(
    declaring declared: Int, _ visibility: Visibility, _ named: Int?, _ state: State
  ) -> [Int] {
    let only = named ?? (visibility == .all ? nil : request.sender.hosts.flatMap(state.application))
    guard let only else { return visibility == .all ? state.declared[declared].applications : [] }
    return state.declared[declared].isDeclared(by: only) && isVisible(visibility, to: only, state) ? [only] : []
  }

  private mutating func firstOfHost(_ application: Int, _ state: State) -> Subject? {
    for item in request.payload.items.indices {
      for number in request.payload.items[item].activities.indices {
        let activity = request.payload.items[item].activities[number]
        guard isVisible(activity.visibility, to: application, state) else { continue }
        let type = activity.activityType
        explanation.routingActivity = RoutingActivity(item: item, activity: number, activityType: type)
        return Subject(type: .activity(type), declared: nil, applications: [application])
      }
    }
    return nil
  }

  func isVisible(_ visibility: Visibility, to application: Int, _ state: State) -> Bool {
    visibility == .all || request.sender.hosts == state.applications[application].identifier
  }

  private func undeclared(_ named: Int?, _ state: State) -> Refusal {
    let first = request.payload.items.lazy.flatMap(\.activities).first { activity in
      // A hidden activity is absent for these applications.
      named.map { isVisible(activity.visibility, to: $0, state) }
        ?? (activity.visibility == .all || request.sender.hosts != nil)
    }
    guard let first else {
      return Refusal(.noActivity, "there is no activity in it\(nobodyTakes(named, state))")
    }
    let asked = first.visibility == .all ? nil : request.sender.hosts
    let identifier = named.map { state.applications[$0].identifier } ?? asked
    // A sandbox learns of no other application.
    if identifier == nil, !request.sender.isSandboxed, let forwarding = state.forwarder(of: first.activityType) {
      return Refusal(
        .activityTypeNotDeclared,
        "\(forwarding) declares \(quoted(first.activityType.string)), but its sessions stand for other places: name a session"
      )
    }
    let who = identifier.map { "\($0) does not declare" } ?? "no application declares"
    // A registered application ends with the service, and nobody knows then that it was there.
    let otherwise = identifier == nil ? ", or register the application again" : ""
    return Refusal(
      .activityTypeNotDeclared,
      "\(who) \(quoted(first.activityType.string)): add it to NSUserActivityTypes in the application's manifest\(otherwise)"
    )
  }

  /// The message if no content type routes the payload either. It does not mention hidden types.
  private func nobodyTakes(_ named: Int?, _ state: State) -> String {
    // One more than the message names: a payload may have as many as a document has values.
    var types: [Representation] = []
    for item in request.payload.items where types.count < 2 {
      for representation in item.representations where types.count < 2 {
        let isSeen =
          named.map { isVisible(representation.visibility, to: $0, state) } ?? (representation.visibility == .all)
        if isSeen { types.append(representation) }
      }
    }
    guard let first = types.first else {
      if request.payload.items.allSatisfy({ $0.activities.isEmpty && $0.representations.isEmpty }) {
        return ", and nothing else that could be routed: add an activity or a representation"
      }
      let who = named.map { "\(state.applications[$0].identifier)" } ?? "every application"
      return ", and nothing else, that \(who) may see: look at `visibility`"
    }
    let who = named.map { "\(state.applications[$0].identifier) does not take" } ?? "no application takes"
    let others = types.count == 1 ? "" : " or any other type in it"
    return
      ", and \(who) \(quoted(first.type.text.string))\(others): add an activity, or the type to CFBundleDocumentTypes"
  }

  /// The sessions of an application that forwards stand for other places, so each is named.
  func refuseForwarding(_ application: Int, _ state: State) throws(Stop) {
    guard state.applications[application].manifest?.forwards ?? false else { return }
    throw .refusal(
      .requestDenied,
      "the sessions of \(state.applications[application].identifier) stand for other places: name the session")
  }

  func existing(_ application: Text, _ state: State) throws(Stop) -> Int {
    if let number = state.application(application) { return number }
    throw .refusal(
      .noSuchApplication,
      "there is no application \(quoted(application.string)): install a manifest of that name, or register it")
  }

  // MARK: 2. What it is about: the key

  mutating func findKey() {
    readKey()
    if !key.isEmpty { keyHash = KeyTable.hash(key) }
  }

  /// The key of an activity is its content, or else its page. Without an activity it is the first item's file or link.
  private mutating func readKey() {
    if let place = explanation.routingActivity {
      let activities = request.payload.items[place.item].activities
      if let identifier = activities[place.activity].targetContentIdentifier, !identifier.isEmpty {
        (explanation.key, explanation.keySource) = (identifier, .targetContentIdentifier)
      } else if let page = activities[place.activity].webpageURL, !page.isEmpty {
        (explanation.key, explanation.keySource) = (page, .webpageURL)
      }
      return
    }
    for representation in request.payload.items.first?.representations ?? [] where representation.visibility == .all {
      // A sandbox would learn which files have a window.
      if let url = representation.url, !(request.sender.isSandboxed && FileURL.hasScheme(url)) {
        (explanation.key, explanation.keySource) = (url, representation.isFile ? .file : .link)
        return
      }
    }
  }
}
