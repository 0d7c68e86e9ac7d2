import SceneModel

/// A text of a rule in which variables stand.
struct Template: Sendable {
  enum Piece: Sendable {
    case literal(String)
    /// - Parameter column: The place of its name, for warnings.
    case variable(Text, column: Int)
  }

  let line: Int
  let pieces: [Piece]

  var variables: [(name: Text, column: Int)] {
    pieces.compactMap { if case .variable(let name, let column) = $0 { (name, column) } else { nil } }
  }

  /// The beginning that no variable changes.
  private var beginning: String { if case .literal(let text)? = pieces.first { text } else { "" } }

  /// The text, if no variable stands in it.
  var literal: Text? { variables.isEmpty ? Text(beginning) : nil }

  /// Whether the text begins with a scheme and a colon.
  var hasScheme: Bool {
    guard let colon = beginning.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    // Any path makes a URL of a scheme.
    return URLText.isValid(Text(String(beginning[...colon]) + "x"))
  }

  /// Whether the text is one variable and nothing else.
  var onlyVariable: Text? {
    if pieces.count == 1, case .variable(let name, _) = pieces[0] { name } else { nil }
  }

  /// The text with its variables replaced; `nil` if it has more bytes than `limit`.
  ///
  /// - Parameter isURL: Whether variables are percent-encoded.
  func text(_ variables: Variables, isURL: Bool = false, atMost limit: Int, _ steps: inout Int) -> Text? {
    var text = ""
    for piece in pieces {
      switch piece {
      case .literal(let literal): text += literal
      case .variable(let name, _):
        let value = variables[name] ?? .empty
        if value.count > limit { return nil }
        steps -= 8 + value.count / 4
        text += isURL ? FileURL.escaped(value, keepingSlashes: name == Variables.file) : value.string
      }
      if text.utf8.count > limit { return nil }
    }
    return Text(text)
  }
}

/// What the conditions of a rule have found: data, wherever it stands.
struct Variables {
  /// The path of the last condition about a file.
  static let file: Text = "file"

  /// A rule may have thousands.
  private var values: [Text: Text] = [:]

  subscript(name: Text) -> Text? {
    get { values[name] }
    set { values[name] = newValue }
  }

  mutating func removeAll() { values.removeAll(keepingCapacity: true) }
}
