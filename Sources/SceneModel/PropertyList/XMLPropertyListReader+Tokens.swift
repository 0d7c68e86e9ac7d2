import XML

/// The steps through a document that the reading of a value consists of.
extension XMLPropertyListReader {
  /// The next element inside `parent`, or `nil` at the end of `parent`.
  mutating func nextElement(in parent: XMLTag?) throws(Fault) -> XMLTag? {
    while true {
      let start = scanner.index
      switch try next() {
      case .start(let tag): return tag
      case .end, .endOfDocument: return nil
      case .text(let text) where !text.utf8.allSatisfy(XMLText.isBlank):
        let name = parent.map { " in <\($0.name)>" } ?? ""
        throw Fault(at: Fault.place(scanner.position(ofTextFrom: start)), "expected no text\(name)")
      case .text, .comment, .declaration: break
      }
    }
  }

  /// The text of an element without child elements.
  mutating func text(of tag: XMLTag) throws(Fault) -> String {
    var whole = ""
    while true {
      switch try next() {
      case .text(let text): whole += text
      case .start(let inner): throw fault("expected only text in <\(tag.name)>", at: inner.offset)
      case .end, .endOfDocument: return whole
      case .comment, .declaration: break
      }
    }
  }

  mutating func next() throws(Fault) -> XMLToken {
    do throws(XMLError) { return try scanner.next() } catch { throw Fault(error) }
  }

  func fault(_ reason: String, at offset: Int, kind: Fault.Kind = .invalid) -> Fault {
    Fault(kind, at: Fault.place(scanner.position(of: offset)), reason)
  }
}

extension Fault {
  init(_ error: XMLError) {
    let kind: Kind =
      switch error.kind {
      case .malformed: .invalid
      case .limitExceeded: .limit
      }
    self.init(kind, at: Fault.place(error.position), error.reason)
  }

  static func place(_ position: XMLPosition) -> String {
    "line \(position.line), column \(position.column)"
  }
}
