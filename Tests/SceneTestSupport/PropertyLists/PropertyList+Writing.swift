package import SceneModel

// The service reads property lists and writes none. The tests write the lists that they read.
extension PropertyList {
  /// Reads the output of `write`.
  package static func readTagged(
    _ bytes: [UInt8], maximumLength: Int = Limits.manifest, at place: Place = .document
  ) throws(Fault) -> Value {
    let (tree, format) = try read(bytes, maximumLength: maximumLength)
    return try Value(tagged: tree, in: .propertyList(format), at: place)
  }

  /// Writes any value, in the same way each time. It reads back the same if it is within the limits of the reader.
  package static func write(_ value: Value, as format: Format) -> [UInt8] {
    let tree = value.tagged(in: .propertyList(format))
    switch format {
    case .xml: return XMLPropertyListWriter.document(of: tree)
    case .binary: return BinaryPropertyListWriter.document(of: tree)
    }
  }
}

extension DocumentWriting {
  package func propertyList(_ format: PropertyList.Format) -> [UInt8] { PropertyList.write(document, as: format) }
}
