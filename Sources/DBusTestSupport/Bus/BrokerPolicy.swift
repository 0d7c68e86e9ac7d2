internal import DBus

/// A policy in the form of dbus-broker 33.
enum BrokerPolicy {
  /// Verdict and priority; for owning also whether the name is a prefix, and the name.
  private static let owning: Signature = "(btbs)"
  /// Verdict, priority, name, path, interface, member, type of message, broadcast or not, fewest and most descriptors.
  private static let messages: Signature = "(btssssuutt)"
  /// Verdict and priority for connecting; rules for owning, for sending, for receiving.
  private static let batch = "(bta\(owning)a\(messages)a\(messages))"

  /// A policy that allows everything to everyone.
  static var open: Variant {
    let verdict: [Variant] = [true, .uint64(1)]
    let name = Variant.structure(verdict + [true, ""])
    let message = Variant.structure(
      verdict + ["", "", "", "", .uint32(0), .uint32(0), .uint64(0), .uint64(.max)])
    let all = Variant.structure(
      verdict + [
        .array(of: owning, [name]), .array(of: messages, [message]), .array(of: messages, [message]),
      ])
    return .structure([
      // By user; this number stands for every user.
      .array(of: Signature(unchecked: "(u\(batch))"), [.structure([.uint32(.max), all])]),
      // By group, or range of users.
      .array(of: Signature(unchecked: "(buu\(batch))"), []),
      // Contexts of SELinux by name.
      .array(of: "(ss)", []),
      // Whether to ask AppArmor, and the type of the bus for AppArmor.
      false, "session",
    ])
  }
}
