import ServiceSupport

extension Screen {
  /// The whole identifier for programs, and its beginning for people: eight digits distinguish four billion.
  func identifier(_ text: String) -> String { isTerminal ? String(text.prefix(8)) : text }
}

extension Style {
  init?(of word: String) {
    switch word {
    case "created", "handled", "prefers", "foregroundActive", "connected", "yes", "good": self = .good
    case "held", "routed", "forwarded", "can", "foregroundInactive", "activated", "restored", "note": self = .waiting
    case "failed", "cancelled", "refused", "out", "discarded", "no", "no manifest", "unclaimed", "wrong": self = .bad
    case "unattached", "background": self = .aside
    default: return nil
    }
  }
}
