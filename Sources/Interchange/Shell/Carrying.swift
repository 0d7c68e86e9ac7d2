import Baggage
package import DBus
import InterchangeCore
import InterchangeTurns
package import InterchangeWire
package import SceneModel

// What deliveries and drags carry. The baggage room has the bytes and the descriptors, on a loop of its own; what is decided about them, the core
// decides. A descriptor that comes with a call belongs to the call until it is answered or the room takes it.
extension Interchange {
  // MARK: Handing in

  package func dropURIs(_ list: Text, _ type: Text, _ key: Text, _ reply: DeliveryReply) throws {
    let payload: Payload
    do {
      let list = try URIList(list)
      // Before a file is looked at.
      if list.namesFiles { try refuseSandbox(reply.call, "name files: it sends descriptors, or a portal's key") }
      payload = Payload(items: try list.items(activityType: type, key: key, fileType: settings.fileType))
    } catch let fault as Fault {
      throw InterchangeError(payload: fault)
    }
    deliver(payload, [], size: list.count, reply)
  }

  package func dropData(
    _ type: Text, _ name: Text, _ activityType: Text, _ key: Text, _ data: OwnedFileDescriptor, _ reply: DeliveryReply
  ) throws {
    let item: Item
    do throws(Fault) {
      item = try Item(ofType: type, suggestedName: name, activityType: activityType, key: key)
    } catch {
      throw InterchangeError(payload: error)
    }
    deliver(Payload(items: [item]), [data], size: 0, reply)
  }

  package func deliverItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: DeliveryReply
  ) throws {
    deliver(payload, descriptors, size: payload.weight, reply)
  }

  private func deliver(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], size: Int, _ reply: DeliveryReply
  ) {
    let digest: Text = payload.options.token == nil ? .empty : Digest(of: Text("items \(payload.json)")).hex
    call(reply.call, .deliver(payload, digest: digest, size: size), bringing: descriptors) { $0.send(to: reply) }
  }

  /// Takes contents into the room, one after the other.
  func pack(_ number: CallNumber, _ orders: [PackingOrder], atMost limit: Int) {
    let descriptors = luggage.removeValue(forKey: number) ?? []
    connection.loop.task {
      let answer = await pack(orders, descriptors, Int64(limit), for: number)
      feed(.packed(number, answer))
    }
  }

  private func pack(
    _ orders: [PackingOrder], _ descriptors: [OwnedFileDescriptor], _ limit: Int64, for number: CallNumber
  ) async -> PackingAnswer {
    var sizes: [Int64?] = []
    var rest = limit
    do throws(InterchangeError) {
      for order in orders {
        // The call may have been answered while the last content was taken: the room has freed that, and is to take nothing more.
        if replies[number] == nil { throw InterchangeError(.cancelled, "nobody waits for the answer any more") }
        let size = try await pack(order, descriptors, rest)
        if case .file(_, inPlace: true) = order.source {} else { rest -= size ?? 0 }
        sizes.append(size)
      }
      return .packed(sizes)
    } catch {
      return .failed(error)
    }
  }

  private func pack(
    _ order: PackingOrder, _ descriptors: [OwnedFileDescriptor], _ limit: Int64
  ) async throws(InterchangeError) -> Int64? {
    let (number, delivery, place) = (order.number, order.delivery, order.place.string)
    switch order.source {
    case .bytes(let bytes):
      try await room.keep(bytes, as: number, of: delivery, at: place)
      return Int64(bytes.count)
    case .file(let url, inPlace: true): return try await room.check(fileAt: url, at: place)
    case .file(let url, inPlace: false):
      return try await room.copy(fileAt: url, as: number, of: delivery, atMost: limit, at: place)
    case .descriptor(let index):
      guard descriptors.indices.contains(index) else {
        throw InterchangeError(.invalidPayload, "\(place): expected a descriptor of the call, got number \(index)")
      }
      return try await room.keep(descriptors[index], as: number, of: delivery, at: place)
    case .promise(let promise):
      let (data, promised) = try await load(promise, within: .seconds(60))
      let size = try await room.copy(data, as: number, of: delivery, atMost: limit, at: place)
      // A source that dies closes its pipe, and so does one that is done.
      if let promised, size < promised {
        throw InterchangeError(.sourceGone, "\(place): the source said \(promised) bytes, and ended after \(size)")
      }
      return size
    }
  }

  // MARK: Opening

  package func openItem(
    _ delivery: Text, _ item: UInt32, _ type: Text, _ reply: Reply<OwnedFileDescriptor, Int64>
  ) throws {
    let ask = Ask.openItem(try deliveryIdentifier(delivery), item: Int(item), type: type)
    let (number, opening) = (newCallNumber(), Opening())
    openings[number] = opening
    call(reply.call, ask, as: number) { answer in
      guard case .opened(let size) = answer, let data = opening.data else { return answer.fail(reply) }
      reply.send(data, size)
    }
  }

  package func releaseDelivery(_ delivery: Text, _ reply: Reply<>) throws {
    call(reply.call, .release(try deliveryIdentifier(delivery))) { $0.send(to: reply) }
  }

  /// Opens a parcel for a caller.
  func open(_ number: CallNumber, _ delivery: UniqueIdentifier, _ parcel: Parcel, within patience: Duration) {
    if case .promise(let promise) = parcel.content { openings[number]?.promise = promise }
    openings[number]?.task = connection.loop.task { await open(parcel, of: delivery, within: patience, for: number) }
  }

  private func open(
    _ parcel: Parcel, of delivery: UniqueIdentifier, within patience: Duration, for number: CallNumber
  ) async {
    let answer: OpeningAnswer
    do throws(InterchangeError) {
      let (data, size) = try await open(parcel, of: delivery, within: patience)
      openings[number]?.data = data
      answer = .opened(size: size)
    } catch {
      answer = .failed(error)
    }
    // Nobody takes what was called off meanwhile.
    if openings.removeValue(forKey: number) != nil { feed(.opened(number, answer)) }
  }

  private func open(
    _ parcel: Parcel, of delivery: UniqueIdentifier, within patience: Duration
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, Int64?) {
    switch parcel.content {
    case .data(let bytes): (try BaggageRoom.memoryFile(bytes), Int64(bytes.count))
    case .kept(let number): try await room.open(number, of: delivery, at: "the item")
    case .file(let url): try await room.open(fileAt: url, at: "the item")
    case .promise(let promise): try await load(promise, within: patience)
    }
  }

  /// Nobody waits for it any more. The source of a promise may stop what it does.
  func callOff(_ number: CallNumber) {
    guard let opening = openings.removeValue(forKey: number) else { return }
    opening.task?.cancel()
    if let promise = opening.promise { cancelLoad(of: promise) }
  }

  private func cancelLoad(of promise: Promise) {
    guard let source = ItemSource(promise, on: connection) else { return }
    connection.loop.task { try? await source.cancelLoad(within: .seconds(5)) }
  }

  /// Nobody asks for it any more. A source that has left needs not be told.
  func endPromise(_ promise: Promise) {
    guard let source = ItemSource(promise, on: connection) else { return }
    connection.loop.task { try? await source.release(within: .seconds(5)) }
  }

  /// Asks the source for what it promised.
  private func load(
    _ promise: Promise, within patience: Duration
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, Int64?) {
    guard let source = ItemSource(promise, on: connection) else {
      throw InterchangeError(.sourceGone, "the promise of \(promise.type) names no object that could be asked")
    }
    do throws(CallError) {
      let (data, size) = try await source.load(within: patience)
      return (data, size)
    } catch {
      switch error {
      case .timedOut:
        cancelLoad(of: promise)
        throw InterchangeError(.sourceGone, "the source did not hand out \(promise.type) within \(patience)")
      case .replied(let reply) where [.noReply, .serviceUnknown, .nameHasNoOwner].contains(reply.name):
        throw InterchangeError(.sourceGone, "the source of \(promise.type) has left the bus")
      case .replied(let reply):
        throw InterchangeError(.routing(Text(reply.name.rawValue)), "the source of \(promise.type): \(error.short)")
      default: throw InterchangeError(.sourceGone, "the source of \(promise.type) cannot be asked: \(error.short)")
      }
    }
  }

  /// The room forgets what it has of these deliveries.
  func free(_ deliveries: [UniqueIdentifier]) { connection.loop.task { await room.free(deliveries) } }

  func free(_ parcels: [Int], of delivery: UniqueIdentifier) {
    connection.loop.task { await room.free(parcels, of: delivery) }
  }

  // MARK: Drags

  package func beginDrag(_ document: Text, _ reply: Reply<ObjectPath, String>) throws {
    begin(try readPayload(document), [], outlivesSource: true, size: document.count, reply)
  }

  package func beginDragItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: Reply<ObjectPath, String>
  ) throws {
    begin(payload, descriptors, outlivesSource: false, size: payload.weight, reply)
  }

  private func begin(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], outlivesSource: Bool, size: Int,
    _ reply: Reply<ObjectPath, String>
  ) {
    let ask = Ask.beginDrag(payload, ticket: Interchange.ticket(), outlivesSource: outlivesSource, size: size)
    call(reply.call, ask, bringing: descriptors) { answer in
      guard case .dragBegun(let drag, let ticket) = answer else { return answer.fail(reply) }
      reply.send(InterchangeNames.path(ofDrag: drag), ticket.string)
    }
  }

  /// 128 random bits, in letters.
  private static func ticket() -> Text {
    var random = SystemRandomNumberGenerator()
    let letters = (0..<2).flatMap { _ in
      let bits: UInt64 = random.next()
      return (0..<16).map { UInt8(ascii: "a") + UInt8(bits >> (4 * $0) & 15) }
    }
    return Text(String(decoding: letters, as: UTF8.self))
  }

  package func openDrag(_ ticket: Text, _ reply: Reply<ObjectPath>) throws {
    call(reply.call, .openDrag(ticket: ticket)) { answer in
      guard case .dragOpened(let drag) = answer else { return answer.fail(reply) }
      reply.send(InterchangeNames.path(ofDrag: drag))
    }
  }

  package func drag(_ access: PropertyAccess) throws -> DragView {
    endTurn()
    if let drag = InterchangeNames.drag(at: access.path), let call = access.call,
      let view = prompter.book.viewOfDrag(drag, for: callers.caller(of: call))
    {
      return view
    }
    throw InterchangeError(.unknownObject, "there is no drag at \(access.path) for this caller: open its ticket first")
  }

  /// A drag is there for those who take part in it.
  func isDrag(_ path: ObjectPath, _ call: Call?) -> Bool {
    guard let drag = InterchangeNames.drag(at: path), let call else { return false }
    endTurn()
    return prompter.book.viewOfDrag(drag, for: callers.caller(of: call)) != nil
  }

  package func addItems(
    _ items: [Item], _ descriptors: [OwnedFileDescriptor], at path: ObjectPath, _ reply: Reply<>
  ) throws {
    let ask = Ask.addItems(items, to: try drag(at: path), size: items.weight)
    call(reply.call, ask, bringing: descriptors) { $0.send(to: reply) }
  }

  package func cancelDrag(at path: ObjectPath, _ reply: Reply<>) throws {
    call(reply.call, .cancelDrag(try drag(at: path))) { $0.send(to: reply) }
  }

  package func propose(_ session: ObjectPath, at path: ObjectPath, _ reply: Reply<String>) throws {
    let ask = Ask.propose(try drag(at: path), on: try target(session))
    call(reply.call, ask) { answer in
      if case .operation(let operation) = answer { reply.send(operation.string) } else { answer.fail(reply) }
    }
  }

  package func dropOn(
    _ session: ObjectPath, _ operation: Text, at path: ObjectPath, _ reply: DeliveryReply
  ) throws {
    call(reply.call, .drop(try drag(at: path), on: try target(session), operation: operation)) { $0.send(to: reply) }
  }

  private func drag(at path: ObjectPath) throws(InterchangeError) -> UniqueIdentifier {
    if let drag = InterchangeNames.drag(at: path) { return drag }
    throw InterchangeError(.unknownObject, "there is no drag at \(path)")
  }

  /// A session, or `nil` for the edge of the screen.
  private func target(_ path: ObjectPath) throws(InterchangeError) -> UniqueIdentifier? {
    if path == .root { return nil }
    if let session = InterchangeNames.session(at: path) { return session }
    throw InterchangeError(.noSuchSession, "there is no session \(path)")
  }

  /// What those who take part in a drag are told, each by itself.
  func tell(of drag: UniqueIdentifier, _ news: DragNews, to listeners: [Text]) {
    let path = InterchangeNames.path(ofDrag: drag)
    for listener in listeners {
      let name = BusName(unchecked: listener.string)
      do throws(CodingError) {
        switch news {
        // The values differ for each of them.
        case .stateChanged: try tellChanged("State", of: path, to: name)
        case .itemsChanged: try tellChanged("Items", of: path, to: name)
        case .ended(let operation, let target):
          guard let dragEnded else { return }
          let session = target.map { InterchangeNames.path(ofSession: $0) } ?? .root
          try connection.emit(dragEnded, from: path, operation.string, session, to: name)
        }
      } catch {
        log.error("the end of a drag could not be told: \(error)")
      }
    }
  }

  private func tellChanged(_ property: String, of path: ObjectPath, to listener: BusName) throws(CodingError) {
    try connection.emit(
      from: path, "org.freedesktop.DBus.Properties", "PropertiesChanged", InterchangeNames.drag.rawValue,
      [String: Variant](), [property], to: listener)
  }

  // MARK: Pictures of windows

  func forgetSnapshot(of session: UniqueIdentifier) {
    connection.loop.task { await removeSnapshot(of: session) }
  }

  private func removeSnapshot(of session: UniqueIdentifier) async {
    do throws(InterchangeError) {
      try await room.removeSnapshots(of: [session])
    } catch {
      log.warning("the picture of a session that is gone could not be removed: \(error.message)")
    }
  }

  /// Removes what was kept for deliveries and sessions that are no longer there.
  func sweepRoom(keeping deliveries: Set<UniqueIdentifier>) async {
    do throws(InterchangeError) {
      try await room.sweep(keeping: deliveries)
      try await room.sweepSnapshots { session in await self.isStored(session) }
    } catch {
      log.warning("what an earlier service kept could not be looked through: \(error.message)")
    }
  }

  private func isStored(_ session: UniqueIdentifier) -> Bool {
    // What cannot be read now stays until the next start.
    do throws(InterchangeError) { return try storedSession(session) != nil } catch { return true }
  }

  package func setSnapshot(_ type: Text, _ data: OwnedFileDescriptor, at path: ObjectPath, _ reply: Reply<>) throws {
    endTurn()
    let session = try sessionToShow(path)
    try prompter.book.requireHost(callers.caller(of: reply.call), of: session.application)
    guard ContentType(type) != nil else {
      throw InterchangeError(
        .invalidArgs, "type: expected a content type such as image/png, got \(quoted(type.string))")
    }
    connection.loop.task { await keepSnapshot(of: session.identifier, type, data, reply) }
  }

  private func keepSnapshot(
    of session: UniqueIdentifier, _ type: Text, _ data: OwnedFileDescriptor, _ reply: Reply<>
  ) async {
    do throws(InterchangeError) {
      try await room.setSnapshot(of: session, type: type, from: data)
      endTurn()
      // It may have been discarded meanwhile.
      if try storedSession(session) == nil { try await room.removeSnapshots(of: [session]) }
      reply.send()
    } catch {
      reply.fail(error)
    }
  }

  package func openSnapshot(at path: ObjectPath, _ reply: Reply<String, OwnedFileDescriptor>) throws {
    endTurn()
    let session = try sessionToShow(path)
    let caller = callers.caller(of: reply.call)
    guard caller.mayTouch(session.application) else {
      throw InterchangeError(.unknownObject, "there is no session at \(path)")
    }
    if session.isPrivate || session.hasSecrets, !prompter.book.isHost(caller, of: session.application) {
      throw InterchangeError(.noSuchItem, "the session has no picture for others than its host")
    }
    let identifier = session.identifier
    connection.loop.task { await handOutSnapshot(of: identifier, reply) }
  }

  private func handOutSnapshot(
    of session: UniqueIdentifier, _ reply: Reply<String, OwnedFileDescriptor>
  ) async {
    do throws(InterchangeError) {
      let (type, data) = try await room.openSnapshot(of: session)
      reply.send(type.string, data)
    } catch {
      reply.fail(error)
    }
  }

  private func sessionToShow(_ path: ObjectPath) throws(InterchangeError) -> Session {
    if let identifier = InterchangeNames.session(at: path), let session = try storedSession(identifier) {
      return session
    }
    throw InterchangeError(.unknownObject, "there is no session at \(path)")
  }
}

/// What is opened for a call. The table of openings has it until it is opened or called off, the call's reply until that is sent.
final class Opening {
  var task: Task<Void, Never>?
  /// Its source is asked for it.
  var promise: Promise?
  var data: OwnedFileDescriptor?
}

extension Payload {
  fileprivate var weight: Int { items.weight }
}

extension [Item] {
  /// Bytes that came with the call, about.
  fileprivate var weight: Int {
    reduce(0) { sum, item in
      item.representations.reduce(sum + 256) { sum, representation in
        switch representation.content {
        case .data(let bytes): sum + bytes.count
        case .text(let text): sum + text.count
        default: sum + 64
        }
      }
    }
  }
}
