/// A JSON document, taken apart and found to be well formed.
///
/// It is one row of nodes in the order of the text, where each knows its bytes and the node that follows it and all that is
/// in it. Nothing of the text is turned into a value before someone asks for it, so what a reader skips costs next to nothing,
/// and the path to a node is only ever looked for when it has to be told.
struct JSONTape {
  private(set) var nodes: [Node] = []

  struct Node {
    var kind: Kind
    /// Of a text: it holds a backslash, so its bytes are not yet what they mean.
    var hasEscapes = false
    /// Its bytes: of a text those between the quotes, of an array or object with its brackets.
    var start: UInt32
    var end: UInt32
    /// The node after it and after everything in it.
    var next: UInt32
  }

  enum Kind: UInt8 { case null, `true`, `false`, integer, double, text, array, object }

  /// `text` has at most `limit` bytes, or is refused; a limit is far below what an offset of 32 bits can tell.
  init(_ text: Text, limit: Int) throws(Fault) {
    guard text.count <= limit else {
      throw Fault(.limit, at: .document, "expected at most \(limit) bytes, got \(text.count)")
    }
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

extension JSONTape.Node {
  var range: Range<Int> { Int(start)..<Int(end) }
}
