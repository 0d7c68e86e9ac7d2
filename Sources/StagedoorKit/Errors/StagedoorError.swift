internal import DBus
internal import SceneModel

/// A failure: a code for programs, and a message for people that says how to fix it.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// do {
///   _ = try await stagedoor.drop("org.example.Cats.view", "cat1")
/// } catch where error.code == .activityTypeNotDeclared {
///   print("no application opens cats: \(error.message)")
/// }
/// ```
public struct StagedoorError: Error, Sendable, Hashable {
  /// The code of a failure. The list is open: a newer service may have more codes.
  ///
  /// ```swift
  /// let code = StagedoorError.Code.noSuchSession
  /// print(code.rawValue)  // org.stagedoor.Error.NoSuchSession
  /// ```
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name on the bus.
    public let rawValue: String

    /// The code of a name on the bus.
    public init(rawValue: String) { self.rawValue = rawValue }

    private init(own name: String) { rawValue = "org.stagedoor.Error.\(name)" }
    private init(bus name: String) { rawValue = "org.freedesktop.DBus.Error.\(name)" }
    private init(here name: String) { rawValue = "org.stagedoor.Kit.Error.\(name)" }
  }

  /// The kind of the failure.
  public let code: Code
  /// The details, in a sentence.
  public let message: String

  /// Makes an error with a code.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Whether the task that waited was cancelled. Such a call throws this error in place of a `CancellationError`.
  public var isCancellation: Bool { code == .taskCancelled }
}

extension StagedoorError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { message.isEmpty ? code.rawValue : "\(code.rawValue): \(message)" }
}

// MARK: - Errors of the service

extension StagedoorError.Code {
  /// A payload does not parse; the message names the place.
  public static let invalidPayload = Self(own: "InvalidPayload")
  /// A manifest does not parse; the message names the place.
  public static let invalidManifest = Self(own: "InvalidManifest")
  /// A condition does not parse; the message names the column.
  public static let invalidPredicate = Self(own: "InvalidPredicate")
  /// The payload has no activity, content type or option that routes it.
  public static let noActivity = Self(own: "NoActivity")
  /// No application declares the type, or the named application does not.
  public static let activityTypeNotDeclared = Self(own: "ActivityTypeNotDeclared")
  /// An activity's `expirationDate` had passed.
  public static let activityExpired = Self(own: "ActivityExpired")
  /// There is no such application.
  public static let noSuchApplication = Self(own: "NoSuchApplication")
  /// There is no such session, or it was destroyed and never returns.
  public static let noSuchSession = Self(own: "NoSuchSession")
  /// There is no such configuration.
  public static let noSuchConfiguration = Self(own: "NoSuchConfiguration")
  /// There is no such delivery, or the service no longer keeps it.
  public static let noSuchDelivery = Self(own: "NoSuchDelivery")
  /// There is no such item, or the item has no representation of that type.
  public static let noSuchItem = Self(own: "NoSuchItem")
  /// The options ask for an existing session, and none fits.
  public static let noMatchingSession = Self(own: "NoMatchingSession")
  /// The options ask for a new session of an application with one scene.
  public static let multipleScenesNotSupported = Self(own: "MultipleScenesNotSupported")
  /// The configuration's policy or limit forbids it.
  public static let requestDenied = Self(own: "RequestDenied")
  /// The configuration exists in another role only.
  public static let roleMismatch = Self(own: "RoleMismatch")
  /// The application did not take the delivery in time.
  public static let hostTimeout = Self(own: "HostTimeout")
  /// The application refused the delivery.
  public static let hostRefused = Self(own: "HostRefused")
  /// The application could not be started.
  public static let launchFailed = Self(own: "LaunchFailed")
  /// Somebody cancelled the delivery.
  public static let cancelled = Self(own: "Cancelled")
  /// The application does not own the bus name of its identifier.
  public static let notHost = Self(own: "NotHost")
  /// The data was promised, and its source has left, or does not answer.
  public static let sourceGone = Self(own: "SourceGone")
  /// A call asked for data before the drop.
  public static let notDropped = Self(own: "NotDropped")
  /// The service no longer keeps the requested events.
  public static let eventsGone = Self(own: "EventsGone")
  /// The service could not store the change, so the change did not happen.
  public static let storageFailed = Self(own: "StorageFailed")

  // MARK: Errors with a name of D-Bus

  /// This program may not do that.
  public static let accessDenied = Self(bus: "AccessDenied")
  /// A limit is reached: the size or the number is too large.
  public static let limitsExceeded = Self(bus: "LimitsExceeded")
  /// An argument is invalid.
  public static let invalidArguments = Self(bus: "InvalidArgs")
  /// There is no such object.
  public static let unknownObject = Self(bus: "UnknownObject")
  /// The service is too old for this call.
  public static let unknownMethod = Self(bus: "UnknownMethod")
  /// The service does not run, and nothing can start it.
  public static let serviceUnknown = Self(bus: "ServiceUnknown")
  /// No answer came in time. The service may have carried out the call: repeat it with the same ``DeliveryOptions/token``.
  public static let timedOut = Self(bus: "Timeout")
  /// The service left before it answered. It may have carried out the call: repeat it with the same ``DeliveryOptions/token``.
  public static let noReply = Self(bus: "NoReply")
  /// The bus has gone, or the connection was closed.
  public static let disconnected = Self(bus: "Disconnected")

  // MARK: Errors of this process

  /// The task that waited was cancelled.
  public static let taskCancelled = Self(here: "TaskCancelled")
  /// This module does not understand the service's answer.
  public static let unexpectedReply = Self(here: "UnexpectedReply")
  /// The data of an item could not be loaded.
  public static let loadFailed = Self(here: "LoadFailed")
  /// Another process hosts the application.
  public static let alreadyRunning = Self(here: "AlreadyRunning")
}

// MARK: - Errors of other modules

extension StagedoorError {
  init(_ error: ErrorReply) {
    let code = Code(rawValue: error.name.rawValue)
    // The bus names the service that is missing, and not what to do.
    self.init(code, code == .serviceUnknown ? Self.nobodyServes : error.text)
  }

  private static let nobodyServes =
    "nobody serves org.stagedoor.Interchange1, and the bus cannot start it; `stagedoor doctor` says what is missing"

  init(_ error: CallError) {
    switch error {
    case .replied(let error): self.init(error)
    case .cancelled: self = .waitWasCancelled
    case .unexpectedReply(let error): self = .unexpectedReply("\(error)")
    case .timedOut: self.init(.timedOut, "no answer came in time")
    case .disconnected, .invalidArguments: self.init(error.errorReply)
    }
  }

  /// The same for a caller on the bus. A program may make up a code that is no name there.
  var reply: any Error {
    guard let name = try? ErrorName(code.rawValue) else { return self }
    return ErrorReply(name, message)
  }

  init(_ error: ConnectionError) {
    if case .rejected(.cancelled) = error { self = .waitWasCancelled } else { self.init(.disconnected, "\(error)") }
  }

  static var waitWasCancelled: StagedoorError { StagedoorError(.taskCancelled, "the task that waited was cancelled") }

  static func unexpectedReply(_ what: String) -> StagedoorError {
    StagedoorError(.unexpectedReply, "this module does not understand the service's reply: \(what)")
  }

  static func invalidPayload(at place: Place, _ reason: String) -> StagedoorError {
    StagedoorError(.invalidPayload, Fault(at: place, reason).description)
  }

  init(payload fault: Fault) { self.init(fault.kind == .limit ? .limitsExceeded : .invalidPayload, fault.description) }
}
