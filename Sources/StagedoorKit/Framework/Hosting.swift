internal import DBus
internal import InterchangeWire
internal import SceneModel

/// The connection of a running application, and its state on the bus.
@MainActor final class Hosting {
  let stagedoor: Stagedoor
  let name: BusName
  let path: ObjectPath
  /// Tasks start on this loop: Swift's own threads, once used, wake once a second until the process ends.
  var loop: EventLoop { stagedoor.connection.loop }
  /// Whether the connection was opened for the application, and closes with it.
  private let ownsConnection: Bool
  /// The caller that is allowed; read on the connection's loop.
  let service = Lock<BusName?>(nil)
  /// The calls of the service, in their order.
  let calls: AsyncStream<HostCall>
  /// Whether the service knows this host, and accepts its changes.
  var isAttached = false
  /// Until this has ended, the calls of the service wait: the service would refuse changes meanwhile.
  var attaching: Task<Result<Void, StagedoorError>, Never>?
  /// The caller that runs the application waits for this task, until the connection goes or the task is cancelled.
  var running: Task<Connection.CloseReason?, Never>?
  var tasks: [Task<Void, Never>] = []
  var writing: Task<Void, Never>?
  /// The service refused a change, and this attaches again.
  var attachingAgain: Task<Void, Never>?

  init(_ identifier: String, on connection: Connection?) async throws(StagedoorError) {
    guard ApplicationIdentifier.isValid(Text(identifier)), let name = try? BusName(identifier) else {
      throw StagedoorError(.invalidArguments, "\(quoted(identifier)) is no application's identifier")
    }
    self.name = name
    path = InterchangeNames.path(ofHost: Text(identifier))
    ownsConnection = connection == nil
    if let connection {
      stagedoor = Stagedoor(on: connection)
    } else {
      stagedoor = try await Stagedoor.connect()
    }
    let continuation: AsyncStream<HostCall>.Continuation
    (calls, continuation) = AsyncStream<HostCall>.makeStream()
    // Export before requesting the name: a call that started this process waits for the name.
    let service = service
    stagedoor.connection.export(
      HostInterface.make(allowing: { service.withLock(\.self) }) { continuation.yield($0) }, at: path)
  }

  func takeName() async throws(StagedoorError) {
    do throws(CallError) {
      let outcome = try await stagedoor.connection.requestName(name, .doNotQueue)
      guard outcome == .owned || outcome == .alreadyOwned else {
        throw CallError.replied(
          ErrorReply(
            ErrorName(unchecked: StagedoorError.Code.alreadyRunning.rawValue), "another process hosts \(name)"))
      }
    } catch {
      throw StagedoorError(error)
    }
  }

  func close() async {
    running?.cancel()
    for task in tasks { task.cancel() }
    tasks = []
    isAttached = false
    stagedoor.connection.unexport(at: path)
    if ownsConnection {
      await stagedoor.close()
    } else {
      _ = try? await stagedoor.connection.releaseName(name)
    }
  }
}
