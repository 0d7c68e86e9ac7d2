import StagedoorKit

/// The reason why a command fails: a sentence that says what to do about it, and the exit status.
struct Problem: Error {
  let status: Status
  let sentence: String

  init(_ status: Status, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }

  static func usage(_ sentence: String) -> Problem { Problem(.usage, sentence) }
  static func failed(_ sentence: String) -> Problem { Problem(.failed, sentence) }
  static func nobodyTook(_ delivery: DeliveryIdentifier) -> Problem {
    Problem(.notInTime, "no host took the delivery \(delivery) in time; its session stays")
  }
}

extension Problem {
  /// An error of the service or of the bus.
  init(_ error: StagedoorError) {
    let status = Status(error.code)
    switch error.code {
    case .serviceUnknown:
      self.init(
        status,
        "nobody serves org.stagedoor.Interchange1, and the bus cannot start it; `stagedoor doctor` says what is missing"
      )
    case _ where error.code.saysStartFailed:
      self.init(
        status,
        "the bus cannot start the service (\(error.message.withoutPeriod)); `stagedoor doctor` looks for the reason")
    case .timedOut, .noReply:
      self.init(status, "the service does not answer; `stagedoor doctor` looks for the reason")
    case .unknownMethod, .unknownInterface, .unknownProperty:
      self.init(
        status, "the service that runs is too old for this (\(error.message.withoutPeriod)); restart stagedoord")
    default:
      self.init(status, error.message.isEmpty ? error.code.rawValue : error.message.withoutPeriod)
    }
  }
}

extension Status {
  init(_ code: StagedoorError.Code) {
    self =
      switch code {
      case .serviceUnknown, .disconnected, .timedOut, .noReply, .nameHasNoOwner, .unknownMethod, .unknownInterface,
        .unknownProperty:
        .noService
      case _ where code.saysStartFailed: .noService
      case .hostTimeout: .notInTime
      case .hostRefused, .launchFailed: .applicationFailed
      case .cancelled: .cancelled
      default: .refused
      }
  }
}

extension StagedoorError.Code {
  static let unknownInterface = Self(rawValue: "org.freedesktop.DBus.Error.UnknownInterface")
  static let unknownProperty = Self(rawValue: "org.freedesktop.DBus.Error.UnknownProperty")
  static let nameHasNoOwner = Self(rawValue: "org.freedesktop.DBus.Error.NameHasNoOwner")

  /// The bus tried to start the service.
  var saysStartFailed: Bool {
    rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || rawValue == "org.freedesktop.DBus.Error.TimedOut"
  }
}
