internal import DBus
internal import FoundationEssentials
internal import Glibc
internal import InterchangeWire
internal import SceneModel

/// The promises of one delivery's items: an object with `org.stagedoor.ItemProvider1`, at a path of its own.
///
/// The service calls the object when a host opens a representation, and tells it when nobody can open one any more. Until then the object keeps the
/// load handlers.
final class Promises: Sendable {
  private struct Key: Hashable {
    let item: UInt32
    let type: String
  }

  let path: ObjectPath
  private let connection: Connection
  private let items: Lock<[[ItemProvider.Representation]]>
  private let loads = Lock<[Key: [ItemProgress]]>([:])

  private static let count = Lock(0)

  init(_ items: [DragItem], on connection: Connection) {
    self.items = Lock(items.map(\.itemProvider.representations))
    self.connection = connection
    let number = Promises.count.withLock { count in
      count += 1
      return count
    }
    path = ObjectPath(unchecked: "/org/stagedoor/items/\(number)")
    connection.export(interface, at: path)
  }

  /// Adds the promises of more dragged items, whose numbers follow those of the first.
  func add(_ items: [DragItem]) {
    self.items.withLock { $0 += items.map(\.itemProvider.representations) }
  }

  /// Nobody opens the items any more: removes the object.
  func end() {
    connection.unexport(at: path)
    for progress in loads.withLock({ loads in
      defer { loads = [:] }
      return loads.values.flatMap(\.self)
    }) { progress.cancel() }
  }

  private var interface: Interface {
    var interface = Interface(InterchangeNames.provider)
    interface.method("Load", in: "item", "type", out: "data", "size") {
      (reply: Reply<OwnedFileDescriptor, Int64>, item: UInt32, type: String) in
      self.answer(reply) { self.load(item, type, reply) }
    }
    interface.method("CancelLoad", in: "item", "type") { (reply: Reply<>, item: UInt32, type: String) in
      self.answer(reply) {
        self.cancelLoads(Key(item: item, type: type))
        reply.send()
      }
    }
    interface.method("Release") { (reply: Reply<>) in
      self.answer(reply) {
        reply.send()
        self.end()
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
        reply.fail(ErrorReply(.accessDenied, "only \(InterchangeNames.bus) may ask for what an item promises"))
      } catch {
        reply.fail(ErrorReply(.failed, "the bus does not say who asks: \(error)"))
      }
    }
  }

  private func cancelLoads(_ key: Key) {
    let cancelled = loads.withLock { $0.removeValue(forKey: key) } ?? []
    for progress in cancelled { progress.cancel() }
  }

  private func load(_ item: UInt32, _ type: String, _ reply: Reply<OwnedFileDescriptor, Int64>) {
    let key = Key(item: item, type: type)
    let representation = items.withLock { items in
      item < items.count ? items[Int(item)].first { $0.type == type && $0.source.isLazy } : nil
    }
    guard let representation else {
      reply.fail(ErrorReply("org.stagedoor.Error.NoSuchItem", "item \(item) promises nothing of \(type)"))
      return
    }
    let progress = ItemProgress()
    loads.withLock { $0[key, default: []].append(progress) }
    connection.loop.task {
      do throws(StagedoorError) {
        let (data, size) = try await representation.source.open(type, progress)
        reply.send(data, Int64(size ?? -1))
      } catch {
        reply.fail(ErrorReply(ErrorName(unchecked: error.code.rawValue), error.message))
      }
      self.loads.withLock { loads in
        loads[key]?.removeAll { $0 === progress }
        if loads[key]?.isEmpty ?? false { loads[key] = nil }
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
