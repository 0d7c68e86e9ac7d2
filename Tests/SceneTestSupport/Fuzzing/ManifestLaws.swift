import SceneModel

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
    let written = [Array(installed.json.string.utf8)] + PropertyList.Format.allCases.map { installed.propertyList($0) }
    for bytes in written {
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
    let forms: [(TaggedForm, (Value) -> [UInt8])] = [
      (.json, { Array(JSON.text(of: $0).string.utf8) }),
      (.propertyList(.xml), { PropertyList.write($0, as: .xml) }),
      (.propertyList(.binary), { PropertyList.write($0, as: .binary) }),
    ]
    // A tag would change its meaning: nobody looks for tags in a manifest.
    for (form, write) in forms where tree.isFinite && tree.tagged(in: form) == tree {
      let other = read(write(tree))
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

extension Value {
  /// A number that no form can write is a number that no value can hold.
  fileprivate var isFinite: Bool {
    switch self {
    case .double(let double): double.isFinite
    case .array(let elements): elements.allSatisfy(\.isFinite)
    case .set(let elements): elements.allSatisfy(\.isFinite)
    case .dictionary(let entries): entries.entries.allSatisfy { $0.value.isFinite }
    default: true
    }
  }
}
