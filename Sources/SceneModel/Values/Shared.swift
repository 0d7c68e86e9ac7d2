/// A value in a box that its copies share: a copy costs as much as that of one reference.
///
/// It is public because the compiler inlines nothing of a `package` type in other modules.
public struct Shared<Value: Sendable>: Sendable {
  @usableFromInline var box: Box

  // A box changes only after `value` has found that no other copy shares it.
  @usableFromInline final class Box: @unchecked Sendable {
    @usableFromInline @exclusivity(unchecked) var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  /// A box of its own.
  @inlinable
  public init(_ value: Value) { box = Box(value) }

  /// The value. A change copies the box first, if another copy shares it.
  @inlinable public var value: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

extension Shared: Equatable where Value: Equatable {
  /// Compares the values.
  public static func == (one: Shared, other: Shared) -> Bool {
    one.box === other.box || one.box.value == other.box.value
  }
}

extension Shared: Hashable where Value: Hashable {
  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { box.value.hash(into: &hasher) }
}

/// A value whose fields are in a box that its copies share, and read like its own properties.
@dynamicMemberLookup
public protocol Boxed {
  /// The fields.
  associatedtype Fields: Sendable
  /// The box.
  var fields: Shared<Fields> { get set }
}

extension Boxed {
  /// A field.
  @inlinable
  public subscript<Value>(dynamicMember field: KeyPath<Fields, Value>) -> Value {
    get { fields.value[keyPath: field] }
  }

  /// A field that may change.
  @inlinable
  public subscript<Value>(dynamicMember field: WritableKeyPath<Fields, Value>) -> Value {
    get { fields.value[keyPath: field] }
    _modify { yield &fields.value[keyPath: field] }
  }
}
