import ServiceSupport

extension Screen {
  /// The whole identifier for programs, and its beginning for people: eight digits distinguish four billion.
  func identifier(_ text: String) -> String { isTerminal ? String(text.prefix(8)) : text }
}

extension Style {
  /// The style of the service's word for an outcome, a tier or a state.
  init?(of word: String) {
    switch word {
    case "created", "handled", "prefers", "foregroundActive", "connected", "yes": self = .good
    case "held", "routed", "forwarded", "can", "foregroundInactive", "activated", "restored": self = .waiting
    case "failed", "cancelled", "refused", "out", "discarded", "no", "no manifest", "unclaimed": self = .bad
    case "unattached", "background": self = .aside
    default: return nil
    }
  }
}
