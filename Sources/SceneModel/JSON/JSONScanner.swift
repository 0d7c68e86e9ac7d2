/// A JSON document that was parsed and is well formed.
///
/// All nodes are in one array, in the order of the text. Each node knows its bytes, and where its contents end. No part of the text becomes a value
/// before somebody asks for it, so skipping costs almost nothing, and the path to a node is found only when it is needed.
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

  /// Refuses a `text` of more than `limit` bytes; offsets have 32 bits, and SQLite stores no text that long. The text has at most
  /// `values` values, keys included.
  init(_ text: Text, limit: Int, values: Int) throws(Fault) {
    if text.count > limit { throw .tooLong(text.count, limit: limit, at: Place.document) }
    var scanner = JSONScanner(values: values)
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

/// Scans a JSON text once, from the first byte to the last, and records its nodes.
///
/// It never calls itself: the open containers are in a list with a limit, so megabytes of brackets cost no stack.
struct JSONScanner {
  typealias Node = JSONTape.Node

  let values: Int
  private(set) var nodes: [Node] = []
  /// The open arrays and objects, outermost first, by their index in `nodes`.
  private var open: [Int] = []
  private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  private var offset = 0

  init(values: Int) { self.values = values }

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// A fault and its byte. Lines and columns are counted only when the fault is reported.
  struct Failure: Error {
    var kind = Fault.Kind.invalid
    let offset: Int
    let reason: String
  }

  mutating func scan(_ text: UnsafeRawBufferPointer) throws(Failure) {
    bytes = text
    // Most documents have a node for every eight bytes or fewer.
    nodes.reserveCapacity(min(text.count / 8 + 4, values))
    open.reserveCapacity(8)
    if bytes.starts(with: JSONScanner.byteOrderMark) { offset = JSONScanner.byteOrderMark.count }
    try value()
    while let container = open.last { try member(of: container) }
    skipBlanks()
    if offset < bytes.count { throw expected("the end of the document") }
  }

  /// Reads one more member of the innermost container, or its end.
  private mutating func member(of container: Int) throws(Failure) {
    let isObject = nodes[container].kind == .object
    let isFirst = nodes.count == container + 1
    skipBlanks()
    if sees(isObject ? "}" : "]") {
      offset += 1
      try close(container)
      return
    }
    if !isFirst {
      guard sees(",") else { throw expected(isObject ? "\",\" or \"}\"" : "\",\" or \"]\"") }
      offset += 1
      skipBlanks()
    }
    if isObject {
      guard sees("\"") else { throw expected(isFirst ? "a key in double quotes or \"}\"" : "a key in double quotes") }
      try text()
      skipBlanks()
      guard sees(":") else { throw expected("\":\" after the key") }
      offset += 1
    }
    try value()
  }

  private mutating func close(_ container: Int) throws(Failure) {
    open.removeLast()
    nodes[container].end = UInt32(truncatingIfNeeded: offset)
    nodes[container].next = UInt32(truncatingIfNeeded: nodes.count)
    if nodes[container].kind == .object, let duplicate = JSONKeys.duplicate(in: nodes, of: container, bytes) {
      let key = JSONText.decoded(nodes[duplicate], bytes)
      throw Failure(offset: Int(nodes[duplicate].start) - 1, reason: "the key \(quoted(key)) stands here twice")
    }
  }

  // MARK: Values

  private mutating func value() throws(Failure) {
    skipBlanks()
    guard offset < bytes.count else { throw expected("a value") }
    switch bytes[offset] {
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "{"): try begin(.object)
    case UInt8(ascii: "["): try begin(.array)
    case UInt8(ascii: "t"): try word("true", .true)
    case UInt8(ascii: "f"): try word("false", .false)
    case UInt8(ascii: "n"): try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw expected("a value")
    }
  }

  private mutating func begin(_ kind: JSONTape.Kind) throws(Failure) {
    if open.count == Limits.depth {
      throw Failure(kind: .limit, offset: offset, reason: "expected at most \(Limits.depth) levels of nesting")
    }
    open.append(nodes.count)
    try append(kind, from: offset, to: offset)
    offset += 1
  }

  private mutating func append(
    _ kind: JSONTape.Kind, hasEscapes: Bool = false, from start: Int, to end: Int
  ) throws(Failure) {
    if nodes.count >= values {
      throw Failure(kind: .limit, offset: start, reason: "expected at most \(values) values in a document")
    }
    nodes.append(
      Node(
        kind: kind, hasEscapes: hasEscapes, start: UInt32(truncatingIfNeeded: start),
        end: UInt32(truncatingIfNeeded: end), next: UInt32(truncatingIfNeeded: nodes.count + 1)))
  }

  private mutating func word(_ word: StaticString, _ kind: JSONTape.Kind) throws(Failure) {
    let start = offset
    let isIt = word.withUTF8Buffer { wanted in
      start + wanted.count <= bytes.count && bytes[start..<(start + wanted.count)].elementsEqual(wanted)
    }
    // A word that only begins the same was not meant to be this one.
    guard isIt else { throw expected("\(word)".hasPrefix(JSONText.word(bytes, at: start)) ? "\(word)" : "a value") }
    offset += word.utf8CodeUnitCount
    try append(kind, from: start, to: offset)
  }

  private mutating func number() throws(Failure) {
    let start = offset
    var kind = JSONTape.Kind.integer
    if sees("-") { offset += 1 }
    if sees("0") {
      offset += 1
      if seesDigit { throw Failure(offset: offset, reason: "expected no digit after a leading 0") }
    } else {
      try digits("a digit")
    }
    if sees(".") {
      kind = .double
      offset += 1
      try digits("a digit after the point")
    }
    if sees("e") || sees("E") {
      kind = .double
      offset += 1
      if sees("+") || sees("-") { offset += 1 }
      try digits("a digit of the exponent")
    }
    try append(kind, from: start, to: offset)
  }

  private mutating func digits(_ what: String) throws(Failure) {
    let start = offset
    while seesDigit { offset += 1 }
    if offset == start { throw expected(what) }
  }

  private var seesDigit: Bool { offset < bytes.count && bytes[offset] &- UInt8(ascii: "0") < 10 }

  // MARK: Text

  private mutating func text() throws(Failure) {
    let start = offset + 1
    var place = start
    var hasEscapes = false
    while true {
      place = JSONText.plainEnd(bytes, from: place)
      guard place < bytes.count else {
        throw Failure(offset: start - 1, reason: "expected text to end with a double quote")
      }
      if bytes[place] == UInt8(ascii: "\"") { break }
      guard bytes[place] == UInt8(ascii: "\\") else {
        throw Failure(
          offset: place,
          reason: "expected no control characters in text: write \\n, \\t or \\u00" + hexadecimal(bytes[place]))
      }
      hasEscapes = true
      guard let end = JSONText.escapeEnd(bytes, at: place) else {
        throw Failure(
          offset: place, reason: "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, surrogates in pairs")
      }
      place = end
    }
    offset = place + 1
    try append(.text, hasEscapes: hasEscapes, from: start, to: place)
  }

  // MARK: Small pieces

  private mutating func skipBlanks() {
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"): offset += 1
      default: return
      }
    }
  }

  private func sees(_ character: Unicode.Scalar) -> Bool {
    offset < bytes.count && bytes[offset] == UInt8(ascii: character)
  }

  private func expected(_ what: String) -> Failure {
    let got = offset < bytes.count ? quoted(JSONText.word(bytes, at: offset)) : "the end of the document"
    return Failure(offset: offset, reason: "expected \(what), got \(got)")
  }
}

extension JSONScanner.Failure {
  /// The fault for people: lines and columns from 1, columns in characters of Unicode. A byte order mark does not count.
  func fault(in text: Text) -> Fault {
    let mark = text.string.utf8.starts(with: JSONScanner.byteOrderMark) ? JSONScanner.byteOrderMark.count : 0
    var (line, column) = (1, 1)
    for byte in text.string.utf8.prefix(offset).dropFirst(mark) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return Fault(kind, at: "line \(line), column \(column)", reason)
  }
}
