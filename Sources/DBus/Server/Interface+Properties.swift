/// A reading or a change of a property.
///
/// ```swift
/// var book = Interface("org.example.Book")
/// book.property("Title", get: { (access: PropertyAccess) in "the book at \(access.path)" })
/// ```
public struct PropertyAccess: Sendable {
  /// The object of the property.
  public let path: ObjectPath
  /// The call that reads the property; `nil` if the value is about to be announced to all listeners.
  public let call: Call?
}

/// Declaring properties.
extension Interface {
  /// A computed property. Both closures run on the connection's loop.
  ///
  /// Call ``Connection/propertyChanged(_:of:at:)`` when its value changes. After `set` was called over the bus, the binding does so.
  ///
  /// ```swift
  /// let volume = StoredProperty(0.5)
  /// var player = Interface("org.example.Player")
  /// player.property("Percent", get: { UInt32(volume.value * 100) }, set: { volume.value = Double($0) / 100 })
  /// ```
  public mutating func property<Value: BusValue>(
    _ member: MemberName, emits: EmitsChangedSignal = .true, get: @escaping @Sendable () throws -> Value,
    set: (@Sendable (Value) throws -> Void)? = nil
  ) {
    property(
      member, emits: emits, get: { _ in try get() },
      set: set.map { set in { @Sendable _, value in try set(value) } })
  }

  /// A computed property whose closures use the object's path and the call.
  public mutating func property<Value: BusValue>(
    _ member: MemberName, emits: EmitsChangedSignal = .true,
    get: (@Sendable (PropertyAccess) throws -> Value)?, set: (@Sendable (PropertyAccess, Value) throws -> Void)? = nil
  ) {
    precondition(get != nil || set != nil, "\(name).\(member) can be neither read nor written")
    addProperty(
      member,
      PropertyEntry(
        get: get.map { get in { @Sendable access in try get(access).variant } },
        set: set.map { set in
          { @Sendable access, variant, reply in
            try set(access, try Value(variant))
            reply.send()
          }
        }, signature: Value.signature, emits: emits))
  }

  /// A property whose change is answered later: when it is stored, or when somebody else has agreed. See ``Reply``.
  ///
  /// `set` begins the change, and the holder of the reply ends it. ``Reply/send(_:)`` announces the property's new value, and then answers;
  /// ``Reply/fail(_:)`` answers that nothing has changed.
  ///
  /// ```swift
  /// let volume = StoredProperty(0.5)
  /// var player = Interface("org.example.Player")
  /// player.property(
  ///   "Volume", get: { (_: PropertyAccess) in volume.value },
  ///   set: { (_: PropertyAccess, value: Double, reply: Reply<>) in
  ///     Task {
  ///       volume.value = value
  ///       reply.send()
  ///     }
  ///   })
  /// ```
  public mutating func property<Value: BusValue>(
    _ member: MemberName, emits: EmitsChangedSignal = .true, get: (@Sendable (PropertyAccess) throws -> Value)?,
    set: @escaping @Sendable (PropertyAccess, Value, Reply<>) throws -> Void
  ) {
    addProperty(
      member,
      PropertyEntry(
        get: get.map { get in { @Sendable access in try get(access).variant } },
        set: { access, variant, reply in try set(access, try Value(variant), reply) },
        signature: Value.signature, emits: emits))
  }

  /// A property of an actor on the connection's loop.
  public mutating func property<Owner: Actor, Value: BusValue>(
    _ member: MemberName, emits: EmitsChangedSignal = .true, on actor: Owner,
    get: @escaping @Sendable (isolated Owner, PropertyAccess) throws -> Value,
    set: (@Sendable (isolated Owner, PropertyAccess, Value) throws -> Void)? = nil
  ) {
    property(
      member, emits: emits,
      get: { access in try actor.assumeIsolated { try get($0, access) } },
      set: set.map { set in { @Sendable access, value in try actor.assumeIsolated { try set($0, access, value) } } })
  }

  /// A property of an actor on the connection's loop, whose change is answered later.
  public mutating func property<Owner: Actor, Value: BusValue>(
    _ member: MemberName, emits: EmitsChangedSignal = .true, on actor: Owner,
    get: @escaping @Sendable (isolated Owner, PropertyAccess) throws -> Value,
    set: @escaping @Sendable (isolated Owner, PropertyAccess, Value, Reply<>) throws -> Void
  ) {
    property(
      member, emits: emits,
      get: { (access: PropertyAccess) in try actor.assumeIsolated { try get($0, access) } },
      set: { (access: PropertyAccess, value: Value, reply: Reply<>) in
        try actor.assumeIsolated { try set($0, access, value, reply) }
      })
  }

  /// A property that never changes.
  public mutating func property<Value: BusValue>(_ member: MemberName, constant: Value) {
    property(member, emits: .const, get: { (_: PropertyAccess) in constant })
  }

  /// A property that the binding keeps, and announces when it changes. With `writable`, callers may set it over the bus too.
  public mutating func property<Value: BusValue & Equatable>(
    _ member: MemberName, stored: StoredProperty<Value>, writable: Bool = false, emits: EmitsChangedSignal = .true
  ) {
    let interface = name
    stored.announce { connection, path in connection.propertyChanged(member, of: interface, at: path) }
    let set: @Sendable (PropertyAccess, Value) -> Void = { _, value in stored.value = value }
    property(member, emits: emits, get: { _ in stored.value }, set: writable ? set : nil)
    addStoredProperty(member, stored.attach)
  }
}

/// A property's value, which any thread can use, and which is announced when it changes.
///
/// ```swift
/// let mood = StoredProperty("calm")
/// var greeter = Interface("org.example.Greeter")
/// greeter.property("Mood", stored: mood)
///
/// let connection = try await Connection.session()
/// connection.export(greeter, at: "/org/example/Greeter")
/// mood.value = "merry"  // PropertiesChanged goes out
/// ```
public final class StoredProperty<Value: BusValue & Equatable>: Sendable {
  private struct State {
    var value: Value
    var places: [(connection: Connection, path: ObjectPath)] = []
    var announcement: (@Sendable (Connection, ObjectPath) -> Void)?
  }

  private let state: Lock<State>

  /// Makes a property with a first value.
  public init(_ value: Value) { state = Lock(State(value: value)) }

  /// The value. A new value is announced everywhere the interface is exported; the same value is not.
  public var value: Value {
    get { state.withLock(\.value) }
    set {
      let (places, announcement) = state.withLock { state in
        // Texts that only look alike are not the same on the bus, and a peer's might take long to compare as people read them.
        let isSame =
          if let old = state.value as? String, let new = newValue as? String {
            old.utf8.elementsEqual(new.utf8)
          } else {
            state.value == newValue
          }
        state.value = newValue
        return (isSame ? [] : state.places, state.announcement)
      }
      for place in places { announcement?(place.connection, place.path) }
    }
  }

  func announce(_ announcement: @escaping @Sendable (Connection, ObjectPath) -> Void) {
    state.withLock { state in
      precondition(state.announcement == nil, "a stored property belongs to one interface")
      state.announcement = announcement
    }
  }

  /// A place where the value is announced from now on, or no longer.
  @Sendable func attach(_ connection: Connection, _ path: ObjectPath, _ isExported: Bool) {
    state.withLock { state in
      state.places.removeAll { $0.connection === connection && $0.path == path }
      if isExported { state.places.append((connection, path)) }
    }
  }
}
