package import SceneModel

/// Makes valid documents, and prefers values that documents can hardly hold.
package struct DocumentGenerator {
  var random: SeededRandom
  var values: ValueGenerator

  package init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    values = ValueGenerator(seed: ~seed)
  }

  // MARK: Payloads

  package mutating func payload() -> Payload {
    let items = (0..<random.below(4)).map { _ in item() }
    var options = options()
    if items.isEmpty, options.session == nil, options.application == nil { options.application = name() }
    return Payload(items: items, options: options)
  }

  package mutating func item() -> Item {
    let types = DocumentGenerator.types.shuffled(using: &random).prefix(random.below(5))
    return Item(
      suggestedName: perhaps { $0.text() }, activities: (0..<random.below(3)).map { _ in activity() },
      representations: types.map { representation(of: random.one(of: $0)) })
  }

  private mutating func representation(of type: Text) -> Representation {
    let content: Representation.Content =
      switch random.below(3) {
      case 0: .data(values.data())
      case 1: .text(values.text())
      default: .file(random.one(of: DocumentGenerator.files))
      }
    guard let type = ContentType(type) else { preconditionFailure("\(type) is no type") }
    return Representation(type: type, content, openInPlace: random.once(in: 2), visibility: choice())
  }

  package mutating func activity() -> UserActivity {
    UserActivity(
      activityType: name(), targetContentIdentifier: perhaps { $0.text() }, title: perhaps { $0.text() },
      userInfo: values.userInfo(), webpageURL: perhaps { $0.random.one(of: ValueGenerator.urls) },
      requiredUserInfoKeys: texts(),
      keywords: texts(), persistentIdentifier: perhaps { $0.text() }, expirationDate: perhaps { $0.values.date() },
      isEligibleForHandoff: random.one(of: [nil, true, false]), visibility: choice())
  }

  package mutating func options() -> PayloadOptions {
    var options = PayloadOptions()
    if random.once(in: 4) {
      options.session = name()
    } else {
      options.disposition = choice()
      options.application = perhaps { $0.name() }
      options.configuration = perhaps { $0.name() }
      options.role = perhaps { $0.name() }
    }
    options.requestingSession = perhaps { $0.name() }
    options.origin = perhaps { $0.name() }
    options.presentationStyle = choice()
    options.token = perhaps { $0.name() }
    options.statedDeadline = deadline()
    options.wait = choice()
    options.activationToken = perhaps { $0.text() }
    options.keepPromises = random.once(in: 2)
    options.allowedOperations = random.one(of: [[.copy], [.move], [.copy, .move], [.move, .copy]])
    options.isPrivate = random.once(in: 2)
    options.batch = choice()
    options.isStrict = random.once(in: 2)
    return options
  }

  private mutating func deadline() -> Double {
    switch random.below(3) {
    case 0: PayloadOptions.defaultDeadline
    case 1: random.one(of: [.leastNonzeroMagnitude, 0.1, 1, 3599.9999999999995, 3600])
    default: 3600 - Double.random(in: 0..<3600, using: &random)
    }
  }

  // MARK: Sessions

  package mutating func session() -> Session {
    Session(
      identifier: UniqueIdentifier(using: &random), application: name(), role: name(), configuration: name(),
      state: choice(),
      isConnected: random.once(in: 2), hasBeenConnected: random.once(in: 2), created: values.date(),
      lastActivated: values.date(),
      title: text(), userActivity: perhaps { $0.activity() }, stateRestorationActivity: perhaps { $0.activity() },
      userInfo: values.userInfo(), canActivatePredicate: text(), prefersToActivatePredicate: text(),
      isPrivate: random.once(in: 2))
  }

  // MARK: Parts

  mutating func perhaps<Made>(_ make: (inout Self) -> Made) -> Made? { random.once(in: 2) ? make(&self) : nil }

  mutating func choice<Choice: CaseIterable>() -> Choice { random.one(of: Array(Choice.allCases)) }

  /// A text that may travel on the bus: without NUL.
  mutating func text() -> Text { Text(String(values.text().string.unicodeScalars.filter { $0 != "\0" })) }

  /// A valid name: 1 to 255 bytes.
  mutating func name() -> Text {
    let text = text()
    return text.isEmpty || text.count > Limits.name ? random.one(of: DocumentGenerator.names) : text
  }

  private mutating func texts() -> [Text] { (0..<random.below(4)).map { _ in text() } }
}

extension DocumentGenerator {
  static let names: [Text] = [
    "a", "com.example.open", "UIWindowSceneSessionRoleApplication", "$date", "/", "*", " ", "猫",
    Text(String(repeating: "é", count: 127) + "e"),
  ]

  /// One line for each type, with its other names and spellings.
  static let types: [[Text]] = [
    ["image/png", "public.png", "IMAGE/PNG"], ["image/webp", "org.webmproject.webp"],
    ["text/plain", "public.plain-text"],
    ["text/plain;charset=utf-8", "public.utf8-plain-text", "text/plain; charset=\"UTF-8\""], ["com.example.my-format"],
    ["com.example.猫"], ["application/x-unknown; a=\"b \\\" c\"; B=d"], ["application/octet-stream", "public.data"],
    [Text("application/" + String(repeating: "x", count: 127) + ";a=" + String(repeating: "y", count: 112))],
  ]

  static let files: [Text] = [
    "file:///", "file:///home/user/Beach.png", "file:///tmp/x", "file:///a%20b%C3%A9", "file:///a+b", "file:////a",
  ]
}

extension DocumentGenerator {
  /// A manifest that has no faults if its file is named after its identifier.
  package mutating func manifest() -> Manifest {
    let activityTypes = Array(Set((0..<random.below(6)).map { _ in activityType() }))
    let contentTypes = DocumentGenerator.declarable.shuffled(using: &random).prefix(random.below(5))
      .compactMap { ContentType($0, as: .asked) }
    var ranks: [ContentType: Manifest.HandlerRank] = [:]
    for type in contentTypes where random.once(in: 2) {
      let rank: Manifest.HandlerRank = choice()
      if rank != .default { ranks[type] = rank }
    }
    var configurations: [SceneConfiguration] = []
    for role in DocumentGenerator.roles.filter({ _ in random.once(in: 2) }).sorted() {
      let names = Set((0..<(1 + random.below(4))).map { _ in name() })
      configurations += names.sorted().shuffled(using: &random).map {
        configuration($0, role, activityTypes, contentTypes)
      }
    }
    if configurations.isEmpty { configurations = [configuration(name(), PayloadOptions.defaultRole, [], [])] }
    return Manifest(
      identifier: random.one(of: DocumentGenerator.identifiers), displayName: perhaps { $0.text() },
      bundleName: perhaps { $0.text() }, activityTypes: activityTypes, contentTypes: contentTypes, handlerRanks: ranks,
      supportsMultipleScenes: random.once(in: 2), configurations: configurations, isDynamic: random.once(in: 2),
      routing: choice(), understudy: random.one(of: [nil, .registrar, .owner("org.example.Understudy")]),
      forwards: random.once(in: 2), exec: perhaps { $0.commandLine() })
  }

  private mutating func commandLine() -> Text {
    let name = name()
    return CommandWords.words(of: name.string)?.isEmpty == false ? name : "gallery 'in the background'"
  }

  private mutating func configuration(
    _ name: Text, _ role: Text, _ activityTypes: [Text], _ contentTypes: [ContentType]
  ) -> SceneConfiguration {
    let conditions = ActivationConditions(can: perhaps { $0.predicate() }, prefers: perhaps { $0.predicate() })
    return SceneConfiguration(
      name: name, role: role, delegateClassName: perhaps { $0.text() }, storyboardFile: perhaps { $0.text() },
      sceneClassName: perhaps { $0.text() }, activityTypes: taken(of: activityTypes),
      contentTypes: contentTypes.filter { _ in random.once(in: 2) }, launch: choice(), conditions: conditions,
      maximumSessions: perhaps { $0.random.one(of: [1, 2, 100, Int(Int32.max)]) })
  }

  private mutating func taken(of types: [Text]) -> [Text] {
    types.filter { _ in random.once(in: 2) }.map { type in
      let text = type.string
      guard random.once(in: 3), let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")), dot > text.startIndex,
        text.utf8.index(after: dot) < text.endIndex
      else { return type }
      return Text(text[..<dot] + ".*")
    }
  }

  /// A type that is not a placeholder of Xcode's.
  private mutating func activityType() -> Text {
    random.once(in: 2) ? name() : random.one(of: ["com.example.open", "com.example.close", "com.example.*", "x.y.z"])
  }

  private mutating func predicate() -> Predicate {
    let source = random.one(of: DocumentGenerator.predicates)
    guard let predicate = try? Predicate(source) else { preconditionFailure("\(source) is no predicate") }
    return predicate
  }
}

extension DocumentGenerator {
  static let roles: [Text] = [
    "UIWindowSceneSessionRoleApplication", "UIWindowSceneSessionRoleExternalDisplayNonInteractive", "a", "é <&>", "ß",
  ]

  static let identifiers: [Text] = ["org.example.Gallery", "a.b", "com.example.apple-samplecode.Gallery", "_a.-b"]

  static let declarable: [Text] = ["public.image", "image/*", "*/*", "PUBLIC.png", "text/plain; charset=utf-8", "a.b"]

  static let predicates: [Text] = [
    "SELF == \"a\"", "TRUEPREDICATE", " SELF\tBEGINSWITH[cd] 'é' ", "SELF IN {\"<\", \"&\\u0001\"}",
    "NOT SELF LIKE '*?'",
  ]
}
