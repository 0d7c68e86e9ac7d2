internal import DBus
internal import FoundationEssentials
internal import Glibc
internal import InterchangeWire
internal import SceneModel

/// The promises of the items that one call hands in: for each item that promises something, an object with `org.stagedoor.ItemProvider1`.
///
/// Each object has a path of its own, so the order of calls never decides which item is loaded. The service calls an object when a host opens a
/// representation, and tells it when nobody can open one any more. Until then, or until the service leaves, the load handlers are kept.
final class Promises: Sendable {
  private struct Key: Hashable {
    let item: Int
    let type: String
  }

  private struct State {
    /// The items that somebody may still open.
    var open: Set<Int>
    var loads: [Key: [ItemProgress]] = [:]
    /// Waits until the service leaves.
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
  private let items: [[ItemProvider.Representation]]
  private let state: Lock<State>

  /// - Parameter token: The token of a call that can be repeated. Then the paths are the same each time, also in another process: the service compares
  ///   the calls.
  init(_ items: [DragItem], token: String? = nil, on stagedoor: Stagedoor) {
    let name =
      token.map { Digest(of: Text($0)).hex.string }
      ?? Promises.count.withLock { count in
        count += 1
        return "\(count)"
      }
    path = ObjectPath(unchecked: "/org/stagedoor/items/\(name)")
    (self.stagedoor, self.token) = (stagedoor, token)
    let promised = items.map { $0.itemProvider.representations.filter(\.source.isLazy) }
    self.items = promised
    state = Lock(State(open: Set(promised.indices.filter { !promised[$0].isEmpty })))
  }

  /// The path of an item's object.
  func path(ofItem index: Int) -> ObjectPath { ObjectPath(unchecked: "\(path)/\(index)") }

  // MARK: Keeping

  private var name: Name { Name(connection: ObjectIdentifier(connection), path: path) }

  /// Makes the call that hands the promises in, and keeps them unless the service refuses it. A call that was not answered may have been carried out.
  nonisolated(nonsending) func handedIn<Answer>(
    by call: nonisolated(nonsending) () async throws(StagedoorError) -> Answer
  ) async throws(StagedoorError) -> Answer {
    let kept = export()
    do throws(StagedoorError) {
      let answer = try await call()
      kept.watch()
      return answer
    } catch {
      if error.code == .timedOut || error.code == .taskCancelled { kept.watch() } else { kept.wasRefused() }
      throw error
    }
  }

  /// The promises that are kept: an earlier call with the same token may have handed them in.
  private func export() -> Promises {
    let promised = items.indices.filter { !items[$0].isEmpty }
    if promised.isEmpty { return self }
    let (kept, calls) = Promises.kept.withLock { kept in
      let calls = kept[name]?.calls ?? 0
      kept[name, default: (self, 0)].calls += 1
      return (kept[name]?.promises ?? self, calls)
    }
    if calls == 0 { for index in promised { connection.export(interface(ofItem: index), at: path(ofItem: index)) } }
    return kept
  }

  private func wasRefused() {
    let isUnused = Promises.kept.withLock { kept in
      guard kept[name]?.promises === self else { return false }
      kept[name]?.calls -= 1
      return kept[name]?.calls == 0
    }
    if isUnused { end() }
  }

  /// A restarted service asks for promises again only if they are renewed.
  private func watch() {
    state.withLock { state in
      if state.open.isEmpty || state.watch != nil { return }
      state.watch = connection.loop.task {
        if let owners = try? await self.connection.owners(of: InterchangeNames.bus) {
          var owner = owners.makeAsyncIterator()
          guard case .some(.some) = await owner.next() else { return self.end() }
          while let next = await owner.next(), self.token != nil {
            if next != nil, !(await self.isRenewed()) { break }
          }
        }
        self.end()
      }
    }
  }

  /// The application may need a moment to attach to the new service.
  private func isRenewed() async -> Bool {
    guard let token else { return false }
    var pause = Duration.milliseconds(100)
    while pause < .seconds(10) {
      do throws(StagedoorError) {
        try await stagedoor.call("RenewPromises", token)
        return true
      } catch  where error.code == .accessDenied {
        await connection.loop.sleep(for: pause)
        pause *= 2
      } catch {
        return false
      }
    }
    return false
  }

  private func end() { for index in state.withLock(\.open) { end(index) } }

  /// Nobody opens the item any more: removes its object.
  private func end(_ index: Int) {
    connection.unexport(at: path(ofItem: index))
    let (loads, watch) = state.withLock { state in
      state.open.remove(index)
      let loads = state.loads.filter { $0.key.item == index }
      for key in loads.keys { state.loads[key] = nil }
      return (loads.values.flatMap(\.self), state.open.isEmpty ? state.watch : nil)
    }
    for progress in loads { progress.cancel() }
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
    guard let source = items[index].first(where: { $0.type == type })?.source else {
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
        reply.fail(ErrorReply(ErrorName(unchecked: error.code.rawValue), error.message))
      }
      self.state.withLock { state in
        state.loads[key]?.removeAll { $0 === progress }
        if state.loads[key]?.isEmpty ?? false { state.loads[key] = nil }
      }
    }
  }
}

extension ItemProvider.Source {
  /// Whether the representation is loaded when a host opens it.
  var isLazy: Bool {
    switch self {
    case .loader, .fileLoader: true
    case .data, .text, .file, .delivered: false
    }
  }
}
