import XML

/// Makes the values of a property list in XML. `Limits.depth` bounds its recursion.
struct XMLPropertyListReader {
  private var scanner: XMLScanner
  private var values = 0

  init(_ bytes: [UInt8]) throws(Fault) {
    do throws(XMLError) {
      // Elements nest like containers, except <plist> and the innermost ones.
      scanner = try XMLScanner(bytes, maximumLength: bytes.count, maximumDepth: Limits.depth + 2)
    } catch {
      throw Fault(error)
    }
  }

  mutating func document() throws(Fault) -> Value {
    guard let root = try nextElement(in: nil) else {
      preconditionFailure("the scanner refuses a document without a root")
    }
    guard root.name == "plist" else {
      throw fault(
        "expected <plist> as the root, got <\(XMLText.excerpt(root.name.string))>", at: root.offset)
    }
    guard let tag = try nextElement(in: root) else { throw fault("expected a value in <plist>", at: root.offset) }
    let value = try value(tag, depth: 1)
    if let second = try nextElement(in: root) { throw fault("expected one value in <plist>", at: second.offset) }
    while try next() != .endOfDocument {}
    return value
  }

  // MARK: Values

  /// The content of the element that has just begun, up to its end.
  private mutating func value(_ tag: XMLTag, depth: Int) throws(Fault) -> Value {
    values += 1
    if values > Limits.values { throw fault("expected at most \(Limits.values) values", at: tag.offset, kind: .limit) }
    switch tag.name {
    case "string": return .string(Text(try text(of: tag)))
    case "dict": return .dictionary(try dictionary(tag, depth: depth))
    case "array": return .array(try array(tag, depth: depth))
    case "true", "false":
      if let inner = try nextElement(in: tag) { throw fault("expected nothing in <\(tag.name)>", at: inner.offset) }
      return .bool(tag.name == "true")
    case "integer": return .integer(try scalar(tag, "an integer from -2^63 to 2^63-1", PropertyListText.integer))
    case "real": return .double(try scalar(tag, "a finite number", PropertyListText.double))
    case "date":
      return .date(try scalar(tag, "a date such as 2026-05-01T12:00:00Z") { Instant(rfc3339: Text($0)) })
    case "data":
      if let data = Base64.decode(Text(try text(of: tag))) { return .data(data) }
      throw fault("expected base64 in <data>", at: tag.offset)
    default:
      throw fault("expected a property list's element, got <\(XMLText.excerpt(tag.name.string))>", at: tag.offset)
    }
  }

  private mutating func array(_ tag: XMLTag, depth: Int) throws(Fault) -> [Value] {
    try checkDepth(depth, at: tag)
    var elements: [Value] = []
    while let element = try nextElement(in: tag) { elements.append(try value(element, depth: depth + 1)) }
    return elements
  }

  private mutating func dictionary(_ tag: XMLTag, depth: Int) throws(Fault) -> UserInfo {
    try checkDepth(depth, at: tag)
    var entries: [UserInfo.Entry] = []
    var offsets: [Int] = []
    while let element = try nextElement(in: tag) {
      guard element.name == "key" else {
        throw fault("expected <key>, got <\(XMLText.excerpt(element.name.string))>", at: element.offset)
      }
      let key = Text(try text(of: element))
      guard let value = try nextElement(in: tag), value.name != "key" else {
        throw fault("expected a value for the key \(quoted(key.string))", at: element.offset)
      }
      entries.append(.init(key: key, value: try self.value(value, depth: depth + 1)))
      offsets.append(element.offset)
    }
    if let made = UserInfo(entries) { return made }
    let key = UserInfo.duplicate(in: entries)
    let second = entries.indices.filter { entries[$0].key == key }.dropFirst().first
    throw fault(
      "expected no second key \(quoted((key ?? .empty).string))", at: second.map { offsets[$0] } ?? tag.offset)
  }

  private func checkDepth(_ depth: Int, at tag: XMLTag) throws(Fault) {
    if depth > Limits.depth {
      throw fault("expected values to nest at most \(Limits.depth) deep", at: tag.offset, kind: .limit)
    }
  }

  private mutating func scalar<Scalar>(
    _ tag: XMLTag, _ expected: String, _ read: (String) -> Scalar?
  ) throws(Fault) -> Scalar {
    let text = PropertyListText.trimmed(try text(of: tag))
    if let scalar = read(text) { return scalar }
    throw fault("expected \(expected), got \(quoted(text))", at: tag.offset)
  }
}

// MARK: - The steps through a document

extension XMLPropertyListReader {
  /// The next element inside `parent`, or `nil` at the end of `parent`.
  private mutating func nextElement(in parent: XMLTag?) throws(Fault) -> XMLTag? {
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
  private mutating func text(of tag: XMLTag) throws(Fault) -> String {
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

  private mutating func next() throws(Fault) -> XMLToken {
    do throws(XMLError) { return try scanner.next() } catch { throw Fault(error) }
  }

  private func fault(_ reason: String, at offset: Int, kind: Fault.Kind = .invalid) -> Fault {
    Fault(kind, at: Fault.place(scanner.position(of: offset)), reason)
  }
}

extension Fault {
  fileprivate init(_ error: XMLError) {
    let kind: Kind =
      switch error.kind {
      case .malformed: .invalid
      case .limitExceeded: .limit
      }
    self.init(kind, at: Fault.place(error.position), error.reason)
  }

  fileprivate static func place(_ position: XMLPosition) -> String {
    "line \(position.line), column \(position.column)"
  }
}

enum PropertyListText {
  /// The text without the white space around it.
  static func trimmed(_ text: String) -> String {
    let bytes = text.utf8
    guard let first = bytes.firstIndex(where: { !PropertyList.isBlank($0) }),
      let last = bytes.lastIndex(where: { !PropertyList.isBlank($0) })
    else { return "" }
    return String(text[first...last])
  }

  /// Decimal or, after `0x`, hexadecimal; a sign may come before either.
  static func integer(_ text: String) -> Int64? {
    var digits = Substring(text)
    let sign = digits.first == "-" || digits.first == "+" ? digits.removeFirst() : "+"
    let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    if isHexadecimal { digits.removeFirst(2) }
    // The initializer would take a sign here.
    if digits.first == "-" || digits.first == "+" { return nil }
    return Int64("\(sign)\(digits)", radix: isHexadecimal ? 16 : 10)
  }

  /// Finite and decimal: no writer produces the other forms of `Double`, such as "nan" and "0x1p3". The exact value of a double has some
  /// eight hundred digits at most, and no reader needs more.
  static func double(_ text: String) -> Double? {
    let isDecimal = text.utf8.count <= 2_048 && text.utf8.allSatisfy("0123456789+-.eE".utf8.contains)
    guard isDecimal, let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
