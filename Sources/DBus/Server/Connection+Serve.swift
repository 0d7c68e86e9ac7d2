internal import Glibc

/// Serving calls: find the object, check the access, check the types, call the handler.
extension Connection {
  /// From now on the bus is asked who a sender is before its first call is looked at, and ``Call/knownCredentials`` is there for
  /// every access check. A sender that cannot be identified, as one that has left already, is answered `AccessDenied`; where
  /// strangers are admitted, its calls come without credentials, and each access check decides what a stranger may.
  ///
  /// The calls of a sender wait for the answer, and keep their order.
  public nonisolated func identifyCallers(admittingStrangers: Bool = false) {
    onLoop {
      $0.callers.identifies = true
      $0.callers.admitsStrangers = admittingStrangers
    }
  }

  /// From now on `observer` is shown every call before it is carried out: those that will be refused, too. For logs.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.observeCalls { call in
  ///   print("\(call.sender ?? "a peer") calls \(call.member) at \(call.path) with \((try? call.variants()) ?? [])")
  /// }
  /// ```
  public nonisolated func observeCalls(_ observer: @escaping @Sendable (Call) -> Void) {
    onLoop { $0.callers.observer = observer }
  }

  /// From now on `observer` hears of everyone who leaves the bus, on the loop. Callers have to be identified for it.
  package nonisolated func observeDepartures(_ observer: @escaping @Sendable (BusName) -> Void) {
    onLoop { $0.callers.departed = observer }
  }

  /// A call has come in: it waits for its turn, or is refused at once. To refuse costs less than the bus takes to pass a call on, so whatever a
  /// sender does, what the bus has for this service does not pile up.
  func admit(_ message: consuming Message) {
    let call = Call(message, on: self, isFromBus: uniqueName != nil)
    if call.carriesDescriptors && !takesDescriptors(call) {
      // They are closed with the call, which waits for nothing: a process has few descriptors, and a message may have hundreds.
      callers.observer?(call)
      call.fail(Self.takesNone(call))
      return
    }
    let name = call.sender
    let sender = callers.queue.sender(making: name)
    do throws(ErrorReply) {
      try callers.queue.add(call, of: sender)
    } catch {
      if let refusal = call.refusal(error), !callers.queue.add(refusal) { send(refusal) }
      return
    }
    guard case .unknown = sender.identity else { return }
    if !callers.identifies {
      callers.queue.identify(sender, as: nil)
    } else if let name, let known = credentials.known[name] {
      callers.queue.identify(sender, as: known)
    } else {
      sender.identity = .asked(loop.task { await self.identify(sender) })
    }
  }

  /// Before the bus has said who calls: an object that is made up for some callers takes none. While calls are held, the objects are yet to
  /// come: each is asked when it is carried out, and the queue has a limit for what waits with descriptors.
  private func takesDescriptors(_ call: Call) -> Bool {
    do {
      return try method(for: call).1.takesDescriptors
    } catch {
      return callers.queue.isHeld && error.name == .unknownObject
    }
  }

  private static func takesNone(_ call: Call) -> ErrorReply {
    ErrorReply(.invalidArgs, "the method \(call.member) takes no file descriptors")
  }

  private func send(_ refusal: CallQueue.Refusal) {
    if let message = try? Message.error(to: refusal.destination, refusal.serial, refusal.error) { post(message) }
  }

  /// Sends refusals, up to a bound, while there is room for them: dbus-daemon keeps account of each call until it is answered. Returns whether there
  /// are more.
  private func sendRefusals() -> Bool {
    for _ in 0..<TurnShare.maximumRefusals {
      guard let refusal = callers.queue.nextRefusal() else { return false }
      send(refusal)
    }
    breathe()
    return callers.queue.hasRefusals && hasRoom
  }

  private func identify(_ sender: CallQueue.Sender) async {
    let answer: Result<Credentials, CallError>
    do throws(CallError) { answer = .success(try await credentials(of: sender.name)) } catch {
      answer = .failure(error)
    }
    switch answer {
    case .success(let credentials): callers.queue.identify(sender, as: credentials)
    case .failure where callers.admitsStrangers: callers.queue.identify(sender, as: nil)
    case .failure:
      for call in callers.queue.takeAll(of: sender) {
        callers.observer?(call)
        call.fail(ErrorReply(.accessDenied, "the bus does not say who is calling"))
      }
    }
    loop.setHungry(self)
  }

  /// Carries out calls, up to this turn's share. Returns whether the next turn goes on with more.
  func serveCalls() -> Bool {
    if !callers.queue.isReady { return callers.queue.hasRefusals && hasRoom && sendRefusals() }
    // What is answered now would stand behind what the bus has not read yet. The loop wakes when there is room.
    if !hasRoom { return false }
    var now = TimerQueue.now
    if callers.share.turn != loop.turn { callers.share = TurnShare(turn: loop.turn, now) }
    var slice = now + TurnShare.slice
    // The time of this thread: a call is not longer because others had the processor.
    var worked = ThreadTime.now
    while !callers.share.isUsed(now) {
      if hasUnsent && !hasRoom { return false }
      switch callers.queue.next(now, hasUnread: { hasUnread }) {
      case nil: return callers.queue.hasRefusals && sendRefusals()
      case .unread:
        if callers.queue.hasRefusals { _ = sendRefusals() }
        return true
      case .rest(let end):
        wakeCalls(at: end)
        return callers.queue.hasRefusals && sendRefusals()
      case .call(let call, let sender, let bytes):
        carryOut(call)
        let (end, before) = (TimerQueue.now, worked)
        worked = ThreadTime.now
        callers.queue.charge(sender, max(worked - before, 1), bytes: bytes, end)
        callers.share.add(bytes)
        now = end
      }
      if now > slice {
        breathe()
        if !hasRoom { return false }
        now = TimerQueue.now
        worked = ThreadTime.now
        slice = now + TurnShare.slice
      }
    }
    return true
  }

  /// Goes on with the calls of those that rest until then.
  private func wakeCalls(at moment: Instant) {
    if let wake = callers.wake, wake <= moment { return }
    callers.wake = moment
    _ = loop.timers.schedule(at: moment) { [weak self] in
      guard let self else { return }
      loop.enter(self) { connection in
        if connection.callers.wake == moment { connection.callers.wake = nil }
        if connection.callers.queue.hasWork { connection.loop.setHungry(connection) }
      }
    }
  }

  func carryOut(_ call: Call) {
    callers.observer?(call)
    do {
      let (interface, method) = try method(for: call)
      if call.carriesDescriptors && !method.takesDescriptors { throw Self.takesNone(call) }
      try interface.access?(call)
      try method.access?(call)
      guard call.message.hasSignature(method.inSignature) else {
        throw ErrorReply(
          .invalidArgs,
          "\(interface.name).\(call.member) takes \(describe(method.inSignature)), not \(describe(call.message.signature))"
        )
      }
      call.isMeant(for: method)
      try method.invoke(call)
    } catch {
      call.fail(error)
    }
  }

  private func describe(_ signature: Signature) -> String {
    signature == .empty ? "no arguments" : "\"\(signature)\""
  }

  private func method(for call: Call) throws(ErrorReply) -> (Interface, Interface.MethodEntry) {
    let (path, member) = (call.path, call.member)
    if let name = call.interface {
      guard let interfaces = objects.interfaces(at: path, for: call) else {
        // Peer is answered anywhere, also where there is no object.
        if name == StandardInterfaces.peer.name { return try entry(member, in: StandardInterfaces.peer) }
        throw unknownObject(path)
      }
      for interface in interfaces where interface.name == name { return try entry(member, in: interface) }
      if let interface = standardInterfaces(at: path).first(where: { $0.name == name }) {
        return try entry(member, in: interface)
      }
      throw ErrorReply(.unknownInterface, "the object \(shown(path)) has no interface \(name)")
    }
    guard let interfaces = objects.interfaces(at: path, for: call) else { throw unknownObject(path) }
    for interface in interfaces + standardInterfaces(at: path) {
      if let method = interface.methods[member] { return (interface, method) }
    }
    throw ErrorReply(.unknownMethod, "the object \(shown(path)) has no method \(member)")
  }

  private func entry(
    _ member: MemberName, in interface: Interface
  ) throws(ErrorReply) -> (Interface, Interface.MethodEntry) {
    guard let method = interface.methods[member] else {
      throw ErrorReply(.unknownMethod, "\(interface.name) has no method \(member)")
    }
    return (interface, method)
  }

  func unknownObject(_ path: ObjectPath) -> ErrorReply {
    ErrorReply(.unknownObject, "there is no object at \(shown(path))")
  }

  /// What the binding adds to every object.
  func standardInterfaces(at path: ObjectPath) -> [Interface] {
    objects[path]?.isManager == true ? StandardInterfaces.ofManager : StandardInterfaces.ofObject
  }
}

/// What happens to a call before it is looked at: it waits for its turn, and is shown to whoever observes.
struct CallAdmission {
  var identifies = false
  var admitsStrangers = false
  var observer: (@Sendable (Call) -> Void)?
  var departed: (@Sendable (BusName) -> Void)?
  var queue = CallQueue()
  fileprivate var share = TurnShare(turn: 0, 0)
  /// When those that rest are looked at again.
  fileprivate var wake: Instant?
}

/// The processor time of this thread, in nanoseconds.
private enum ThreadTime {
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// What one turn of the loop carries out at most. Then it ends: what was decided is stored and said, and others on the loop come next.
private struct TurnShare {
  /// As many as are worth storing together.
  static let maximumCalls = 256
  /// As many as fit into a piece of mail.
  static let maximumRefusals = 32
  /// Of arguments: a large document takes a turn of its own, or nearly.
  private static let maximumBytes = 1 << 20
  /// In nanoseconds. The first caller of a turn waits so long for an answer that is given at its end.
  private static let time: UInt64 = 4_000_000
  /// After so many nanoseconds the socket is read and written in between: whoever has just called need not wait for the turn's end.
  static let slice: UInt64 = 200_000

  let turn: UInt64
  private let end: Instant
  private var calls = 0
  private var bytes = 0

  init(turn: UInt64, _ now: Instant) {
    self.turn = turn
    end = now + Self.time
  }

  mutating func add(_ bytes: Int) {
    calls += 1
    self.bytes += bytes
  }

  func isUsed(_ now: Instant) -> Bool { calls >= Self.maximumCalls || bytes >= Self.maximumBytes || now >= end }
}
