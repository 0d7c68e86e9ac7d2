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
