import SceneModel
import ServiceSupport
import StagedoorKit

/// The reason why a command fails: a sentence that says what to do about it, and the exit status.
struct Problem: Error {
  let status: Status
  let sentence: String
  /// The name of the error on the bus; `nil` for a problem of this side.
  let error: String?

  init(_ status: Status, _ sentence: String, error: String? = nil) {
    self.status = status
    self.sentence = sentence
    self.error = error
  }

  var json: Value {
    Printed.object([
      ("status", .integer(Int64(status.rawValue))), ("error", error.map { .text($0) }), ("message", .text(sentence)),
    ])
  }

  static func usage(_ sentence: String) -> Problem { Problem(.usage, sentence) }
  static func failed(_ sentence: String) -> Problem { Problem(.failed, sentence) }
  static func nobodyTook(_ delivery: DeliveryIdentifier) -> Problem {
    Problem(
      .notInTime,
      "no program took the delivery \(delivery) in time; its window waits in `stagedoor sessions`",
      error: StagedoorError.Code.hostTimeout.rawValue)
  }
}

extension Problem {
  init(of error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let error as StagedoorError: self.init(error)
    default: self = .failed("\(error)")
    }
  }

  init(_ error: StagedoorError) {
    self.init(Status(error.code), Problem.sentence(of: error), error: error.code.rawValue)
  }

  private static func sentence(of error: StagedoorError) -> String {
    switch error.code {
    case _ where error.code.saysStartFailed:
      "the bus cannot start the service (\(error.message.withoutPeriod)); `stagedoor doctor` looks for the reason"
    case .timedOut, .noReply: "the service does not answer; `stagedoor doctor` looks for the reason"
    case .unknownMethod, .unknownInterface, .unknownProperty:
      "the service that runs is too old for this (\(error.message.withoutPeriod)); restart stagedoord"
    default: error.message.isEmpty ? error.code.rawValue : error.message.withoutPeriod
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
      // An application that passes deliveries on gives errors of its own.
      case _ where !code.isOfService: .applicationFailed
      default: .refused
      }
  }
}

extension StagedoorError.Code {
  static let unknownInterface = Self(rawValue: "org.freedesktop.DBus.Error.UnknownInterface")
  static let unknownProperty = Self(rawValue: "org.freedesktop.DBus.Error.UnknownProperty")
  static let nameHasNoOwner = Self(rawValue: "org.freedesktop.DBus.Error.NameHasNoOwner")

  /// No host gives an error such a name: `FinishDelivery` refuses it.
  var isOfService: Bool { rawValue.hasPrefix("org.stagedoor.") || rawValue.hasPrefix("org.freedesktop.") }

  /// The bus tried to start the service.
  var saysStartFailed: Bool {
    rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || rawValue == "org.freedesktop.DBus.Error.TimedOut"
  }
}
