internal import DBus
internal import InterchangeWire
internal import SceneModel

extension Event {
  /// The signals' arguments in their order, without the number.
  private static let arguments: [MemberName: [String]] = {
    var interface = Interface(InterchangeNames.interchange)
    _ = Signals(on: &interface)
    return Dictionary(
      uniqueKeysWithValues: interface.introspection.signals.map { signal in
        (signal.name, signal.arguments.dropLast().map { $0.name ?? "" })
      })
  }()

  /// The number at the end of every signal of the service; `nil` for a signal without a number.
  static func sequence(of signal: ReceivedSignal) -> UInt64? {
    if case .uint64(let sequence)? = (try? signal.variants())?.last { sequence } else { nil }
  }

  /// Reads an event from its signal.
  init?(_ signal: ReceivedSignal) {
    guard let values = try? signal.variants(), case .uint64(let sequence)? = values.last else { return nil }
    let names = Self.arguments[signal.member] ?? ["application", "session"]
    var arguments: [String: String] = [:]
    for (name, value) in zip(names, values) {
      switch value {
      case .string(let text): arguments[name] = text
      case .objectPath(let path): arguments[name] = path.rawValue
      default: break
      }
    }
    self.init(signal.member.rawValue, arguments, sequence)
  }

  /// Reads a stored event.
  init?(_ name: String, json: String, _ sequence: UInt64) throws(StagedoorError) {
    guard case .dictionary(let fields) = try Value(document: json) else { return nil }
    let texts = fields.entries.compactMap { entry in entry.value.string.map { (entry.key.string, $0) } }
    self.init(name, Dictionary(texts) { first, _ in first }, sequence)
  }

  private init?(_ name: String, _ arguments: [String: String], _ sequence: UInt64) {
    guard let application = arguments["application"],
      let session = arguments["session"].flatMap({ SessionIdentifier($0) })
    else { return nil }
    self.init(
      sequence: sequence, application: application, session: session,
      kind: Self.kind(name, arguments) ?? .other(name), name: name, arguments: arguments)
  }

  private static func kind(_ name: String, _ arguments: [String: String]) -> Kind? {
    let delivery = arguments["delivery"].flatMap { DeliveryIdentifier($0) }
    switch name {
    case "Routed":
      guard let delivery, let outcome = Delivery.Outcome(rawValue: arguments["outcome"] ?? "") else { return nil }
      return .routed(
        Routing(
          delivery: delivery, outcome: outcome, configuration: arguments["configuration"] ?? "",
          activityType: arguments["activity_type"] ?? "",
          targetContentIdentifier: arguments["target_content_identifier"] ?? ""))
    case "Handled": return delivery.map { .handled($0) }
    case "Forwarded": return delivery.map { .forwarded($0) }
    case "DeliveryFailed":
      let code = StagedoorError.Code(rawValue: arguments["error"] ?? "")
      return delivery.map { .deliveryFailed($0, StagedoorError(code, arguments["message"] ?? "")) }
    case "Unclaimed": return delivery.map { .unclaimed($0) }
    case "SessionConnected": return .sessionConnected(configuration: arguments["configuration"] ?? "")
    case "SessionStateChanged":
      return ActivationState(rawValue: arguments["state"] ?? "").map { .sessionStateChanged($0) }
    case "SessionDisconnected": return .sessionDisconnected
    case "SessionDiscarded":
      return .sessionDiscarded(DismissalAnimation(rawValue: arguments["animation"] ?? "") ?? .standard)
    case "SessionRefreshRequested": return .sessionRefreshRequested
    default: return nil
    }
  }
}
