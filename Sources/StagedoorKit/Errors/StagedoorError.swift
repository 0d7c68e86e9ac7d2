internal import DBus
internal import SceneModel

/// Why something could not be done: a code for programs, and a message for people that is enough to mend it.
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
  /// What went wrong. The list is open: a newer service may know more.
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

  /// What went wrong.
  public let code: Code
  /// What exactly, in a sentence.
  public let message: String

  /// An error of a code.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension StagedoorError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { message.isEmpty ? code.rawValue : "\(code.rawValue): \(message)" }
}

// MARK: - What the service says

extension StagedoorError.Code {
  /// A payload does not parse; the message names the place.
  public static let invalidPayload = Self(own: "InvalidPayload")
  /// A manifest does not parse; the message names the place.
  public static let invalidManifest = Self(own: "InvalidManifest")
  /// A condition does not parse; the message names the column.
  public static let invalidPredicate = Self(own: "InvalidPredicate")
  /// Nothing in the payload can route it.
  public static let noActivity = Self(own: "NoActivity")
  /// No application, or not the one that was named, declares the type.
  public static let activityTypeNotDeclared = Self(own: "ActivityTypeNotDeclared")
  /// An activity's `expirationDate` had passed.
  public static let activityExpired = Self(own: "ActivityExpired")
  /// There is no such application.
  public static let noSuchApplication = Self(own: "NoSuchApplication")
  /// There is no such session, or no longer: then it never will be again.
  public static let noSuchSession = Self(own: "NoSuchSession")
  /// There is no such configuration.
  public static let noSuchConfiguration = Self(own: "NoSuchConfiguration")
  /// There is no such delivery, or it is not kept any more.
  public static let noSuchDelivery = Self(own: "NoSuchDelivery")
  /// There is no such item, or none of that type.
  public static let noSuchItem = Self(own: "NoSuchItem")
  /// An existing session was asked for, and there is none.
  public static let noMatchingSession = Self(own: "NoMatchingSession")
  /// A new session of an application that has one scene.
  public static let multipleScenesNotSupported = Self(own: "MultipleScenesNotSupported")
  /// The configuration's policy or limit forbids it.
  public static let requestDenied = Self(own: "RequestDenied")
  /// The configuration exists in another role only.
  public static let roleMismatch = Self(own: "RoleMismatch")
  /// The application did not take it in time.
  public static let hostTimeout = Self(own: "HostTimeout")
  /// The application refused it.
  public static let hostRefused = Self(own: "HostRefused")
  /// The application could not be started.
  public static let launchFailed = Self(own: "LaunchFailed")
  /// Somebody cancelled the delivery.
  public static let cancelled = Self(own: "Cancelled")
  /// The application does not own the bus name of its identifier.
  public static let notHost = Self(own: "NotHost")
  /// The data was promised, and whoever promised it has left.
  public static let sourceGone = Self(own: "SourceGone")
  /// Data was asked for before the drop.
  public static let notDropped = Self(own: "NotDropped")
  /// Events that are no longer kept were asked for.
  public static let eventsGone = Self(own: "EventsGone")
  /// It could not be stored, so it did not happen.
  public static let storageFailed = Self(own: "StorageFailed")

  // MARK: What D-Bus has a name for

  /// This program may not do that.
  public static let accessDenied = Self(bus: "AccessDenied")
  /// It is too large, or there are too many.
  public static let limitsExceeded = Self(bus: "LimitsExceeded")
  /// Something was said that makes no sense.
  public static let invalidArguments = Self(bus: "InvalidArgs")
  /// There is no such object.
  public static let unknownObject = Self(bus: "UnknownObject")
  /// The service is too old for it.
  public static let unknownMethod = Self(bus: "UnknownMethod")
  /// There is no service, and nothing that would start one.
  public static let serviceUnknown = Self(bus: "ServiceUnknown")
  /// No answer came in time. Whether it was done is not known: ask again with the same ``DeliveryOptions/token``.
  public static let timedOut = Self(bus: "Timeout")
  /// The service left before it answered. Whether it was done is not known: ask again with the same ``DeliveryOptions/token``.
  public static let noReply = Self(bus: "NoReply")
  /// The bus has gone, or the connection was closed.
  public static let disconnected = Self(bus: "Disconnected")

  // MARK: What happens here

  /// The task that waited was cancelled.
  public static let taskCancelled = Self(here: "TaskCancelled")
  /// The service answered something that nobody understands here.
  public static let unexpectedReply = Self(here: "UnexpectedReply")
  /// The data of an item could not be loaded.
  public static let loadFailed = Self(here: "LoadFailed")
  /// Another process hosts the application.
  public static let alreadyRunning = Self(here: "AlreadyRunning")
}

// MARK: - From the rooms below

extension StagedoorError {
  init(_ error: ErrorReply) { self.init(Code(rawValue: error.name.rawValue), error.text) }

  init(_ error: CallError) {
    switch error {
    case .replied(let error): self.init(error)
    case .cancelled: self.init(.taskCancelled, "the task that waited was cancelled")
    case .unexpectedReply(let error): self = .unexpectedReply("\(error)")
    case .timedOut: self.init(.timedOut, "no answer came in time")
    case .disconnected, .invalidArguments: self.init(error.errorReply)
    }
  }

  init(_ error: ConnectionError) { self.init(.disconnected, "\(error)") }

  static func unexpectedReply(_ what: String) -> StagedoorError {
    StagedoorError(.unexpectedReply, "the service answered what is not understood here: \(what)")
  }

  static func invalidPayload(at place: Place, _ reason: String) -> StagedoorError {
    StagedoorError(.invalidPayload, Fault(at: place, reason).description)
  }

  init(payload fault: Fault) { self.init(fault.kind == .limit ? .limitsExceeded : .invalidPayload, fault.description) }
}
