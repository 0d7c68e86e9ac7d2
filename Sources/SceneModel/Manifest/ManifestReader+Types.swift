enum TypeList: Int, CaseIterable {
  case declaredActivityTypes
  case declaredContentTypes
  case takenActivityTypes
  case takenContentTypes

  static var noCounts: [Int] { allCases.map { _ in 0 } }

  var what: String {
    switch self {
    case .declaredActivityTypes, .takenActivityTypes: "activity types"
    case .declaredContentTypes, .takenContentTypes: "content types"
    }
  }

  var one: String {
    switch self {
    case .declaredActivityTypes: "an activity type"
    case .takenActivityTypes: "an activity type, or a family such as com.example.*"
    case .declaredContentTypes, .takenContentTypes: "a MIME type or a uniform type identifier"
    }
  }
}

extension ManifestReader {
  // MARK: Declared types

  mutating func readActivityTypes(_ node: Node) {
    guard let list = texts(node, .declaredActivityTypes) else {
      declaredActivityTypes = nil
      return
    }
    var seen: Set<Text> = []
    manifest.activityTypes = list.map(\.text).filter { seen.insert($0).inserted }
    declaredActivityTypes = seen
  }

  mutating func readDocumentTypes(_ node: Node) {
    guard let elements = attempt({ () throws(Fault) in try node.list(of: "document types") { $0 } }) else {
      declaredContentTypes = nil
      return
    }
    var seen: Set<ContentType> = []
    (manifest.contentTypes, manifest.handlerRanks) = ([], [:])
    for element in elements {
      guard let fields = element.fields else {
        report(element.fault("a document type"))
        continue
      }
      var rank = Manifest.HandlerRank.default
      var listed: [ContentType] = []
      for (key, node) in fields where !node.isNull {
        switch key {
        case "LSItemContentTypes": listed += contentTypes(node, .declaredContentTypes).map(\.type)
        case "LSHandlerRank":
          rank = attempt { () throws(Fault) in try node.requireChoice(Manifest.HandlerRank.self) } ?? .default
        default: break
        }
      }
      for type in listed {
        let isNew = seen.insert(type).inserted
        if isNew { manifest.contentTypes.append(type) }
        // Of several ranks of one type the highest counts.
        if isNew || rank > manifest.rank(of: type) { manifest.handlerRanks[type] = rank == .default ? nil : rank }
      }
    }
    declaredContentTypes = manifest.contentTypes
  }

  // MARK: Types of configurations

  mutating func takenActivityTypes(_ node: Node) -> [Text] {
    let list = texts(node, .takenActivityTypes) ?? []
    if let declaredActivityTypes {
      for (type, node) in list where !declaredActivityTypes.contains(type) {
        let isDeclared = declaredActivityTypes.contains { ActivityTypeFamily.family(type, contains: $0) }
        if !isDeclared { report(node.fault("a type that NSUserActivityTypes declares")) }
      }
    }
    return list.map(\.text)
  }

  mutating func takenContentTypes(_ node: Node) -> [ContentType] {
    let list = contentTypes(node, .takenContentTypes)
    // Before the first question about a type, the catalogue has read nothing.
    if let declaredContentTypes, !list.isEmpty {
      let declared = declaredContentTypes.map(types.resolved)
      for (type, node) in list {
        let taken = types.resolved(type)
        let isDeclared = declared.contains { types.conforms(taken, to: $0) || types.conforms($0, to: taken) }
        if !isDeclared { report(node.fault("a type that CFBundleDocumentTypes declare")) }
      }
    }
    return list.map(\.type)
  }

  // MARK: Lists

  /// `nil` if it is not a list.
  private mutating func texts(_ node: Node, _ kind: TypeList) -> [(text: Text, node: Node)]? {
    guard let elements = attempt({ () throws(Fault) in try node.list(of: kind.what) { $0 } }) else { return nil }
    var result: [(Text, Node)] = []
    for element in elements {
      counts[kind.rawValue] += 1
      if counts[kind.rawValue] > Limits.types {
        if counts[kind.rawValue] == Limits.types + 1 {
          report(Fault(.limit, at: element.place, "expected at most \(Limits.types) \(kind.what) in a manifest"))
        }
        break
      }
      guard let text = attempt({ () throws(Fault) in try element.requireName(kind.one) }) else { continue }
      result.append((BuildVariable.withBundleIdentifier(manifest.identifier, in: text), element))
    }
    return result
  }

  private mutating func contentTypes(_ node: Node, _ kind: TypeList) -> [(type: ContentType, node: Node)] {
    var result: [(ContentType, Node)] = []
    for (text, element) in texts(node, kind) ?? [] {
      guard let type = attempt({ () throws(Fault) in try ContentType(text, as: .asked, at: element.place) }) else {
        continue
      }
      result.append((type, element))
    }
    return result
  }
}
