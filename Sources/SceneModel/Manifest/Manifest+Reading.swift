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
      let list = try PropertyList.read(bytes, expected: "JSON, or a property list in XML or binary")
      return ManifestReader.read(PropertyListNode(list), installedAs: installedAs, types: types)
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
