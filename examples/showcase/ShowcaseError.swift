import DBus

/// The errors of this service, each with a name on the bus that a program can compare.
enum ShowcaseError: Error {
  case divisionByZero
  case asAsked(reason: String)
  case tooManyWait(limit: Int)
  case tooManyItems(limit: Int)
  case volumeOutOfRange(Double)
  case labelIsEmpty
  case noSuchItem(ObjectPath)
}

extension ShowcaseError: NamedOnBus {
  var errorReply: ErrorReply {
    switch self {
    case .divisionByZero: ErrorReply("org.stagedoor.Showcase1.Error.DivisionByZero", "the divisor is 0")
    case .asAsked(let reason): ErrorReply("org.stagedoor.Showcase1.Error.AsAsked", reason)
    case .tooManyWait(let limit): ErrorReply(.limitsExceeded, "\(limit) callers wait already")
    case .tooManyItems(let limit): ErrorReply(.limitsExceeded, "there are \(limit) items already")
    case .volumeOutOfRange(let value): ErrorReply(.invalidArgs, "the volume is from 0 to 1, and \(value) is not")
    case .labelIsEmpty: ErrorReply(.invalidArgs, "an item has a label, and this one is empty")
    case .noSuchItem(let path): ErrorReply("org.stagedoor.Showcase1.Error.NoSuchItem", "there is no item at \(path)")
    }
  }
}
