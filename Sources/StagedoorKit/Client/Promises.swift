internal import DBus
internal import FoundationEssentials
internal import Glibc
internal import InterchangeWire
internal import SceneModel

/// The promises of the items that one call hands in: for each item that promises something, an object with `org.stagedoor.ItemProvider1`.
///
/// Each object has a path of its own, so the order of calls never decides which item is loaded. The service calls an object when a host opens a
/// representation, and tells it when nobody can open one any more. Until then, or until the service leaves, the load handlers are kept. With a token
/// they outlive the service: its successor is told that this connection keeps the promises.
final class Promises: Sendable {
  private struct Key: Hashable {
    let item: Int
    let type: String
  }

  private struct State {
    /// What each item promises.
    var items: [[ItemProvider.Representation]]
    /// The items that somebody may still open.
    var open: Set<Int> = []
    var loads: [Key: [ItemProgress]] = [:]
    /// The calls with these promises that are under way, and the number of those that succeeded.
    var calls = 0
    var answers = 0
    /// Whether nobody waits any more for the answer to a call that the service may still carry out.
    var isGivenUp = false
    /// The owner of the service's name that asks this connection for the promises; `nil` while nobody knows of one.
    var service: BusName?
    /// Follows the owners of the service's name.
    var watch: Task<Void, Never>?
  }

  private struct Name: Hashable {
    let connection: ObjectIdentifier
    let path: ObjectPath
  }

  /// The promises that are handed in, each with the number of its calls that were not refused.
  private static let kept = Lock<[Name: (promises: Promises, calls: Int)]>([:])
  private static let count = Lock(0)

  /// A connection that was opened for the client stays open as long as somebody may open its promises.
  private let stagedoor: Stagedoor
  private var connection: Connection { stagedoor.connection }
  private let path: ObjectPath
  private let token: String?
  private let state: Lock<State>

  /// - Parameter token: The token of a call that can be repeated. Then the paths are the same each time, also in another process: the service
  ///   compares the calls.
  init(_ items: [DragItem], token: String? = nil, on stagedoor: Stagedoor) {
    let name =
      token.map { Digest(of: Text($0)).hex.string }
      ?? Promises.count.withLock { count in
        count += 1
        return "\(count)"
      }
    path = ObjectPath(unchecked: "/org/stagedoor/items/\(name)")
    (self.stagedoor, self.token) = (stagedoor, token)
    // The bus passes on no more descriptors in one message.
    let mostDescriptors = 16
    var received = 0
    let promised = items.map { item in
      item.itemProvider.representations.filter { representation in
        switch representation.source {
        case .loader, .fileLoader: return true
        case .delivered:
          received += 1
          return received > mostDescriptors
        case .data, .text, .file: return false
        }
      }
    }
    state = Lock(State(items: promised))
  }

  /// Promises one more representation. Nothing may be handed in yet.
  func add(_ representation: ItemProvider.Representation, toItem index: Int) {
    state.withLock { $0.items[index].append(representation) }
  }

  /// Whether a representation of an item is promised.
  func contains(_ representation: ItemProvider.Representation, of index: Int) -> Bool {
    state.withLock { $0.items[index].contains { $0.type == representation.type } }
  }

  /// The path of an item's object.
  func path(ofItem index: Int) -> ObjectPath { ObjectPath(unchecked: "\(path)/\(index)") }

  // MARK: Keeping

  private var name: Name { Name(connection: ObjectIdentifier(connection), path: path) }

  /// Makes the call that hands the promises in or renews them, and keeps them unless the service refuses it. A call that was not answered may have
  /// been carried out.
  ///
  /// - Parameters:
  ///   - renews: Whether the service asks this connection from now on, also if an earlier call handed in the same promises.
  ///   - call: The call. It returns the name of who answered, if it knows that.
  nonisolated(nonsending) func handedIn<Answer>(
    renews: Bool = false,
    by call: nonisolated(nonsending) () async throws(StagedoorError) -> (service: BusName?, answer: Answer)
  ) async throws(StagedoorError) -> Answer {
    // Nothing is sent then, so nobody would end the promises.
    if Task.isCancelled { throw .waitWasCancelled }
    let (kept, isFirst) = export()
    do throws(StagedoorError) {
      let (service, answer) = try await call()
      // A service that has answered a repeated call from its store may ask nobody.
      kept.wasAnswered(by: isFirst || renews ? service : nil)
      return answer
    } catch {
      switch error.code {
      case .timedOut, .taskCancelled: kept.wasNotAnswered(isGivenUp: true)
      // The next service has the delivery if the last one had stored it. Without a token it asks nobody.
      case .noReply where token != nil: kept.wasNotAnswered(isGivenUp: false)
      default: kept.wasRefused()
      }
      throw error
    }
  }

  /// The promises that are kept: an earlier call with the same token may have handed them in.
  private func export() -> (kept: Promises, isFirst: Bool) {
    let promised = state.withLock { state in
      let promised = state.items.indices.filter { !state.items[$0].isEmpty }
      state.open = Set(promised)
      return promised
    }
    if promised.isEmpty { return (self, true) }
    let (kept, calls) = Promises.kept.withLock { kept in
      let calls = kept[name]?.calls ?? 0
      kept[name, default: (self, 0)].calls += 1
      let promises = kept[name]?.promises ?? self
      promises.state.withLock { $0.calls += 1 }
      return (promises, calls)
    }
    if calls == 0 {
      for index in promised {
        lend(index, true)
        connection.export(interface(ofItem: index), at: path(ofItem: index))
      }
    }
    return (kept, calls == 0)
  }

  /// What another delivery has brought must not be released as long as it is promised.
  private func lend(_ index: Int, _ isPromised: Bool) {
    for representation in state.withLock({ $0.items[index] }) { representation.source.received?.isPromised(isPromised) }
  }

  private func wasAnswered(by service: BusName?) {
    state.withLock { state in
      state.calls -= 1
      state.answers += 1
      state.service = service ?? state.service
    }
    watch()
  }

  private func wasNotAnswered(isGivenUp: Bool) {
    state.withLock { state in
      state.calls -= 1
      state.isGivenUp = state.isGivenUp || isGivenUp
    }
    watch()
  }

  private func wasRefused() {
    let isUnused = Promises.kept.withLock { kept in
      state.withLock { $0.calls -= 1 }
      guard kept[name]?.promises === self else { return false }
      kept[name]?.calls -= 1
      return kept[name]?.calls == 0
    }
    if isUnused { end() } else { watch() }
  }

  // MARK: Services that come and go

  /// Follows the owners of the service's name, as long as one of them may ask for the promises.
  private func watch() {
    state.withLock { state in
      if state.open.isEmpty || state.watch != nil { return }
      state.watch = connection.loop.task {
        if let owners = try? await self.connection.owners(of: InterchangeNames.bus) {
          for await owner in owners {
            if !(await self.areKept(under: owner)) { break }
          }
        }
        self.end()
      }
    }
  }

  /// Whether an owner of the service's name, or a later one, may ask for the promises.
  private func areKept(under owner: BusName?) async -> Bool {
    guard let token else {
      // A drag does not say who has answered.
      return state.withLock { state in
        state.service = state.service ?? owner
        return owner != nil && owner == state.service
      }
    }
    // Nobody starts a service for this.
    guard let owner, state.withLock({ $0.service != owner }) else { return true }
    return await mayRenew(token, at: owner)
  }

  private static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(5))

  /// Tells a service that this connection keeps the promises. Returns `false` if the service knows of no such promises.
  private func mayRenew(_ token: String, at owner: BusName) async -> Bool {
    var stagedoor = stagedoor
    // Another owner has its own turn, and a call to the name would start a service that somebody has just stopped.
    stagedoor.service = owner
    var pause = Self.pauses.first
    while true {
      let answers = state.withLock(\.answers)
      do throws(StagedoorError) {
        try await stagedoor.call("RenewPromises", token)
        state.withLock { $0.service = owner }
        return true
      } catch {
        switch error.code {
        case .noSuchDelivery, .noSuchItem, .unknownMethod:
          if let isOver = areUnknown(to: owner, since: answers) { return !isOver }
        // The application may need some time to attach; a disk may be full for a moment.
        case .accessDenied, .timedOut, .storageFailed, .limitsExceeded: break
        // It has left: the next one is asked.
        default: return true
        }
      }
      await connection.loop.sleep(for: pause)
      pause = min(pause * 2, Self.pauses.longest)
      // Another one may have taken its name.
      guard (try? await connection.owner(of: InterchangeNames.bus)) == owner else { return true }
    }
  }

  /// Whether promises end that a service does not know; `nil` if a call may have handed them in meanwhile.
  private func areUnknown(to owner: BusName, since answers: Int) -> Bool? {
    state.withLock { state in
      if state.calls > 0 || state.answers != answers { return nil }
      if !state.isGivenUp { return true }
      // This owner may still carry out the call. The next one has it or not.
      (state.isGivenUp, state.service) = (false, owner)
      return false
    }
  }

  private func end() { for index in state.withLock(\.open) { end(index) } }

  /// Nobody opens the item any more: removes its object.
  private func end(_ index: Int) {
    connection.unexport(at: path(ofItem: index))
    let (wasOpen, loads, watch) = state.withLock { state in
      let wasOpen = state.open.remove(index) != nil
      let loads = state.loads.filter { $0.key.item == index }
      for key in loads.keys { state.loads[key] = nil }
      return (wasOpen, loads.values.flatMap(\.self), state.open.isEmpty ? state.watch : nil)
    }
    for progress in loads { progress.cancel() }
    if wasOpen { lend(index, false) }
    guard state.withLock(\.open.isEmpty) else { return }
    watch?.cancel()
    Promises.kept.withLock { kept in if kept[name]?.promises === self { kept[name] = nil } }
  }

  // MARK: The object

  private func interface(ofItem index: Int) -> Interface {
    var interface = Interface(InterchangeNames.provider)
    interface.method("Load", in: "item", "type", out: "data", "size") {
      (reply: Reply<OwnedFileDescriptor, Int64>, _: UInt32, type: String) in
      self.answer(reply) { self.load(index, type, reply) }
    }
    interface.method("CancelLoad", in: "item", "type") { (reply: Reply<>, _: UInt32, type: String) in
      self.answer(reply) {
        self.cancelLoads(Key(item: index, type: type))
        reply.send()
      }
    }
    interface.method("Release") { (reply: Reply<>) in
      self.answer(reply) {
        reply.send()
        self.end(index)
      }
    }
    return interface
  }

  /// Answers the service only. Others can guess the path of this object, and only the host of the delivery may open its items.
  private func answer<each Value: BusValue>(_ reply: Reply<repeat each Value>, _ answer: @escaping @Sendable () -> Void)
  {
    connection.loop.task {
      do throws(CallError) {
        if try await self.connection.owner(of: InterchangeNames.bus) == reply.call.sender { return answer() }
        reply.fail(ErrorReply(.accessDenied, "only \(InterchangeNames.bus) may call \(InterchangeNames.provider)"))
      } catch {
        reply.fail(ErrorReply(.failed, "the bus did not identify the caller: \(error)"))
      }
    }
  }

  private func cancelLoads(_ key: Key) {
    let cancelled = state.withLock { $0.loads.removeValue(forKey: key) } ?? []
    for progress in cancelled { progress.cancel() }
  }

  private func load(_ index: Int, _ type: String, _ reply: Reply<OwnedFileDescriptor, Int64>) {
    guard let source = state.withLock({ $0.items[index] }).first(where: { $0.type == type })?.source else {
      reply.fail(
        ErrorReply("org.stagedoor.Error.NoSuchItem", "the item promises no representation of the type \(quoted(type))"))
      return
    }
    let (key, progress) = (Key(item: index, type: type), ItemProgress())
    state.withLock { $0.loads[key, default: []].append(progress) }
    connection.loop.task {
      do throws(StagedoorError) {
        let (data, size) = try await source.open(type, progress)
        reply.send(data, Int64(size ?? -1))
      } catch {
        reply.fail(error.reply)
      }
      self.state.withLock { state in
        state.loads[key]?.removeAll { $0 === progress }
        if state.loads[key]?.isEmpty ?? false { state.loads[key] = nil }
      }
    }
  }
}
