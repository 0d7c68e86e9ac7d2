import DBus
import InterchangeCore
import InterchangeTurns
import InterchangeWire
import SceneModel

// Drags: the calls of their sources and targets, and the signals to both.
extension Interchange {
  func beginDrag(_ reply: Reply<ObjectPath, String>, _ document: Text) throws {
    begin(try readPayload(document), [], outlivesSource: true, size: document.count, reply)
  }

  func beginDragItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: Reply<ObjectPath, String>
  ) throws {
    begin(payload, descriptors, outlivesSource: false, size: payload.items.weight, reply)
  }

  private func begin(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], outlivesSource: Bool, size: Int,
    _ reply: Reply<ObjectPath, String>
  ) {
    redeem(payload, descriptors, size: size, reply) { payload, descriptors in
      // The ticket is in the reply only: without it nobody could drop or cancel the drag. And nobody hears again that this source leaves.
      if reply.call.isAbandoned { return CallAnswer.refused(.callerLeft).fail(reply) }
      if !reply.call.expectsReply {
        self.log.debug("\(reply.call.member): its caller wants no reply, so nobody gets the ticket: there is no drag")
        return CallAnswer.refused(.callerLeft).fail(reply)
      }
      let ask = Ask.beginDrag(payload, ticket: Interchange.ticket(), outlivesSource: outlivesSource, size: size)
      self.call(reply.call, ask, bringing: descriptors) { answer in
        guard case .dragBegun(let drag, let ticket) = answer else { return answer.fail(reply) }
        reply.send(InterchangeNames.path(ofDrag: drag), ticket.string)
      }
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

  func openDrag(_ reply: Reply<ObjectPath>, _ ticket: Text) throws {
    call(reply.call, .openDrag(ticket: ticket)) { answer in
      guard case .dragOpened(let drag) = answer else { return answer.fail(reply) }
      reply.send(InterchangeNames.path(ofDrag: drag))
    }
  }

  func drag(_ access: PropertyAccess) throws -> DragView {
    if let drag = InterchangeNames.drag(at: access.path), let call = access.call,
      let view = storedBook.viewOfDrag(drag, for: callers.caller(of: call))
    {
      return view
    }
    throw InterchangeError(.unknownObject, "there is no drag at \(access.path) for this caller: open its ticket first")
  }

  /// Only its participants can see a drag.
  func isDrag(_ path: ObjectPath, _ call: Call?) -> Bool {
    guard let drag = InterchangeNames.drag(at: path), let call else { return false }
    return storedBook.viewOfDrag(drag, for: callers.caller(of: call)) != nil
  }

  func addItems(_ items: [Item], _ descriptors: [OwnedFileDescriptor], _ reply: Reply<>) throws {
    let drag = try drag(at: reply.call.path)
    try storedBook.refuseWhatNoStrangerSends(items, to: drag)
    redeem(Payload(items: items), descriptors, size: items.weight, reply) { payload, descriptors in
      self.call(reply.call, .addItems(payload.items, to: drag, size: items.weight), bringing: descriptors) {
        $0.send(to: reply)
      }
    }
  }

  func cancelDrag(_ reply: Reply<>) throws {
    call(reply.call, .cancelDrag(try drag(at: reply.call.path))) { $0.send(to: reply) }
  }

  func propose(_ reply: Reply<String>, _ session: ObjectPath) throws {
    let ask = Ask.propose(try drag(at: reply.call.path), on: try target(session))
    call(reply.call, ask) { answer in
      if case .operation(let operation) = answer { reply.send(operation.string) } else { answer.fail(reply) }
    }
  }

  func dropOn(_ reply: DeliveryReply, _ session: ObjectPath, _ operation: Text) throws {
    let ask = Ask.drop(try drag(at: reply.call.path), on: try target(session), operation: operation)
    call(reply.call, ask) { $0.send(to: reply) }
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

  /// Sends the news of a drag to each of those who take part in it.
  func tell(of drag: UniqueIdentifier, _ news: DragNews, to listeners: [Text]) {
    let path = InterchangeNames.path(ofDrag: drag)
    for listener in listeners {
      let name = BusName(unchecked: listener.string)
      do throws(CodingError) {
        switch news {
        // The values differ from listener to listener.
        case .stateChanged: try tellChanged("State", "Operation", of: path, to: name)
        case .itemsChanged: try tellChanged("Items", of: path, to: name)
        case .ended(let operation, let target):
          let session = target.map { InterchangeNames.path(ofSession: $0) } ?? .root
          try connection.emit(dragEnded, from: path, operation.string, session, to: name)
        }
      } catch {
        log.error("a signal about a drag could not be sent: \(error)")
      }
    }
  }

  private func tellChanged(_ properties: String..., of path: ObjectPath, to listener: BusName) throws(CodingError) {
    try connection.emit(
      from: path, "org.freedesktop.DBus.Properties", "PropertiesChanged", InterchangeNames.drag.rawValue,
      [String: Variant](), properties, to: listener)
  }
}
