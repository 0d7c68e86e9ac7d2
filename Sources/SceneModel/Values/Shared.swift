/// A value in a box that its copies share: a copy costs as much as that of one reference.
struct Shared<Value: Hashable & Sendable>: Hashable, Sendable {
  private var box: Box

  /// Only its single owner changes it.
  private final class Box: @unchecked Sendable {
    @exclusivity(unchecked) var value: Value

    init(_ value: Value) { self.value = value }
  }

  init(_ value: Value) { box = Box(value) }

  var value: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }

  static func == (one: Shared, other: Shared) -> Bool { one.box === other.box || one.box.value == other.box.value }
  func hash(into hasher: inout Hasher) { box.value.hash(into: &hasher) }
}
