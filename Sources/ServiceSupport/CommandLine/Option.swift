import SceneModel

/// An option of a program or a command. Commands for which it means the same share it.
package struct Option: Sendable {
  /// The name without its two hyphens.
  package let name: String
  package var letter: Character?
  /// `nil` for an option without a value.
  package var value: ValueKind?
  package let help: String
  /// Whether it may be given several times.
  package var isRepeated = false
  package var isRequired = false
  /// Whether nothing behind it is read: help is shown, however wrong the rest is.
  package var endsReading = false

  package init(
    name: String, letter: Character? = nil, value: ValueKind? = nil, help: String, isRepeated: Bool = false,
    isRequired: Bool = false, endsReading: Bool = false
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.help = help
    self.isRepeated = isRepeated
    self.isRequired = isRequired
    self.endsReading = endsReading
  }

  package var shown: String { value.map { "--\(name) \($0.placeholder)" } ?? "--\(name)" }

  var shownWithLetter: String { (letter.map { "-\($0), " } ?? "    ") + shown }

  /// The help, and the possible values.
  package var helpWithWords: String {
    guard case .words(let words)? = value?.completion, !words.allSatisfy({ help.hasWord($0) }) else {
      return help + (isRepeated ? "; can be given several times" : "")
    }
    return "\(help): \(words.listed("or"))"
  }

  package static let help = Option(name: "help", letter: "h", help: "show this help", endsReading: true)
  package static let version = Option(name: "version", letter: "V", help: "show the version", endsReading: true)
}

package struct Argument: Sendable {
  package let kind: ValueKind
  package let help: String
  package var isOptional = false
  /// Whether it is the last, and may be given several times.
  package var isRepeated = false

  package init(kind: ValueKind, help: String, isOptional: Bool = false, isRepeated: Bool = false) {
    self.kind = kind
    self.help = help
    self.isOptional = isOptional
    self.isRepeated = isRepeated
  }

  /// The argument in a synopsis: `[FILE]...`.
  package var shown: String {
    (isOptional ? "[\(kind.placeholder)]" : kind.placeholder) + (isRepeated ? "..." : "")
  }
}

/// A kind of value: its name in the help, the values that exist, and how a shell completes them.
package struct ValueKind: Sendable {
  package let placeholder: String
  package var completion = Completion.none
  /// The fault of a value, as the end of a sentence; `nil` for a valid value.
  package var complaint: @Sendable (String) -> String?

  package enum Completion: Sendable {
    case none
    case words([String])
    case files
    case programs
    /// Values that only the program knows, under a name that it gives them.
    case own(String)
  }

  package init(
    placeholder: String, completion: Completion = .none,
    complaint: @escaping @Sendable (String) -> String? = { _ in nil }
  ) {
    self.placeholder = placeholder
    self.completion = completion
    self.complaint = complaint
  }

  package static func words(_ placeholder: String, _ words: String...) -> ValueKind {
    ValueKind(placeholder: placeholder, completion: .words(words)) { value in
      words.contains(value)
        ? nil : "must be \(words.count == 1 ? "the word " : "")\(words.listed("or")), not \"\(value.printable)\""
    }
  }

  /// Several of these words, with commas between them.
  package static func list(_ placeholder: String, of words: [String]) -> ValueKind {
    ValueKind(placeholder: placeholder, completion: .words(words)) { value in
      value.split(separator: ",", omittingEmptySubsequences: false).first { !words.contains(String($0)) }.map {
        "takes \(words.listed("or")), not \"\(String($0).printable)\""
      }
    }
  }

  package static func nonempty(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder: placeholder) { value in value.isEmpty ? "takes a text, not \"\"" : nil }
  }

  package static func number(_ placeholder: String, from least: UInt64 = 0, to most: UInt64 = .max) -> ValueKind {
    ValueKind(placeholder: placeholder) { value in
      if let number = UInt64(value), number >= least, number <= most { return nil }
      let range = most == .max ? "of \(least) or more" : "from \(least) to \(most)"
      return "takes a whole number \(range), not \"\(value.printable)\""
    }
  }
}

extension String {
  fileprivate func hasWord(_ word: String) -> Bool { split { !($0.isLetter || $0 == "-") }.contains { $0 == word } }
}
