/// Why the store did not do what it was asked. What was asked did not happen then, neither in memory nor on disk.
package struct StoreError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// There is no room: on the disk, or in the user's quota.
    case full
    /// The disk could not read or write.
    case io
    /// It may be read only, or not even that.
    case readOnly
    /// Another process has it.
    case locked
    /// It is not what a store looks like.
    case corrupt
    /// A later version of the program wrote it; it was left as it is.
    case newer
    case other
  }

  package let kind: Kind
  /// A sentence without its full stop; it names the file.
  package let message: String
  /// What the disk has now is not known: it may have kept what it refused, or lost what it took before.
  let leavesDoubt: Bool

  init(_ kind: Kind, _ message: String, leavesDoubt: Bool = false) {
    self.kind = kind
    self.message = message
    self.leavesDoubt = leavesDoubt
  }
}

extension StoreError {
  static func newer(_ file: String, _ version: Int64, _ schema: Schema) -> StoreError {
    StoreError(
      .newer,
      "\(file): has version \(version), of a later Stagedoor; this one knows \(schema.version). It was left as it is: start the later "
        + "one, or give this one another --state")
  }
}

extension StoreError: CustomStringConvertible {
  package var description: String { message }
}
