/// The methods, properties and signals of an object under one name.
///
/// Each is declared once, as Swift types. The signature, the decoding, the encoding and the introspection document come from this declaration.
///
/// ```swift
/// var greeter = Interface("org.example.Greeter")
/// greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
/// greeter.property("Mood", constant: "calm")
/// let greeted = greeter.signal("Greeted", "name", of: String.self)
///
/// let connection = try await Connection.session()
/// connection.export(greeter, at: "/org/example/Greeter")
/// _ = try await connection.requestName("org.example.Greeter")
/// try connection.emit(greeted, from: "/org/example/Greeter", "Ann")
/// ```
///
/// An interface is a value: declare it once and export it at as many paths as you like. ``Call/path`` tells a handler which object was called.
public struct Interface: Sendable {
  /// A check before a call's arguments are decoded. It refuses the call by throwing.
  public typealias AccessCheck = @Sendable (Call) throws -> Void

  struct MethodEntry: Sendable {
    let inSignature: Signature
    let outSignature: Signature
    /// Whether the arguments may contain descriptors; a variant may.
    let takesDescriptors: Bool
    /// The number of values that the arguments may hold.
    var valueLimit = Interface.usualValueLimit
    var access: AccessCheck?
    let invoke: @Sendable (Call) throws -> Void
  }

  struct PropertyEntry: Sendable {
    let get: (@Sendable (PropertyAccess) throws -> Variant)?
    let set: (@Sendable (PropertyAccess, Variant, Reply<>) throws -> Void)?
    let signature: Signature
    let emits: EmitsChangedSignal
    /// Whether the property announces its own changes, as a stored property does.
    var announcesItself = false
  }

  private struct Declaration {
    var introspection: Introspection.Interface
    var methods: [MemberName: MethodEntry] = [:]
    var properties: [MemberName: PropertyEntry] = [:]
    var access: AccessCheck?
    var storedProperties: [StoredPropertyPlace] = []
    var rest: Later<Interface>?
  }

  /// Called with each place where the interface is exported, or no longer exported.
  typealias StoredPropertyPlace = @Sendable (Connection, ObjectPath, Bool) -> Void

  /// The interface's name.
  public let name: InterfaceName
  /// In an array of one, so that copying an interface, which happens for each call, copies one reference.
  private var declaration: [Declaration]

  /// The description of the interface for others.
  public var introspection: Introspection.Interface {
    var introspection = declaration[0].introspection
    if let rest = declaration[0].rest { introspection.methods += rest.value.introspection.methods }
    return introspection
  }
  private var methods: [MemberName: MethodEntry] { declaration[0].methods }
  var properties: [MemberName: PropertyEntry] { declaration[0].properties }
  var access: AccessCheck? { declaration[0].access }
  var storedProperties: [StoredPropertyPlace] { declaration[0].storedProperties }

  /// Makes an empty interface.
  public init(_ name: InterfaceName, documentation: String? = nil) {
    self.name = name
    declaration = [Declaration(introspection: Introspection.Interface(name, documentation: documentation))]
  }

  func method(_ member: MemberName) -> MethodEntry? {
    methods[member] ?? declaration[0].rest?.value.method(member)
  }

  /// Declares more methods, when somebody first asks for one that is not declared yet. A service that is started by a call answers sooner without them.
  package mutating func declareLater(_ declare: @escaping @Sendable (inout Interface) -> Void) {
    precondition(declaration[0].rest == nil, "\(name) has methods that are declared later")
    declaration[0].rest = Later { [name, methods] in
      var rest = Interface(name)
      declare(&rest)
      precondition(
        rest.methods.keys.allSatisfy { methods[$0] == nil } && rest.properties.isEmpty && rest.access == nil
          && rest.introspection.signals.isEmpty, "\(name) declares later what is no method, or is declared twice")
      return rest
    }
  }

  /// Runs `check` before each call of `members`, before the arguments are decoded. Without members, `check` runs before every use of this interface,
  /// including its properties, whose values are then not announced. A check replaces the previous one.
  ///
  /// ```swift
  /// var safe = Interface("org.example.Safe")
  /// safe.method("Open") { print("open") }
  /// safe.restrict("Open") { call in
  ///   guard call.knownCredentials?.userID == 0 else { throw ErrorReply(.accessDenied, "only root opens the safe") }
  /// }
  /// ```
  public mutating func restrict(_ members: MemberName..., by check: @escaping AccessCheck) {
    if members.isEmpty { declaration[0].access = check }
    for member in members {
      precondition(methods[member] != nil, "\(name) has no method \(member) to restrict")
      declaration[0].methods[member]?.access = check
    }
  }

  /// The number of values that the arguments of a method may hold by default: reading a value takes up to a microsecond, so this takes a second at
  /// most.
  static let usualValueLimit = 1 << 20

  /// Sets the number of values that the arguments of `members` may hold, counting containers and their contents. A call with more is refused with
  /// `LimitsExceeded` while it is read.
  ///
  /// ```swift
  /// var greeter = Interface("org.example.Greeter")
  /// greeter.method("GreetAll", in: "names") { (names: [String]) in print(names) }
  /// greeter.limit("GreetAll", values: 1000)
  /// ```
  public mutating func limit(_ members: MemberName..., values: Int) {
    for member in members {
      precondition(methods[member] != nil, "\(name) has no method \(member) to limit")
      declaration[0].methods[member]?.valueLimit = values
    }
  }

  /// Adds an annotation to a declared method, property or signal.
  ///
  /// ```swift
  /// var greeter = Interface("org.example.Greeter")
  /// greeter.method("Hail", in: "name") { (name: String) in print(name) }
  /// greeter.annotate("Hail", .deprecated)
  /// ```
  public mutating func annotate(_ member: MemberName, _ annotation: Introspection.Annotation) {
    change(member) { $0.annotations.append(annotation) }
  }

  /// Documents a declared method, property or signal. People who introspect the object can read the text.
  ///
  /// ```swift
  /// var greeter = Interface("org.example.Greeter")
  /// greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
  /// greeter.document("Greet", "A greeting for whoever has that name.")
  /// ```
  public mutating func document(_ member: MemberName, _ text: String) {
    change(member) { $0.documentation = text }
  }

  /// A method and a signal may have the same name; the change then applies to both.
  private mutating func change(_ member: MemberName, _ body: (inout any IntrospectionElement) -> Void) {
    var isFound = false
    func change<Element: IntrospectionElement>(_ elements: inout [Element], _ name: (Element) -> MemberName) {
      for index in elements.indices where name(elements[index]) == member {
        var element: any IntrospectionElement = elements[index]
        body(&element)
        if let element = element as? Element { elements[index] = element }
        isFound = true
      }
    }
    change(&declaration[0].introspection.methods, \.name)
    change(&declaration[0].introspection.properties, \.name)
    change(&declaration[0].introspection.signals, \.name)
    precondition(isFound, "\(name) has no member \(member)")
  }
}

// MARK: - The table

extension Interface {
  /// Every form of declaring a method ends here.
  mutating func addMethod<each Input: BusValue, each Output: BusValue>(
    _ member: MemberName, in inNames: [String], _ inputs: repeat (each Input).Type, out outNames: [String],
    _ outputs: repeat (each Output).Type, invoke: @escaping @Sendable (Call) throws -> Void
  ) {
    precondition(methods[member] == nil, "\(name).\(member) is declared twice")
    let (inArguments, inSignature) = arguments(of: member, inNames, repeat each inputs)
    let (outArguments, outSignature) = arguments(of: member, outNames, repeat each outputs)
    var method = Introspection.Method(member, in: inArguments, out: outArguments)
    if [inSignature, outSignature].contains(where: { $0.rawValue.utf8.contains(UInt8(ascii: "h")) }) {
      method.annotations.append(.unixFD)
    }
    declaration[0].introspection.methods.append(method)
    declaration[0].methods[member] = MethodEntry(
      inSignature: inSignature, outSignature: outSignature,
      takesDescriptors: inSignature.rawValue.utf8.contains { $0 == 0x68 || $0 == 0x76 }, invoke: invoke)
  }

  mutating func addStoredProperty(_ member: MemberName, _ place: @escaping StoredPropertyPlace) {
    declaration[0].properties[member]?.announcesItself = true
    declaration[0].storedProperties.append(place)
  }

  mutating func addProperty(_ member: MemberName, _ entry: PropertyEntry) {
    precondition(properties[member] == nil, "\(name).\(member) is declared twice")
    let access: Introspection.Access =
      entry.set == nil ? .read : entry.get == nil ? .write : .readWrite
    var property = Introspection.Property(member, entry.signature, access: access)
    if entry.emits != .true { property.annotations.append(.emitsChangedSignal(entry.emits)) }
    declaration[0].introspection.properties.append(property)
    declaration[0].properties[member] = entry
  }

  mutating func addSignal<each Value: BusValue>(
    _ member: MemberName, _ names: [String], _ types: repeat (each Value).Type
  ) -> Signature {
    precondition(declaration[0].introspection.signal(member) == nil, "\(name).\(member) is declared twice")
    let (arguments, signature) = arguments(of: member, names, repeat each types)
    declaration[0].introspection.signals.append(Introspection.Signal(member, arguments))
    return signature
  }

  private func arguments<each Value: BusValue>(
    of member: MemberName, _ names: [String], _ types: repeat (each Value).Type
  ) -> ([Introspection.Argument], Signature) {
    var signatures: [Signature] = []
    for type in repeat each types { signatures.append(type.signature) }
    precondition(
      names.count == signatures.count,
      "\(name).\(member) names \(names.count) arguments (\(names.joined(separator: ", "))) and has \(signatures.count)")
    let whole = Signature(unchecked: signatures.reduce(into: "") { $0 += $1.rawValue })
    if let fault = Signature.fault(in: whole.rawValue) {
      preconditionFailure("\(name).\(member) has arguments \(whole): \(fault)")
    }
    return (zip(names, signatures).map { Introspection.Argument($0, $1) }, whole)
  }
}
