internal import DBus
internal import Glibc
internal import InterchangeWire
internal import SceneModel

/// The connection of a running application, and its state on the bus.
@MainActor final class Hosting {
  let stagedoor: Stagedoor
  let received: ReceivedDeliveries
  let name: BusName
  let path: ObjectPath
  /// Tasks start on this loop: Swift's own threads, once used, wake once a second until the process ends.
  var loop: EventLoop { stagedoor.connection.loop }
  /// Whether the connection was opened for the application, and closes with it.
  private let ownsConnection: Bool
  /// The caller that is allowed; read on the connection's loop.
  let service = Lock<BusName?>(nil)
  /// The service before that, which a new one has replaced: it still makes its last calls, and would take an error for a refusal.
  private let replaced = Lock<BusName?>(nil)
  /// The owner of the service's name; `nil` while there is none.
  var owner: BusName? {
    didSet { if owner != oldValue { received.hasLeft() } }
  }
  /// The calls of a replaced service, and those that came after the application began to stop. They get no answer, and their deliveries come again:
  /// from the next service, or to the next host. They are kept, because a dropped call is answered with an error: until the service is replaced once
  /// more, or this connection has lost the name.
  var held: [HostCall] = []
  /// From here on no delegate gets a delivery, and no delivery is acknowledged.
  var isStopping = false
  /// Ends when the application has stopped.
  var stopping: Task<Void, Never>?
  /// Whether the service knows this host, and accepts its changes.
  var isAttached = false {
    didSet { if isAttached != oldValue { received.isAttached(to: isAttached ? owner : nil) } }
  }
  /// Whether the service has accepted a change since it accepted this host.
  var hasWritten = false
  /// The sessions whose activity was written since their last delivery, each with the number of the last write.
  var writtenActivities: [SessionIdentifier: Int] = [:]
  var activityWrites = 0
  /// How many activities were written when the call that is being answered asked for its session.
  var activityWritesBefore = 0
  /// What the application takes one after the other: a scene that is being connected is not in the list of an attachment, and the service would forget
  /// it; during an attachment the service would refuse changes.
  let news: AsyncStream<News>
  private let tell: AsyncStream<News>.Continuation
  /// The pause before the next attempt to attach.
  private var pausing: Task<Void, Never>?
  /// Ends with the connection, or when it is cancelled.
  let connected: Task<Connection.CloseReason?, Never>
  /// Whether a caller waits, and gets the error if the bus ends.
  var isAwaited = false
  /// The results of the attempts to attach, for the caller that starts the application.
  let attempts: AsyncStream<Result<Void, StagedoorError>>
  let attempted: AsyncStream<Result<Void, StagedoorError>>.Continuation
  /// Whether the application was told that it has started.
  var hasLaunched = false
  /// The requests for the windows that the application opens by itself at its start, those that no service has accepted yet.
  var unopened: [DeliveryOptions] = []
  var isOpening = false
  /// Ends after the application has stopped; if a signal stopped it, the process ends first.
  var terminating: Task<Void, Never>?
  private var tasks: [Task<Void, Never>] = []
  private var following: Task<Void, Never>?
  private(set) var isClosed = false
  /// Writes one change.
  var writing: Task<Void, Never>?
  /// Waits before it asks for the activities that restore the scenes.
  var saving: Task<Void, Never>?

  init(_ identifier: String, on connection: Connection?) async throws(StagedoorError) {
    guard ApplicationIdentifier.isValid(Text(identifier)), let name = try? BusName(identifier) else {
      throw StagedoorError(.invalidArguments, "\(quoted(identifier)) is not an application identifier")
    }
    self.name = name
    path = InterchangeNames.path(ofHost: Text(identifier))
    ownsConnection = connection == nil
    stagedoor = if let connection { Stagedoor(on: connection) } else { try await Stagedoor.connect() }
    received = ReceivedDeliveries(stagedoor)
    let connection = stagedoor.connection
    connected = connection.loop.task { await connection.closed() }
    (news, tell) = AsyncStream<News>.makeStream()
    (attempts, attempted) = AsyncStream<Result<Void, StagedoorError>>.makeStream()
    // Export before requesting the name: a call that started this process waits for the name.
    let (service, replaced, tell) = (service, replaced, tell)
    stagedoor.connection.export(
      HostInterface.make(allowing: { sender in
        [service, replaced].contains { $0.withLock(\.self) == sender }
      }) { tell.yield(.call($0)) }, at: path)
  }

  /// From now on this service may call.
  func allow(_ owner: BusName) {
    let before = service.withLock { present in
      defer { present = owner }
      return present
    }
    guard let before, before != owner else { return }
    replaced.withLock { $0 = before }
    if !isStopping { held.removeAll { $0.sender != before } }
  }

  func takeName() async throws(StagedoorError) {
    let isOurs: Bool
    do throws(CallError) {
      let connection = stagedoor.connection
      let outcome = try await connection.requestName(name, .doNotQueue)
      if outcome == .owned || outcome == .alreadyOwned { return }
      let owner = try await connection.owner(of: name)
      isOurs = if let owner { try await connection.credentials(of: owner).processID == UInt32(getpid()) } else { false }
    } catch {
      throw StagedoorError(error)
    }
    if isOurs {
      throw StagedoorError(
        .alreadyRunning,
        """
        this very process has the name \(name) on another connection, for instance through a GtkApplication of the same identifier: \
        give the other object another name
        """)
    }
    throw StagedoorError(.alreadyRunning, "another process hosts \(name)")
  }

  /// Begins a task that ends with the application.
  func begin(_ body: @escaping @MainActor () async -> Void) {
    if !isClosed { tasks.append(loop.task { await body() }) }
  }

  /// Follows the sessions in the place of the task that did so before; `nil` only ends that task.
  func follow(_ body: (@MainActor () async -> Void)?) {
    following?.cancel()
    following = nil
    if let body, !isClosed { following = loop.task { await body() } }
  }

  func close() async {
    isClosed = true
    attempted.finish()
    endPause()
    connected.cancel()
    saving?.cancel()
    terminating?.cancel()
    isAttached = false
    received.forget()
    // As long as this connection has the name, calls come, and the task that answers holds them.
    if ownsConnection {
      await stagedoor.close()
    } else {
      let (connection, name, owner) = (stagedoor.connection, name, owner)
      // The task that stops the application may be cancelled.
      await loop.task {
        _ = try? await connection.releaseName(name)
        // The service still calls this connection until it has heard of that, and would take the errors of calls that are let go for refusals.
        guard let owner else { return }
        try? await connection.call(to: owner, at: .root, "org.freedesktop.DBus.Peer", "Ping", timeout: .seconds(5))
      }.value
    }
    follow(nil)
    for task in tasks { task.cancel() }
    tasks = []
    stagedoor.connection.unexport(InterchangeNames.host, at: path)
    held = []
  }
}

// MARK: - Staying attached

extension Hosting {
  enum News: Sendable {
    case call(HostCall)
    /// The service's name has another owner, or none.
    case owner(BusName?)
    /// The service runs, but does not accept this host, or does not know its scenes.
    case lost
    case pauseIsOver
  }

  func note(_ news: News) { tell.yield(news) }

  /// The service no longer accepts this host, or has lost track of its scenes.
  func detach() {
    isAttached = false
    note(.lost)
  }

  /// Tries again after a pause.
  func pause(for pause: Duration) {
    if pausing != nil { return }
    pausing = loop.task {
      await self.loop.sleep(for: pause)
      if !Task.isCancelled { self.note(.pauseIsOver) }
    }
  }

  func endPause() {
    pausing?.cancel()
    pausing = nil
  }
}
