internal import DBus

/// A policy as dbus-broker 33 takes it.
enum BrokerPolicy {
  /// Verdict, priority; then the same with owning: whether the name is a prefix, the name.
  private static let owning: Signature = "(btbs)"
  /// Verdict, priority, name, path, interface, member, type of message, broadcast or not, fewest and most descriptors.
  private static let messages: Signature = "(btssssuutt)"
  /// Verdict and priority for connecting; rules for owning, for sending, for receiving.
  private static let batch = "(bta\(owning)a\(messages)a\(messages))"

  /// Everyone may do everything.
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
      // By user; this number stands for every one of them.
      .array(of: Signature(unchecked: "(u\(batch))"), [.structure([.uint32(.max), all])]),
      // By group, or range of users.
      .array(of: Signature(unchecked: "(buu\(batch))"), []),
      // Contexts of SELinux by name.
      .array(of: "(ss)", []),
      // Whether AppArmor is asked, and what it is told that this bus is.
      false, "session",
    ])
  }
}
