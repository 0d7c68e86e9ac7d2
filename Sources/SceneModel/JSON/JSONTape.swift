/// A JSON document that was parsed and is well formed.
///
/// It is one row of nodes in the order of the text. Each node knows its bytes, and the node after itself and its contents. No part of the text
/// becomes a value before somebody asks for it, so skipping costs almost nothing, and the path to a node is found only when it is needed.
struct JSONTape {
  private(set) var nodes: [Node] = []

  struct Node {
    var kind: Kind
    /// For a text: whether it has a backslash, so that its bytes are not yet its meaning.
    var hasEscapes = false
    /// The bytes of the node: of a text without its quotes, of an array or object with its brackets.
    var start: UInt32
    var end: UInt32
    /// The index of the node after this one and its contents.
    var next: UInt32

    var range: Range<Int> { Int(start)..<Int(end) }
  }

  enum Kind: UInt8 { case null, `true`, `false`, integer, double, text, array, object }

  /// Refuses a `text` of more than `limit` bytes; a limit is far below the range of a 32-bit offset.
  init(_ text: Text, limit: Int) throws(Fault) {
    if text.count > limit { throw .tooLong(text.count, limit: limit, at: Place.document) }
    var scanner = JSONScanner()
    let error = text.withBytes { bytes -> JSONScanner.Failure? in
      do throws(JSONScanner.Failure) {
        try scanner.scan(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let error { throw error.fault(in: text) }
    nodes = scanner.nodes
  }
}
