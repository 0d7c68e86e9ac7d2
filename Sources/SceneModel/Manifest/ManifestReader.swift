/// Reads a manifest to its end, whatever is wrong on the way, so that its author hears of everything at once.
///
/// Keys that mean nothing here are passed over: an `Info.plist` says much that is for others.
struct ManifestReader<Node: DocumentNode> {
  private(set) var faults: [Fault] = []
  /// The identifier that the file is called by, where it was installed.
  let installedAs: Text?
  private let root: Node
  private var manifest = Manifest(identifier: .empty, configurations: [])
  /// What the configurations take, to be looked up when all that is declared is known.
  private var takenActivityTypes: [(type: Text, node: Node)] = []
  private var takenContentTypes: [(type: ContentType, node: Node)] = []

  init(_ root: Node, installedAs: Text?) {
    self.root = root
    self.installedAs = installedAs
  }

  static func read(_ root: Node, installedAs: Text?, types: TypeCatalog) -> Result<Manifest, Faults> {
    var reader = ManifestReader(root, installedAs: installedAs)
    reader.readAll(types)
    return Faults(reader.faults).map(Result.failure) ?? .success(reader.manifest)
  }

  private mutating func readAll(_ types: TypeCatalog) {
    let root = root
    guard let fields = attempt({ () throws(Fault) in try root.requireFields("a manifest") }) else { return }
    readIdentifier(fields)
    var scenes: Node?
    for (key, node) in fields {
      switch key {
      case "CFBundleDisplayName": manifest.displayName = attempt { () throws(Fault) in try node.requireText() }
      case "CFBundleName": manifest.bundleName = attempt { () throws(Fault) in try node.requireText() }
      case "NSUserActivityTypes": readActivityTypes(node)
      case "CFBundleDocumentTypes": readDocumentTypes(node)
      case "UIApplicationSceneManifest": scenes = node
      case "StagedoorDynamicConfiguration": manifest.isDynamic = attempt { () throws(Fault) in try node.requireSwitch() } ?? false
      case "StagedoorRouting":
        manifest.routing = attempt { () throws(Fault) in try node.requireChoice(Manifest.Routing.self) } ?? .seated
      case "StagedoorExec":
        manifest.exec = attempt { () throws(Fault) in try node.requireName("a command line", atMost: Limits.text) }
      default: break
      }
    }
    if let scenes { readScenes(scenes) }
    if faults.isEmpty, manifest.configurations.isEmpty {
      faults.append(
        root.missing("UIApplicationSceneManifest", "UISceneConfigurations with at least one configuration in it"))
    }
    compareWithDeclared(types)
  }

  private mutating func attempt<Result>(_ read: () throws(Fault) -> Result) -> Result? {
    do throws(Fault) {
      return try read()
    } catch {
      faults.append(error)
      return nil
    }
  }

  // MARK: The application

  private mutating func readIdentifier(_ fields: Node.Fields) {
    let node = fields.first { "CFBundleIdentifier" ~= $0.key }?.node
    let expected = "a name on the bus such as org.example.Gallery"
    guard let node else {
      // Xcode adds it as it builds, so that the file in a project has none.
      manifest.identifier = installedAs ?? .empty
      if installedAs == nil { faults.append(root.missing("CFBundleIdentifier", expected)) }
      return
    }
    guard let text = attempt({ () throws(Fault) in try node.requireName(expected) }) else { return }
    if BuildVariable.isBundleIdentifier(text), let installedAs {
      manifest.identifier = installedAs
      return
    }
    manifest.identifier = text
    if !ApplicationIdentifier.isValid(text) {
      let hint = BuildVariable.occurs(in: text) ? "; Xcode fills this in as it builds: write the name itself" : ""
      faults.append(.expected(expected, got: quoted(text.string) + hint, at: node.place))
    } else if let installedAs, text != installedAs {
      faults.append(.expected("\(quoted(installedAs.string)), as its file is called", got: node.shown, at: node.place))
    }
  }

  private mutating func readActivityTypes(_ node: Node) {
    for (type, _) in texts(node, of: "activity types", "an activity type") where !manifest.activityTypes.contains(type) {
      manifest.activityTypes.append(type)
    }
  }

  private mutating func readDocumentTypes(_ node: Node) {
    guard let elements = attempt({ () throws(Fault) in try node.list(of: "document types") { $0 } }) else { return }
    for element in elements {
      guard let fields = attempt({ () throws(Fault) in try element.requireFields("a document type") }) else { continue }
      for (key, node) in fields {
        guard case "LSItemContentTypes" = key else { continue }
        for (type, _) in contentTypes(node) where !manifest.contentTypes.contains(type) {
          manifest.contentTypes.append(type)
        }
      }
    }
  }

  // MARK: Its scenes

  private mutating func readScenes(_ node: Node) {
    guard let fields = attempt({ () throws(Fault) in try node.requireFields() }) else { return }
    for (key, node) in fields {
      switch key {
      case "UIApplicationSupportsMultipleScenes":
        manifest.supportsMultipleScenes = attempt { () throws(Fault) in try node.requireSwitch() } ?? false
      case "UISceneConfigurations":
        guard let roles = attempt({ () throws(Fault) in try node.requireFields("roles with configurations") }) else {
          continue
        }
        for (role, node) in roles { readConfigurations(of: role.text, node) }
        if manifest.configurations.count > Limits.configurations {
          faults.append(Fault(.limit, at: node.place, "expected at most \(Limits.configurations) configurations"))
        }
      default: break
      }
    }
  }

  private mutating func readConfigurations(of role: Text, _ node: Node) {
    guard let elements = attempt({ () throws(Fault) in try node.list(of: "configurations") { $0 } }) else { return }
    var names: [Text] = []
    for element in elements {
      guard let configuration = readConfiguration(of: role, element) else { continue }
      if names.contains(configuration.name) {
        faults.append(
          .expected(
            "each name once in a role", got: quoted(configuration.name.string),
            at: element.place.key("UISceneConfigurationName")))
      }
      names.append(configuration.name)
      manifest.configurations.append(configuration)
    }
  }

  private mutating func readConfiguration(of role: Text, _ element: Node) -> SceneConfiguration? {
    guard let fields = attempt({ () throws(Fault) in try element.requireFields("a configuration") }) else { return nil }
    var configuration = SceneConfiguration(name: .empty, role: role)
    var hasName = false
    for (key, node) in fields {
      switch key {
      case "UISceneConfigurationName":
        hasName = true
        configuration.name =
          attempt { () throws(Fault) in try node.requireName("the name of a configuration") } ?? .empty
      case "UISceneDelegateClassName":
        configuration.delegateClassName = attempt { () throws(Fault) in try node.requireText() }
      case "UISceneStoryboardFile":
        configuration.storyboardFile = attempt { () throws(Fault) in try node.requireText() }
      case "UISceneClassName":
        configuration.sceneClassName = attempt { () throws(Fault) in try node.requireText() }
      case "StagedoorActivityTypes":
        let taken = texts(node, of: "activity types", "an activity type, or a family such as com.example.*")
        configuration.activityTypes = taken.map(\.text)
        takenActivityTypes += taken.map { ($0.text, $0.node) }
      case "StagedoorContentTypes":
        let taken = contentTypes(node)
        configuration.contentTypes = taken.map(\.type)
        takenContentTypes += taken
      case "StagedoorLaunch":
        configuration.launch =
          attempt { () throws(Fault) in try node.requireChoice(SceneConfiguration.Launch.self) } ?? .automatic
      case "StagedoorCanActivatePredicate": configuration.conditions.can = predicate(node)
      case "StagedoorPrefersToActivatePredicate": configuration.conditions.prefers = predicate(node)
      case "StagedoorMaximumSessions": configuration.maximumSessions = attempt { () throws(Fault) in try node.requireCount() }
      default: break
      }
    }
    if !hasName {
      faults.append(element.missing("UISceneConfigurationName", "the name of a configuration"))
    }
    return configuration.name.isEmpty ? nil : configuration
  }

  /// "" is what stands where nothing was set.
  private mutating func predicate(_ node: Node) -> Predicate? {
    guard let text = attempt({ () throws(Fault) in try node.requireText("a predicate") }), !text.isEmpty else {
      return nil
    }
    do throws(PredicateError) {
      return try Predicate(text)
    } catch {
      faults.append(Fault(at: node.place, "\(error)"))
      return nil
    }
  }

  // MARK: Lists of types

  private mutating func texts(_ node: Node, of what: String, _ one: String) -> [(text: Text, node: Node)] {
    guard let elements = attempt({ () throws(Fault) in try node.list(of: what) { $0 } }) else { return [] }
    var result: [(Text, Node)] = []
    for element in elements {
      guard let text = attempt({ () throws(Fault) in try element.requireName(one) }) else { continue }
      result.append((BuildVariable.withBundleIdentifier(manifest.identifier, in: text), element))
    }
    return result
  }

  private mutating func contentTypes(_ node: Node) -> [(type: ContentType, node: Node)] {
    var result: [(ContentType, Node)] = []
    for (text, element) in texts(node, of: "content types", "a MIME type or a uniform type identifier") {
      guard let type = attempt({ () throws(Fault) in try ContentType(text, as: .asked, at: element.place) }) else {
        continue
      }
      result.append((type, element))
    }
    return result
  }

  // MARK: Between the parts

  /// A configuration can only take what the application declares.
  private mutating func compareWithDeclared(_ types: TypeCatalog) {
    for (type, node) in takenActivityTypes {
      let isDeclared =
        ActivityTypeFamily.isFamily(type)
        ? manifest.activityTypes.contains { ActivityTypeFamily.family(type, contains: $0) }
        : manifest.activityTypes.contains(type)
      if !isDeclared { faults.append(node.fault("a type that NSUserActivityTypes declares")) }
    }
    for (type, node) in takenContentTypes {
      let isDeclared = manifest.contentTypes.contains { types.conforms(type, to: $0) || types.conforms($0, to: type) }
      if !isDeclared { faults.append(node.fault("a type that CFBundleDocumentTypes declare")) }
    }
  }
}

extension DocumentNode {
  /// A boolean, also as property lists of old spelled it.
  fileprivate func requireSwitch() throws(Fault) -> Bool {
    switch text {
    case "YES": true
    case "NO": false
    default: try requireBool()
    }
  }

  fileprivate func requireCount() throws(Fault) -> Int {
    guard let integer, integer >= 1, integer <= Int32.max else { throw fault("a number of at least 1") }
    return Int(integer)
  }
}
