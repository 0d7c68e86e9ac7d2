internal import DBus
internal import InterchangeWire
internal import SceneModel

/// A drag, from its beginning until it is dropped or cancelled.
///
/// The ticket is a secret that travels with a toolkit's own drag, as ``ticketType``. A program that has the ticket may look at the drag and drop it.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let cat = DragItem(UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1"))
/// let drag = try await stagedoor.beginDrag([cat], allowing: [.copy, .move])
/// if try await drag.proposal() != .forbidden {
///   print(try await drag.drop().session)  // onto the edge of the screen: a new window
/// }
/// ```
public struct DragSession: Sendable {
  /// The type of the ticket in a toolkit's drag.
  public static let ticketType = "application/vnd.stagedoor.drag"

  /// The state of a drag.
  ///
  /// ```swift
  /// func isOver(_ drag: DragSession) async throws -> Bool { [.cancelled, .ended].contains(try await drag.state) }
  /// ```
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The user has not let go yet.
    case dragging
    /// The items have become a delivery, which its application has not taken yet, or whose items it has not released yet after a move.
    case dropped
    /// The source has cancelled the drag or left, or its deadline has passed.
    case cancelled
    /// The delivery is over: a session has taken the items, or the delivery failed.
    case ended
  }

  /// How a drag ended.
  ///
  /// ```swift
  /// func moved(_ drag: DragSession) async throws -> Bool { try await drag.ended().operation == .move }
  /// ```
  public struct Ending: Sendable, Hashable {
    /// ``DropOperation/cancel`` if the drag was cancelled, or its delivery failed. After ``DropOperation/move`` the source may delete the items that it moved.
    public let operation: DropOperation
    /// The session that took the items.
    public let session: SessionIdentifier?
  }

  /// The secret that lets others take part in the drag.
  public let ticket: String
  private let stagedoor: Stagedoor
  private let path: ObjectPath
  private let end: DragEnd

  fileprivate init(_ path: ObjectPath, ticket: String, of stagedoor: Stagedoor) async throws(StagedoorError) {
    (self.path, self.ticket, self.stagedoor) = (path, ticket, stagedoor)
    let feed = try await ServiceFeed(
      stagedoor.connection,
      MatchRule(sender: InterchangeNames.bus, path: path, interface: InterchangeNames.drag, member: "Ended"))
    // The end may have come before the subscription.
    let state = try await Self.state(path, stagedoor)
    var ending: Ending?
    if state == .cancelled || state == .ended {
      let operation: String = try await stagedoor.property("Operation", at: path, in: InterchangeNames.drag)
      ending = Ending(operation: DropOperation(rawValue: operation) ?? .cancel, session: nil)
    }
    end = DragEnd(feed, of: stagedoor, ending)
  }

  private static func state(_ path: ObjectPath, _ stagedoor: Stagedoor) async throws(StagedoorError) -> State {
    let text: String = try await stagedoor.property("State", at: path, in: InterchangeNames.drag)
    guard let state = State(rawValue: text) else { throw .unexpectedReply("unknown drag state: \(quoted(text))") }
    return state
  }

  /// The state of the drag.
  public var state: State {
    get async throws(StagedoorError) { try await Self.state(path, stagedoor) }
  }

  /// The dragged items: types and names, and no data before the drop.
  public var items: [DragItem] {
    get async throws(StagedoorError) {
      let items: [[String: Variant]] = try await stagedoor.property("Items", at: path, in: InterchangeNames.drag)
      return items.map { DragItem(itemProvider: ItemProvider(proposed: $0)) }
    }
  }

  /// The operations that the source allows.
  public var allowedOperations: Set<DropOperation> {
    get async throws(StagedoorError) {
      let names: [String] = try await stagedoor.property("AllowedOperations", at: path, in: InterchangeNames.drag)
      return Set(names.compactMap { DropOperation(rawValue: $0) })
    }
  }

  /// Adds items to the drag. Only its source may do that.
  public func add(_ items: [DragItem]) async throws(StagedoorError) {
    let promises = Promises(items, on: stagedoor)
    let rows = try await Payload(items: items).dictionaries(promises).items
    try await promises.handedIn { () async throws(StagedoorError) in
      (nil, try await stagedoor.call("AddItems", rows, at: path, in: InterchangeNames.drag))
    }
  }

  /// Ends the drag without a drop. Only its source may do that.
  public func cancel() async throws(StagedoorError) {
    try await stagedoor.call("Cancel", at: path, in: InterchangeNames.drag)
  }

  /// Returns the operation that a drop onto a session would have. Without a session, the drop is onto the edge of the screen, which makes a new
  /// session.
  public func proposal(on session: SessionIdentifier? = nil) async throws(StagedoorError) -> DropOperation {
    let operation = try await stagedoor.call(
      "Propose", session?.path ?? .root, at: path, in: InterchangeNames.drag, returning: String.self)
    return DropOperation(rawValue: operation) ?? .forbidden
  }

  /// Drops the items onto a session, or, without a session, onto the edge of the screen, which makes a new session.
  @discardableResult
  public func drop(
    on session: SessionIdentifier? = nil, operation: DropOperation = .copy
  ) async throws(StagedoorError) -> Delivery {
    try await stagedoor.handIn(
      "DropOn", session?.path ?? .root, operation.rawValue, at: path, in: InterchangeNames.drag, upTo: nil)
  }

  /// Waits for the end of the drag. Several tasks may wait, also after the end. A restart of the service ends the drag with
  /// ``DropOperation/cancel``.
  ///
  /// The service tells only the source and the hosts that it asked for a proposal. Other programs with the ticket read ``state``.
  public func ended() async throws(StagedoorError) -> Ending { try await end.wait() }
}

extension Stagedoor {
  /// Begins a drag, whose source is this program.
  public func beginDrag(
    _ items: [DragItem], allowing operations: Set<DropOperation> = [.copy],
    _ options: DeliveryOptions = DeliveryOptions()
  ) async throws(StagedoorError) -> DragSession {
    let promises = Promises(items, on: self)
    var (rows, wishes) = try await Payload(items: items, options).dictionaries(promises)
    wishes["allowedOperations"] = Variant(operations.map(\.rawValue).sorted())
    let (path, ticket) = try await promises.handedIn { () async throws(StagedoorError) in
      (nil, try await call("BeginDragItems", rows, wishes, returning: ObjectPath.self, String.self))
    }
    do throws(StagedoorError) { return try await DragSession(path, ticket: ticket, of: self) } catch {
      // Nobody else has the ticket. Without a reply, because this task may be cancelled.
      try? connection.send(to: InterchangeNames.bus, at: path, InterchangeNames.drag, "Cancel")
      throw error
    }
  }

  /// Takes part in a drag by its ticket.
  public func openDrag(_ ticket: String) async throws(StagedoorError) -> DragSession {
    let path = try await call("OpenDrag", ticket, returning: ObjectPath.self)
    return try await DragSession(path, ticket: ticket, of: self)
  }
}

/// The end of a drag, for all tasks that wait for it.
private final class DragEnd: Sendable {
  private typealias Answer = Result<DragSession.Ending, StagedoorError>

  private let feed: ServiceFeed
  private let stagedoor: Stagedoor
  /// If the drag had ended before the feed began.
  private let early: DragSession.Ending?
  private var loop: EventLoop { stagedoor.connection.loop }
  /// Follows the drag for all waiting tasks, from the first one on.
  private let following = Lock<Task<Answer, Never>?>(nil)

  init(_ feed: ServiceFeed, of stagedoor: Stagedoor, _ early: DragSession.Ending?) {
    (self.feed, self.stagedoor, self.early) = (feed, stagedoor, early)
  }

  func wait() async throws(StagedoorError) -> DragSession.Ending {
    if let early { return early }
    let following = following.withLock { following in
      let task = following ?? loop.task { await self.answer() }
      following = task
      return task
    }
    // One waiting task can be cancelled without the others.
    let (answers, waiter) = AsyncStream<Answer>.makeStream()
    loop.task { waiter.yield(await following.value) }
    let first = await withTaskExecutorPreference(loop.taskExecutor) { await answers.first { _ in true } }
    guard let first else { throw .waitWasCancelled }
    return try first.get()
  }

  private func answer() async -> Answer {
    do {
      guard case .signal(let signal)? = try await feed.next() else {
        return .success(DragSession.Ending(operation: .cancel, session: nil))
      }
      let (operation, target) = try signal.values(as: String.self, ObjectPath.self)
      return .success(
        DragSession.Ending(
          operation: DropOperation(rawValue: operation) ?? .cancel,
          session: target == .root ? nil : SessionIdentifier(target.rawValue)))
    } catch let error as StagedoorError {
      return .failure(error)
    } catch {
      return .failure(.unexpectedReply("\(error)"))
    }
  }
}
