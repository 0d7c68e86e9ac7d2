import XML

extension ManifestReader {
  mutating func readScenes(_ node: Node) {
    guard let fields = attempt({ () throws(Fault) in try node.requireFields("a scene manifest") }) else { return }
    var hasConfigurations = false
    for (key, node) in fields where !node.isNull {
      switch key {
      case "UIApplicationSupportsMultipleScenes":
        manifest.supportsMultipleScenes = attempt { () throws(Fault) in try node.requireSwitch() } ?? false
      case "UISceneConfigurations":
        hasConfigurations = true
        readConfigurations(node)
      default: break
      }
    }
    if !hasConfigurations { report(node.missing("UISceneConfigurations", "at least one configuration")) }
  }

  private mutating func readConfigurations(_ node: Node) {
    let expected = "roles with configurations, such as UIWindowSceneSessionRoleApplication"
    guard let roles = attempt({ () throws(Fault) in try node.requireFields(expected) }) else { return }
    var count = 0
    var isReadable = true
    for (role, node) in roles where !node.isNull {
      let elements = attempt { () throws(Fault) in
        try node.requireRole(role.text)
        return try node.list(of: "configurations") { $0 }
      }
      isReadable = isReadable && elements != nil
      let left = max(0, Limits.configurations - count)
      readConfigurations(of: role.text, (elements ?? []).prefix(left))
      count += elements?.count ?? 0
    }
    if count > Limits.configurations {
      report(Fault(.limit, at: node.place, "expected at most \(Limits.configurations) configurations, got \(count)"))
    } else if count == 0, isReadable {
      report(.expected("at least one configuration", got: "none", at: node.place))
    }
    // The order of roles has no meaning: in JSON it is the order of the text, and a property list has any order.
    manifest.configurations = manifest.configurations.enumerated()
      .sorted { ($0.element.role, $0.offset) < ($1.element.role, $1.offset) }.map(\.element)
  }

  private mutating func readConfigurations(of role: Text, _ elements: ArraySlice<Node>) {
    var names: Set<Text> = []
    for element in elements {
      guard let configuration = readConfiguration(of: role, element) else { continue }
      if !names.insert(configuration.name).inserted {
        let place = element.place.key("UISceneConfigurationName")
        report(.expected("each name once in a role", got: quoted(configuration.name.string), at: place))
      }
      manifest.configurations.append(configuration)
    }
  }

  private mutating func readConfiguration(of role: Text, _ element: Node) -> SceneConfiguration? {
    guard let fields = attempt({ () throws(Fault) in try element.requireFields("a configuration") }) else { return nil }
    var configuration = SceneConfiguration(name: .empty, role: role)
    var hasName = false
    for (key, node) in fields where !node.isNull {
      switch key {
      case "UISceneConfigurationName":
        hasName = true
        configuration.name = attempt { () throws(Fault) in try node.requireName("a configuration's name") } ?? .empty
      case "UISceneDelegateClassName":
        configuration.delegateClassName = attempt { () throws(Fault) in try node.requireText() }
      case "UISceneStoryboardFile":
        configuration.storyboardFile = attempt { () throws(Fault) in try node.requireText() }
      case "UISceneClassName":
        configuration.sceneClassName = attempt { () throws(Fault) in try node.requireText() }
      case "StagedoorActivityTypes": configuration.activityTypes = takenActivityTypes(node)
      case "StagedoorContentTypes": configuration.contentTypes = takenContentTypes(node)
      case "StagedoorLaunch":
        configuration.launch =
          attempt { () throws(Fault) in try node.requireChoice(SceneConfiguration.Launch.self) } ?? .automatic
      case "StagedoorCanActivatePredicate": configuration.conditions.can = predicate(node)
      case "StagedoorPrefersToActivatePredicate": configuration.conditions.prefers = predicate(node)
      case "StagedoorMaximumSessions":
        configuration.maximumSessions = attempt { () throws(Fault) in try node.requireCount() }
      default: break
      }
    }
    if !hasName { report(element.missing("UISceneConfigurationName", "a configuration's name")) }
    return configuration.name.isEmpty ? nil : configuration
  }

  /// "" means that no condition is set.
  private mutating func predicate(_ node: Node) -> Predicate? {
    guard let text = attempt({ () throws(Fault) in try node.requireText("a predicate") }), !text.isEmpty else {
      return nil
    }
    do throws(PredicateError) {
      return try Predicate(text)
    } catch {
      report(Fault(.predicate, at: node.place, "\(error)"))
      return nil
    }
  }
}

extension DocumentNode {
  /// A boolean, also in the spelling of old property lists.
  func requireSwitch() throws(Fault) -> Bool {
    switch text {
    case "YES": true
    case "NO": false
    default: try requireBool()
    }
  }

  func requireCount(from least: Int64 = 1) throws(Fault) -> Int {
    guard let integer, integer >= least, integer <= Int32.max else {
      throw fault("a whole number from \(least) to \(Int32.max)")
    }
    return Int(integer)
  }

  /// Checks that the key of this node is a role. The role travels as text, and becomes a key again in every form of a manifest.
  fileprivate func requireRole(_ role: Text) throws(Fault) {
    guard !role.isEmpty, role.count <= Limits.name, !role.hasPrefix(Tag.mark),
      role.string.unicodeScalars.allSatisfy({ $0.value >= 0x20 && XMLText.isAllowed($0) })
    else {
      throw .expected(
        "a session role such as \(PayloadOptions.defaultRole)", got: quoted(role.string), at: place)
    }
  }
}
