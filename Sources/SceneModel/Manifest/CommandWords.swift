/// The words of a command line that no shell reads.
package enum CommandWords {
  /// The fault of a command line whose quote is not closed.
  package static let unclosed = "has a quotation mark without its other"

  /// Blanks separate the words. `"` and `'` enclose blanks; inside `"` a `\` takes the next character literally. `nil` if a quote is not closed.
  package static func words(of command: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Unicode.Scalar?
    var rest = command.unicodeScalars.makeIterator()
    func add(_ scalar: Unicode.Scalar) {
      word = word ?? ""
      word?.unicodeScalars.append(scalar)
    }
    while let next = rest.next() {
      switch next {
      case quote: quote = nil
      case "\\" where quote == "\"":
        guard let escaped = rest.next() else { return nil }
        add(escaped)
      case _ where quote != nil: add(next)
      case "\"", "'":
        quote = next
        word = word ?? ""
      case " ", "\t", "\n":
        if let word { words.append(word) }
        word = nil
      default: add(next)
      }
    }
    if quote != nil { return nil }
    if let word { words.append(word) }
    return words
  }
}
