import SceneModel

/// An accepted payload can be written and read again unchanged.
enum PayloadLaws {
  private static let rules = ReadingRules(types: FuzzedParser.types)

  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    let document = FuzzedDocument(input)
    let payload: Payload
    do throws(Fault) {
      guard case .json(let text?) = document.form else { return .unfit }
      payload = try Payload(json: text, rules)
    } catch {
      try RefusalLaws.check(error, of: document)
      return .refused
    }
    try checkJSON(of: payload)
    // A written payload has no unknown key.
    var strict = payload
    strict.options.isStrict = true
    try checkJSON(of: strict)
    return .taken
  }

  private static func checkJSON(of payload: Payload) throws(BrokenLaw) {
    try BrokenLaw.check(payload, as: "JSON", mayNotFit: false, write: \.json) { (json) throws(Fault) in
      try Payload(json: json, rules)
    }
  }
}

/// A value that was read can be written and read again unchanged: in JSON with its tags, and in property lists as far as these have words for it.
enum ValueLaws {
  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    let document = FuzzedDocument(input)
    let tree = document.tree
    let value: Value
    do throws(Fault) {
      switch document.form {
      case .json(nil): return .unfit
      case .json(let text?): value = try JSON.value(text)
      case .propertyList: value = try PropertyList.read(input)
      }
    } catch {
      try RefusalLaws.check(error, of: document)
      if tree != nil, error.place.hasPrefix("line "), error.kind != .limit {
        throw BrokenLaw("JSON is taken for none: \(error)")
      }
      return .refused
    }
    guard let tree else { throw BrokenLaw("taken for JSON: \(value)") }
    if !tree.hasTags || document.isPropertyList, value != tree { throw BrokenLaw("read as \(value), not \(tree)") }
    try checkJSON(of: value, of: document)
    try checkPropertyLists(of: value)
    return .taken
  }

  private static func checkJSON(of value: Value, of document: FuzzedDocument) throws(BrokenLaw) {
    // A property list has words of its own for what JSON tags: these nest deeper.
    try BrokenLaw.check(
      value, as: "JSON", mayNotFit: document.isPropertyList, write: { JSON.text(of: $0) }
    ) { (text) throws(Fault) in try JSON.value(text) }
  }

  private static func checkPropertyLists(of value: Value) throws(BrokenLaw) {
    for format in PropertyList.Format.allCases {
      try BrokenLaw.check(
        value.fitting(format), as: "\(format)", mayNotFit: true, write: { PropertyList.write($0, as: format) }
      ) { (bytes) throws(Fault) in try PropertyList.read(bytes) }
    }
  }
}

extension Value {
  /// Whether a dictionary in the value has a single key that begins with `$`.
  fileprivate var hasTags: Bool {
    contains { value in
      guard case .dictionary(let entries) = value else { return false }
      return entries.count == 1 && entries.entries[0].key.hasPrefix("$")
    }
  }

  /// A number that no form can write is a number that no value can hold.
  fileprivate var isFinite: Bool { !contains { if case .double(let double) = $0 { !double.isFinite } else { false } } }

  private func contains(where isIt: (Value) -> Bool) -> Bool {
    switch self {
    case _ where isIt(self): true
    case .array(let elements): elements.contains { $0.contains(where: isIt) }
    case .set(let set): set.elements.contains { $0.contains(where: isIt) }
    case .dictionary(let entries): entries.entries.contains { $0.value.contains(where: isIt) }
    default: false
    }
  }
}

/// A manifest means the same in JSON, XML and binary, and each of its faults has a place.
enum ManifestLaws {
  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    let document = FuzzedDocument(input)
    let outcome = read(input)
    switch outcome {
    case .success(let manifest): try check(manifest, of: input)
    case .failure(let faults):
      if faults.all.isEmpty { throw BrokenLaw("refused without a reason") }
      // The place of each fault must exist in the document.
      for fault in faults.all.prefix(20) { try RefusalLaws.check(fault, of: document) }
    }
    if let tree = document.tree { try checkForms(of: tree, outcome) }
    if case .success = outcome { return .taken }
    return .refused
  }

  private static func read(_ bytes: [UInt8], installedAs: Text? = nil) -> Result<Manifest, Faults> {
    do throws(Faults) {
      return .success(try Manifest(bytes, installedAs: installedAs, types: FuzzedParser.types))
    } catch {
      return .failure(error)
    }
  }

  private static func check(_ manifest: Manifest, of input: [UInt8]) throws(BrokenLaw) {
    let names = manifest.configurations.map { [$0.role, $0.name] }
    if !ApplicationIdentifier.isValid(manifest.identifier) || names.isEmpty || Set(names).count < names.count
      || names.contains(where: \.[1].isEmpty) || manifest.exec != nil
    {
      throw BrokenLaw("taken as \(manifest)")
    }
    guard case .success(let installed) = read(input, installedAs: manifest.identifier) else {
      throw BrokenLaw("refused where it is installed as \(manifest.identifier)")
    }
    var heard = installed
    heard.exec = nil
    if heard != manifest { throw BrokenLaw("installed it is another manifest: \(installed), not \(manifest)") }
    if case .success = read(input, installedAs: Text(manifest.identifier.string + "2")) {
      throw BrokenLaw("\(manifest.identifier) may be installed as another")
    }
    for bytes in [Array(installed.json.string.utf8)] + installed.propertyLists {
      let again = read(bytes, installedAs: installed.identifier)
      if again != .success(installed) {
        throw BrokenLaw("\(again) came back, not \(installed), from \(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }

  // MARK: Forms

  /// `outcome` is the result of the document; its tree gives the same result in other forms.
  private static func checkForms(of tree: Value, _ outcome: Result<Manifest, Faults>) throws(BrokenLaw) {
    let expected = summary(outcome)
    if !tree.isFinite { return }
    // A tag would change its meaning: nobody looks for tags in a manifest.
    var forms = tree.tagged == tree ? [("JSON", Array(JSON.text(of: tree).string.utf8))] : []
    for format in PropertyList.Format.allCases where tree.fitting(format) == tree {
      forms.append(("\(format)", PropertyList.write(tree, as: format)))
    }
    for (form, bytes) in forms {
      let other = read(bytes)
      if case .failure(let faults) = other, faults.all.contains(where: { $0.kind == .limit }) { continue }
      if summary(other) != expected { throw BrokenLaw("as \(form): \(other), not \(outcome)") }
    }
  }

  /// A summary without what may depend on the form: JSON has an order of its keys, and a message shows the digits of a number.
  private static func summary(_ outcome: Result<Manifest, Faults>) -> Result<Manifest, Places> {
    outcome.mapError { faults in
      // If there are too many faults, the order determines which of them are reported.
      Places(places: faults.all.count > Limits.faults ? [] : faults.all.map(\.place).sorted())
    }
  }

  private struct Places: Error, Equatable { let places: [String] }
}
