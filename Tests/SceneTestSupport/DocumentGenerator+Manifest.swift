package import SceneModel

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
      forwards: random.once(in: 2), exec: perhaps { $0.name() })
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

  /// Some of the types, or their families.
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
