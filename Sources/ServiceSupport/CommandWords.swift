/// The words of a command line that no shell reads.
package enum CommandWords {
  /// Blanks separate the words. A `"` encloses a word with blanks, and inside it `\` takes the next character literally. `nil` if a quote is not
  /// closed.
  package static func words(of command: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var rest = command.unicodeScalars.makeIterator()
    while let next = rest.next() {
      switch next {
      case "\"":
        isQuoted.toggle()
        word = word ?? ""
      case "\\" where isQuoted:
        guard let escaped = rest.next() else { return nil }
        word = (word ?? "") + String(escaped)
      case " ", "\t", "\n":
        if isQuoted {
          word = (word ?? "") + String(next)
        } else if let whole = word {
          words.append(whole)
          word = nil
        }
      default: word = (word ?? "") + String(next)
      }
    }
    if isQuoted { return nil }
    if let word { words.append(word) }
    return words
  }
}
