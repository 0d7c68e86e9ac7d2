package import DBus

/// Virtual objects: one for each number, made when somebody asks for it.
package enum Number {
  package static let path: ObjectPath = "/org/stagedoor/Showcase1/numbers"
  private static let all: ClosedRange<UInt32> = 1...30

  package static var interface: Interface {
    var interface = Interface("org.stagedoor.Showcase1.Number", documentation: "The number that the path ends with.")
    interface.property("Value", emits: .const, get: { (access: PropertyAccess) in try value(at: access.path) })
    interface.method("Factors", out: "factors") { (call: Call) in factors(of: try value(at: call.path)) }
    return interface
  }

  static func subtree(of interface: Interface) -> Subtree {
    Subtree(
      interfaces: { path, _ in (try? value(at: path)) == nil ? nil : [interface] },
      children: { _ in all.map(String.init) })
  }

  private static func value(at path: ObjectPath) throws -> UInt32 {
    // "07" is refused, because each number has one path.
    guard let value = UInt32(path.lastElement), all.contains(value), String(value) == path.lastElement else {
      throw ErrorReply(.unknownObject, "there is no number at \(path)")
    }
    return value
  }

  private static func factors(of value: UInt32) -> [UInt32] {
    var (rest, factors) = (value, [UInt32]())
    var candidate: UInt32 = 2
    while candidate * candidate <= rest {
      while rest.isMultiple(of: candidate) {
        factors.append(candidate)
        rest /= candidate
      }
      candidate += 1
    }
    return rest > 1 ? factors + [rest] : factors
  }
}
