import DBus
import SceneModel

/// The hint for a sender that meant to call and sent a signal, as dbus-send does by default: nobody answers a signal.
struct SignalHints {
  private var methods: [InterfaceName: Set<MemberName>] = [:]
  private var last: [MemberName: Instant] = [:]

  /// A script may send the same signal again and again, and the log is for others too.
  private static let pause: Int64 = 60_000_000

  /// `nil` for a real signal, and for a hint that was given a moment ago.
  mutating func hint(
    for signal: ReceivedSignal, meantFor interfaces: @autoclosure () -> [Interface], at now: Instant
  ) -> String? {
    if methods.isEmpty {
      for interface in interfaces() { methods[interface.name] = Set(interface.introspection.methods.map(\.name)) }
    }
    guard methods[signal.interface]?.contains(signal.member) ?? false else { return nil }
    guard isNews(signal.member, at: now) else { return nil }
    return "\(signal.member) came as a signal, and nothing happens: with dbus-send, write --print-reply before it"
  }

  /// Whether the hint for this member was not given a moment ago.
  mutating func isNews(_ member: MemberName, at now: Instant) -> Bool {
    if let last = last[member], now >= last, now.microseconds - last.microseconds < Self.pause { return false }
    last[member] = now
    return true
  }
}

extension Interchange {
  func observeSignals(meantFor interfaces: @escaping @Sendable () -> [Interface]) {
    connection.observeAddressedSignals { signal in
      self.assumeIsolated { me in
        if let hint = me.hints.hint(for: signal, meantFor: interfaces(), at: me.settings.now()) {
          me.log.warning(hint)
        }
      }
    }
  }
}
