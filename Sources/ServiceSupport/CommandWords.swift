/// The words of a command line that no shell reads.
package enum CommandWords {
  /// Blanks separate the words. `"` and `'` enclose blanks; inside `"` a `\` takes the next character literally. `nil` if a quote is not closed.
  package static func words(of command: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Unicode.Scalar?
    var rest = command.unicodeScalars.makeIterator()
    while let next = rest.next() {
      switch next {
      case quote: quote = nil
      case "\\" where quote == "\"":
        guard let escaped = rest.next() else { return nil }
        word = (word ?? "") + String(escaped)
      case _ where quote != nil: word = (word ?? "") + String(next)
      case "\"", "'":
        quote = next
        word = word ?? ""
      case " ", "\t", "\n":
        if let word { words.append(word) }
        word = nil
      default: word = (word ?? "") + String(next)
      }
    }
    if quote != nil { return nil }
    if let word { words.append(word) }
    return words
  }
}
