/// An object of another connection, used through one of its interfaces.
///
/// ```swift
/// let connection = try await Connection.session()
/// let greeter = connection.object("org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter")
///
/// let greeting: String = try await greeter.call("Greet", "Ann")
/// let mood: String = try await greeter.get("Mood")
/// try await greeter.set("Mood", to: "merry")
/// print(greeting, mood)
/// for await signal in try await greeter.signals("Greeted") {
///   print("somebody greeted \(try signal.values(as: String.self))")
/// }
/// ```
public struct RemoteObject: Sendable {
  /// The connection that reaches the object.
  public let connection: Connection
  /// The owner of the object; `nil` between two peers.
  public let destination: BusName?
  /// The path of the object.
  public let path: ObjectPath
  /// The interface through which the object is used.
  public let interface: InterfaceName

  /// Calls a method and returns its values. See ``Connection/call(to:at:_:_:_:timeout:returning:)``.
  public nonisolated(nonsending) func call<each Argument: BusValue, each Value: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument, timeout: Duration? = .seconds(25),
    returning types: repeat (each Value).Type
  ) async throws(CallError) -> (repeat each Value) {
    try await connection.call(
      to: destination, at: path, interface, member, repeat each arguments, timeout: timeout,
      returning: repeat each types)
  }

  /// Calls a method that returns one value. The context determines the type of the value.
  @_disfavoredOverload
  public nonisolated(nonsending) func call<each Argument: BusValue, Value: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument, timeout: Duration? = .seconds(25)
  ) async throws(CallError) -> Value {
    try await connection.call(to: destination, at: path, interface, member, repeat each arguments, timeout: timeout)
  }

  /// Calls a method without waiting: the peer sends no reply, not even an error.
  public func send<each Argument: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument
  ) throws(CodingError) {
    try connection.send(to: destination, at: path, interface, member, repeat each arguments)
  }

  /// Reads a property.
  public nonisolated(nonsending) func get<Value: BusValue>(
    _ property: MemberName, as type: Value.Type = Value.self
  ) async throws(CallError) -> Value {
    let value: Variant = try await connection.call(
      to: destination, at: path, StandardInterfaces.properties.name, "Get", interface.rawValue, property.rawValue)
    do { return try Value(value) } catch { throw .unexpectedReply(error) }
  }

  /// Writes a property.
  public nonisolated(nonsending) func set<Value: BusValue>(
    _ property: MemberName, to value: Value
  ) async throws(CallError) {
    try await connection.call(
      to: destination, at: path, StandardInterfaces.properties.name, "Set", interface.rawValue, property.rawValue,
      value.variant)
  }

  /// Reads all properties.
  public nonisolated(nonsending) func properties() async throws(CallError) -> [String: Variant] {
    try await connection.call(
      to: destination, at: path, StandardInterfaces.properties.name, "GetAll", interface.rawValue)
  }

  /// The signals of this interface that the object emits: all of them, or the named one.
  public nonisolated(nonsending) func signals(
    _ member: MemberName? = nil, buffering: SignalBuffering = .newest(1024)
  ) async throws(CallError) -> SignalStream {
    try await connection.signals(
      MatchRule(sender: destination, path: path, interface: interface, member: member), buffering: buffering)
  }

  /// The announced changes of the object's properties.
  public nonisolated(nonsending) func propertyChanges(
    buffering: SignalBuffering = .newest(1024)
  ) async throws(CallError) -> SignalStream {
    try await connection.signals(
      MatchRule(
        sender: destination, path: path, interface: StandardInterfaces.properties.name, member: "PropertiesChanged",
        arguments: [0: interface.rawValue]),
      buffering: buffering)
  }

  /// The introspection document of the object.
  public nonisolated(nonsending) func introspect() async throws(CallError) -> Introspection.Node {
    let xml: String = try await connection.call(
      to: destination, at: path, StandardInterfaces.introspectable.name, "Introspect")
    do { return try Introspection.Node(xml: xml) } catch { throw .unexpectedReply(.invalidValue("\(error)")) }
  }
}

extension Connection {
  /// Names an object. Nothing is sent; whether the object exists shows when it is used.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// let bus = connection.object(.bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus")
  /// let names: [String] = try await bus.call("ListNames")
  /// print(names)
  /// ```
  public nonisolated func object(
    _ destination: BusName?, at path: ObjectPath, _ interface: InterfaceName
  ) -> RemoteObject {
    RemoteObject(connection: self, destination: destination, path: path, interface: interface)
  }
}
