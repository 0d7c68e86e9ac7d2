/// The reason why the store refused a request. The request then had no effect, neither in memory nor on the disk.
package struct StoreError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The disk is full, or the user's quota is used up.
    case full
    /// The disk could not read or write.
    case io
    /// The file may only be read, or not even that.
    case readOnly
    /// Another process has the store.
    case locked
    /// The file is not a store.
    case corrupt
    /// A later version of the program wrote the file; it stays as it is.
    case newer
    case other
  }

  package let kind: Kind
  /// A sentence without its full stop. It names the file.
  package let message: String
  /// Whether the contents of the disk are unknown: the disk may have kept a refused change, or lost an earlier one.
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
