/// The signals to receive. A field that is `nil` matches everything.
///
/// Every rule slows every signal on the bus a little: give as many fields as you know.
///
/// ```swift
/// let rule = MatchRule(sender: "org.example.Player", interface: "org.example.Player", member: "TrackChanged")
/// print(rule)
/// // type='signal',sender='org.example.Player',interface='org.example.Player',member='TrackChanged'
/// ```
public struct MatchRule: Sendable, Hashable {
  /// The sender. A well-known name stands for its present owner.
  public var sender: BusName?
  /// The object that emits the signal.
  public var path: ObjectPath?
  /// The object that emits the signal, or an ancestor of it.
  public var pathNamespace: ObjectPath?
  /// The signal's interface.
  public var interface: InterfaceName?
  /// The name of the signal.
  public var member: MemberName?
  /// String arguments that must have these values, by their index; at most 63.
  public var arguments: [Int: String]
  /// The first argument is this name, or a name below it: `com.example` also matches `com.example.a`.
  public var argument0Namespace: String?

  /// Makes a rule.
  public init(
    sender: BusName? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil, interface: InterfaceName? = nil,
    member: MemberName? = nil, arguments: [Int: String] = [:], argument0Namespace: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.arguments = arguments
    self.argument0Namespace = argument0Namespace
  }
}

extension MatchRule: CustomStringConvertible {
  /// The rule in the bus's spelling.
  public var description: String {
    var text = "type='signal'"
    func add(_ key: String, _ value: String?) {
      guard let value else { return }
      text += ",\(key)='"
      // A quote cannot stand inside quotes: it goes between two quoted parts.
      for scalar in value.unicodeScalars {
        if scalar == "'" { text += #"'\''"# } else { text.unicodeScalars.append(scalar) }
      }
      text += "'"
    }
    add("sender", sender?.rawValue)
    add("path", path?.rawValue)
    add("path_namespace", pathNamespace?.rawValue)
    add("interface", interface?.rawValue)
    add("member", member?.rawValue)
    add("arg0namespace", argument0Namespace)
    for (index, value) in arguments.sorted(by: { $0.key < $1.key }) { add("arg\(index)", value) }
    return text
  }
}

extension MatchRule {
  /// Compares the bytes that the bus gets. Strings would be equal as people read them, so the bus would not be told of the second of two rules. Names are
  /// ASCII. Composing the texts for it would cost a start of the service a tenth.
  public static func == (left: MatchRule, right: MatchRule) -> Bool {
    func isSame(_ one: String?, _ other: String?) -> Bool {
      guard let one, let other else { return one == nil && other == nil }
      return one.utf8.elementsEqual(other.utf8)
    }
    return left.sender == right.sender && left.path == right.path && left.pathNamespace == right.pathNamespace
      && left.interface == right.interface && left.member == right.member
      && isSame(left.argument0Namespace, right.argument0Namespace) && left.arguments.count == right.arguments.count
      && left.arguments.allSatisfy { isSame($1, right.arguments[$0]) }
  }

  /// Hashes those bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sender)
    hasher.combine(path)
    hasher.combine(pathNamespace)
    hasher.combine(interface)
    hasher.combine(member)
    func combine(_ text: String) {
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
    if let argument0Namespace { combine(argument0Namespace) }
    for (index, value) in arguments.sorted(by: { $0.key < $1.key }) {
      hasher.combine(index)
      combine(value)
    }
  }
}

extension MatchRule {
  /// Whether the signal fits. `owner` is the present owner of the sender's name.
  ///
  /// The bus has matched the signal with all rules of this connection together, and has not matched a signal that was sent to this connection alone.
  func matches(_ signal: borrowing Message, sender actual: BusName?, owner: BusName?) -> Bool {
    if let sender {
      // Between two peers there are no names, and only one possible sender.
      if let actual, actual != sender && actual != owner { return false }
    }
    if let member, member != signal.member { return false }
    if let interface, interface != signal.interface { return false }
    if path != nil || pathNamespace != nil {
      guard let actual = signal.path else { return false }
      if let path, path != actual { return false }
      if let pathNamespace, pathNamespace != actual && !actual.isDescendant(of: pathNamespace) { return false }
    }
    return (arguments.isEmpty && argument0Namespace == nil) || argumentsMatch(signal)
  }

  /// Reads only the strings that the rule asks for.
  private func argumentsMatch(_ signal: borrowing Message) -> Bool {
    var reader = MessageReader(signal.raw)
    guard arguments.keys.allSatisfy((0...63).contains) else { return false }
    let last = arguments.keys.max() ?? 0
    for index in 0...last {
      let text = reader.nextType == .string ? try? String.read(from: &reader) : nil
      if text == nil { reader.skip() }
      // Byte by byte, as the bus does: a signal that came to this connection alone may have a letter with a million accents.
      let bytes = text?.utf8
      if let expected = arguments[index] {
        guard let bytes, bytes.elementsEqual(expected.utf8) else { return false }
      }
      if index == 0, let name = argument0Namespace?.utf8 {
        guard let rest = bytes?.dropFirst(name.count), bytes?.starts(with: name) == true else { return false }
        if let next = rest.first, next != UInt8(ascii: ".") { return false }
      }
    }
    return true
  }
}
