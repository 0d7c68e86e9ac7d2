extension Manifest {
  /// Reads a manifest from a file or a message: a property list, XML or binary, or JSON.
  ///
  /// `installedAs` is the identifier in the name of an installed file. The manifest may then leave its own identifier to Xcode.
  package init(_ bytes: [UInt8], installedAs: Text? = nil, types: TypeCatalog) throws(Faults) {
    let outcome: Result<Manifest, Faults>
    do throws(Fault) {
      outcome = try Manifest.outcome(of: bytes, installedAs, types)
    } catch {
      throw Faults(error)
    }
    self = try outcome.get()
  }

  /// A text that cannot be parsed has one fault, which is thrown; another text has all its faults.
  private static func outcome(
    of bytes: [UInt8], _ installedAs: Text?, _ types: TypeCatalog
  ) throws(Fault) -> Result<Manifest, Faults> {
    guard isJSON(bytes) else {
      return ManifestReader.read(PropertyListNode(try PropertyList.read(bytes)), installedAs: installedAs, types: types)
    }
    guard let string = String(validating: bytes, as: UTF8.self) else {
      throw .expected("JSON in UTF-8", got: "other bytes", at: .document)
    }
    return try JSON.read(Text(string), atMost: Limits.manifest) { node throws(Fault) in
      ManifestReader.read(node, installedAs: installedAs, types: types)
    }
  }

  /// Whether the bytes begin as JSON does, and so are no property list.
  package static func isJSON(_ bytes: [UInt8]) -> Bool {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let first = bytes[start...].first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
    // A list is not a manifest, and the fault says so.
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
  }
}

/// Reads a manifest to its end, whatever faults it has, so that its author hears of all faults at once, in their order in the manifest.
///
/// Keys without a meaning here are skipped, because an `Info.plist` has many keys for others.
struct ManifestReader<Node: DocumentNode> {
  /// The identifier in the name of an installed file.
  let installedAs: Text?
  let types: TypeCatalog
  let root: Node
  var manifest = Manifest(identifier: .empty, configurations: [])
  /// The types that the configurations may take; `nil` if they could not be read, which was reported already.
  var declaredActivityTypes: Set<Text>? = []
  var declaredContentTypes: [ContentType]? = []
  var counts = TypeList.noCounts

  private(set) var faults: [Fault] = []
  private var isListening = true
  /// The number of faults that are not reported.
  private var unheard = 0

  static func read(_ root: Node, installedAs: Text?, types: TypeCatalog) -> Result<Manifest, Faults> {
    var reader = ManifestReader(installedAs: installedAs, types: types, root: root)
    reader.readAll()
    return Faults(reader.faults).map(Result.failure) ?? .success(reader.manifest)
  }

  private mutating func readAll() {
    let root = root
    guard let fields = attempt({ () throws(Fault) in try root.requireFields("a manifest") }) else { return }
    readDeclarations(fields)
    var hasIdentifier = false
    var scenes: Node?
    for (key, node) in fields where !node.isNull {
      switch key {
      case "CFBundleIdentifier":
        hasIdentifier = true
        readIdentifier(node)
      case "CFBundleDisplayName": manifest.displayName = attempt { () throws(Fault) in try node.requireText() }
      case "CFBundleName": manifest.bundleName = attempt { () throws(Fault) in try node.requireText() }
      case "NSUserActivityTypes": readActivityTypes(node)
      case "CFBundleDocumentTypes": readDocumentTypes(node)
      case "UIApplicationSceneManifest":
        scenes = node
        readScenes(node)
      case "StagedoorDynamicConfiguration":
        manifest.isDynamic = attempt { () throws(Fault) in try node.requireSwitch() } ?? false
      case "StagedoorRouting":
        manifest.routing = attempt { () throws(Fault) in try node.requireChoice(Manifest.Routing.self) } ?? .seated
      case "StagedoorKeepSessions":
        manifest.keptSessions = attempt { () throws(Fault) in try node.requireCount(from: 0) } ?? Limits.keptSessions
      case "StagedoorForwards":
        manifest.forwards = attempt { () throws(Fault) in try node.requireSwitch() } ?? false
      case "StagedoorUnderstudy": manifest.understudy = readUnderstudy(node)
      case "StagedoorExec":
        let exec = attempt { () throws(Fault) in try node.requireCommandLine() }
        // A message does not determine how a program is started: otherwise its sender could start any program.
        if installedAs != nil { manifest.exec = exec }
      default: break
      }
    }
    if !hasIdentifier { readMissingIdentifier() }
    if scenes == nil {
      report(root.missing("UIApplicationSceneManifest", "UISceneConfigurations with at least one configuration"))
    }
  }

  /// Reads the declarations, which the rest is compared with, wherever they stand. Their faults are reported in their turn.
  private mutating func readDeclarations(_ fields: Node.Fields) {
    isListening = false
    defer { isListening = true }
    manifest.identifier = installedAs ?? .empty
    for (key, node) in fields {
      if case "CFBundleIdentifier" = key { readIdentifier(node) }
    }
    for (key, node) in fields where !node.isNull {
      switch key {
      case "NSUserActivityTypes": readActivityTypes(node)
      case "CFBundleDocumentTypes": readDocumentTypes(node)
      default: break
      }
    }
    counts = TypeList.noCounts
  }
}

// MARK: - Commands

extension DocumentNode {
  fileprivate func requireCommandLine() throws(Fault) -> Text {
    let expected = "a command line"
    let command = try requireName(expected, atMost: Limits.text)
    guard let words = CommandWords.words(of: command.string) else {
      throw .expected(expected, got: "\(shown), which \(CommandWords.unclosed)", at: place)
    }
    if words.isEmpty { throw fault(expected) }
    return command
  }
}

// MARK: - Understudies

extension ManifestReader {
  private mutating func readUnderstudy(_ node: Node) -> Manifest.Understudy? {
    if let name = node.text, ApplicationIdentifier.isValid(name) { return .owner(name) }
    if let isUnderstudied = try? node.requireSwitch() { return isUnderstudied ? .registrar : nil }
    report(node.fault("true, or the name on the bus of the program that stands in"))
    return nil
  }
}

// MARK: - Faults

extension ManifestReader {
  private var isFull: Bool { (isListening ? faults.count : unheard) > Limits.faults }

  mutating func attempt<Result>(_ read: () throws(Fault) -> Result) -> Result? {
    if isFull { return nil }
    do throws(Fault) {
      return try read()
    } catch {
      if !isListening { unheard += 1 }
      report(error)
      return nil
    }
  }

  /// Finding the place of a fault costs a walk through the document, so a fault is made only when it is reported.
  mutating func report(_ fault: @autoclosure () -> Fault) {
    guard isListening, !isFull else { return }
    let isLast = faults.count == Limits.faults
    faults.append(isLast ? Fault(at: .document, "there is more wrong than these \(Limits.faults) faults") : fault())
  }
}

// MARK: - The identifier

extension ManifestReader {
  private static var expectedIdentifier: String { "a name on the bus such as org.example.Gallery" }

  private mutating func readIdentifier(_ node: Node) {
    let expected = Self.expectedIdentifier
    guard let text = attempt({ () throws(Fault) in try node.requireName(expected) }) else { return }
    if BuildVariable.isBundleIdentifier(text), let installedAs {
      manifest.identifier = installedAs
      checkFileName()
      return
    }
    manifest.identifier = text
    if !ApplicationIdentifier.isValid(text) {
      let hint =
        BuildVariable.occurs(in: text)
        ? "; Xcode fills this in as it builds: write the name itself"
        : ApplicationIdentifier.taken.contains(text) ? ", which is no application's: another has it on the bus" : ""
      report(.expected(expected, got: quoted(text.string) + hint, at: node.place))
    } else if let installedAs, text != installedAs {
      report(.expected("\(quoted(installedAs.string)), as its file is called", got: node.shown, at: node.place))
    }
  }

  /// Xcode adds the identifier during the build, so the file in a project may have none.
  private mutating func readMissingIdentifier() {
    let root = root
    if installedAs == nil {
      report(root.missing("CFBundleIdentifier", Self.expectedIdentifier))
    } else {
      checkFileName()
    }
  }

  private mutating func checkFileName() {
    guard let installedAs, !ApplicationIdentifier.isValid(installedAs) else { return }
    let got = "\(quoted(installedAs.string)), as its file is called"
    let root = root
    report(.expected(Self.expectedIdentifier, got: got, at: root.place.key("CFBundleIdentifier")))
  }
}
