internal import Glibc

/// Serving calls: find the object, check the access, check the types, call the handler.
extension Connection {
  /// From now on the connection asks the bus for a sender's credentials before its first call, and every access check finds them in
  /// ``Call/knownCredentials``. A sender that cannot be identified, such as one that has left already, gets `AccessDenied`. If strangers are
  /// admitted, its calls come without credentials, and each access check decides about strangers.
  ///
  /// The calls of a sender wait for the answer, and keep their order.
  ///
  /// The connection is then one of a service with many callers, so the buffer of its socket gets smaller: answers to one caller that fill the buffer
  /// would delay those to all others.
  public nonisolated func identifyCallers(admittingStrangers: Bool = false) {
    onLoop {
      $0.callers.identifies = true
      $0.callers.admitsStrangers = admittingStrangers
      $0.shortenQueue()
    }
  }

  /// From now on asynchronous handlers resume on the loop whenever they waited. A program that must sleep while nothing happens gives Swift's own
  /// threads no job.
  package nonisolated func keepHandlersOnLoop() { onLoop { $0.handlers.stayOnLoop = true } }

  /// From now on shows `observer` every call before it is carried out, including calls that are refused or dropped. For logs.
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

  /// From now on calls `observer`, on the loop, for everyone who leaves the bus. This requires that callers are identified.
  package nonisolated func observeDepartures(_ observer: @escaping @Sendable (BusName) -> Void) {
    onLoop { $0.callers.departed = observer }
  }

  // MARK: Holding calls, for a service that needs its name before it can answer: another instance still uses its data

  /// From now on calls wait for ``releaseCalls()``. The callers are identified meanwhile, while they are still there.
  package nonisolated func holdCalls() { onLoop { $0.callers.queue.isHeld = true } }

  /// Carries out calls again, the waiting ones first.
  package nonisolated func releaseCalls() {
    onLoop { connection in
      connection.callers.queue.isHeld = false
      connection.loop.setHungry(connection)
    }
  }

  /// Refuses the waiting calls: nobody will come who could answer them.
  package nonisolated func refuseHeldCalls(_ reply: ErrorReply) {
    onLoop { connection in
      guard connection.callers.queue.isHeld else { return }
      connection.callers.queue.isHeld = false
      for call in connection.callers.queue.takeAll() { call.fail(reply) }
    }
  }

  /// Returns when every call that has come in by now has reached its handler or is held, so that no call waits for the bus to identify its caller.
  package func callsAreIdentified() async {
    for question in callers.queue.questions { await question.value }
    for sender in callers.queue.readySenders { await withCheckedContinuation { callers.queue.whenGone(sender, $0) } }
  }

  /// Whether calls of `sender` wait for their turn. An answer of the sender does not wait, so it may be read before calls that the sender made earlier.
  package nonisolated func hasCalls(of sender: BusName) -> Bool {
    loop.enter(self) { $0.callers.queue.hasCalls(of: sender) }
  }

  /// Returns when the calls of `sender` that wait now have gone to their handlers.
  package func callsHaveGone(of sender: BusName) async {
    await withCheckedContinuation { callers.queue.whenGone(sender, $0) }
  }

  // MARK: Admitting calls

  /// Admits an incoming call: the call waits for its turn, or is refused at once. A refusal costs less than the bus takes to pass on a call, so no
  /// sender can make the bus's messages for this service pile up.
  func admit(_ message: consuming Message) {
    let call = Call(message, on: self, isFromBus: uniqueName != nil)
    if call.carriesDescriptors, let refusal = refusalOfDescriptors(call) {
      // The descriptors are closed with the call, which waits for nothing: a process may have few descriptors, and a message may have hundreds.
      callers.observer?(call)
      call.fail(refusal)
      bytesJustRead += Self.unmeasured
      return
    }
    let (name, bytes) = (call.sender, call.message.size)
    bytesJustRead += bytes + Self.headerSize
    let sender = callers.queue.sender(making: name)
    do throws(ErrorReply) {
      try callers.queue.add(call, bytes, of: sender)
    } catch {
      callers.observer?(call)
      if let refusal = call.refusal(error, to: sender), !callers.queue.add(refusal) { send(refusal) }
      return
    }
    guard case .unknown = sender.identity else { return }
    if !callers.identifies {
      identify(sender, as: nil)
    } else if let name, let known = credentials.known[name] {
      identify(sender, as: known)
    } else {
      sender.identity = .asked(loop.task { await self.identify(sender) })
    }
  }

  /// The error for a call that may not keep its descriptors. While calls are held the objects do not exist yet, and before the bus has identified the
  /// caller, it sees no object that only some may see. A call to an unknown object is checked again when it is carried out, and the queue limits the
  /// waiting calls with descriptors.
  private func refusalOfDescriptors(_ call: Call) -> ErrorReply? {
    do {
      return try method(for: call).1.takesDescriptors ? nil : Self.takesNone(call)
    } catch {
      return (callers.queue.isHeld || callers.identifies) && error.name == .unknownObject ? nil : error
    }
  }

  private static func takesNone(_ call: Call) -> ErrorReply {
    ErrorReply(.invalidArgs, "the method \(call.member) takes no file descriptors")
  }

  private func send(_ refusal: CallQueue.Refusal) {
    if let message = try? Message.error(to: refusal.sender.name, refusal.serial, refusal.error) { post(message) }
  }

  /// Sends refusals, up to a bound, while there is space for them: dbus-daemon keeps an account of each call until it is answered. Returns whether
  /// there are more.
  private func sendRefusals() -> Bool {
    for _ in 0..<TurnShare.maximumRefusals {
      guard let refusal = callers.queue.nextRefusal() else { return false }
      send(refusal)
    }
    breathe()
    return callers.queue.hasRefusals && hasSpace
  }

  private func identify(_ sender: CallQueue.Sender) async {
    do throws(CallError) {
      identify(sender, as: try await credentials(of: sender.name))
    } catch  where callers.admitsStrangers {
      // After any other failure the caller may still be there, and wait for its answers.
      if case .replied(let reply) = error, reply.name == .nameHasNoOwner, let name = sender.name {
        showDropped(callers.queue.callerLeft(name))
      }
      identify(sender, as: nil)
    } catch {
      for call in callers.queue.takeAll(of: sender) {
        callers.observer?(call)
        call.fail(ErrorReply(.accessDenied, "the bus does not say who is calling"))
      }
    }
    loop.setHungry(self)
  }

  private func identify(_ sender: CallQueue.Sender, as credentials: Credentials?) {
    showDropped(callers.queue.identify(sender, as: credentials))
  }

  func showDropped(_ calls: [Call]) {
    if let observer = callers.observer { for call in calls { observer(call) } }
  }

  // MARK: Carrying out calls

  /// Carries out calls, up to this turn's share. Returns whether more wait for the next turn.
  func serveCalls() -> Bool {
    if !callers.queue.isReady { return callers.queue.hasRefusals && hasSpace && sendRefusals() }
    // Answers would wait behind messages that the bus has not read yet. The loop wakes when there is space.
    if !hasSpace { return false }
    var now = TimerQueue.now
    if callers.share.turn != loop.turn { callers.share = TurnShare(turn: loop.turn, now) }
    var slice = now + TurnShare.slice
    var work = WorkTime()
    while !callers.share.isUsed(now) {
      if hasUnsent && !hasSpace { return false }
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
        let end = TimerQueue.now
        callers.queue.charge(sender, work.time(of: end - now), bytes: bytes, end)
        callers.share.add(bytes)
        now = end
      }
      if now > slice {
        breathe()
        if !hasSpace { return false }
        now = TimerQueue.now
        work = WorkTime()
        slice = now + TurnShare.slice
      }
    }
    return true
  }

  /// Continues with the calls of senders that rest until this moment.
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
        // Every path answers Peer, with or without an object.
        if name == StandardInterfaces.peer.name { return try entry(member, in: StandardInterfaces.peer) }
        throw unknownObject(path)
      }
      for interface in interfaces where interface.name == name { return try entry(member, in: interface) }
      if let interface = standardInterfaces(at: path).first(where: { $0.name == name }) {
        return try entry(member, in: interface)
      }
      throw unknownInterface(name.rawValue, at: path)
    }
    guard let interfaces = objects.interfaces(at: path, for: call) else { throw unknownObject(path) }
    for interface in interfaces + standardInterfaces(at: path) {
      if let method = interface.method(member) { return (interface, method) }
    }
    throw ErrorReply(.unknownMethod, "the object \(shown(path)) has no method \(member)")
  }

  private func entry(
    _ member: MemberName, in interface: Interface
  ) throws(ErrorReply) -> (Interface, Interface.MethodEntry) {
    guard let method = interface.method(member) else {
      throw ErrorReply(.unknownMethod, "\(interface.name) has no method \(member)")
    }
    return (interface, method)
  }

  func unknownObject(_ path: ObjectPath) -> ErrorReply {
    ErrorReply(.unknownObject, "there is no object at \(shown(path))")
  }

  func unknownInterface(_ name: String, at path: ObjectPath) -> ErrorReply {
    ErrorReply(.unknownInterface, "the object \(shown(path)) has no interface \(name)")
  }

  /// The interfaces that the binding adds to every object.
  func standardInterfaces(at path: ObjectPath) -> [Interface] {
    objects[path]?.isManager == true ? StandardInterfaces.ofManager : StandardInterfaces.ofObject
  }
}

/// The steps before a call is looked at: it waits for its turn, and observers see it.
struct CallAdmission {
  var identifies = false
  var admitsStrangers = false
  var observer: (@Sendable (Call) -> Void)?
  var departed: (@Sendable (BusName) -> Void)?
  var queue = CallQueue()
  fileprivate var share = TurnShare(turn: 0, 0)
  /// The time at which resting senders are looked at again.
  fileprivate var wake: Instant?
}

/// The working time of calls: a call does not count as longer because other threads had the processor.
private struct WorkTime {
  /// Asking the kernel takes longer than it could save for a shorter call.
  private static let short: UInt64 = 100_000
  private var asked = threadTime
  /// The time of short calls since then.
  private var since: UInt64 = 0

  /// The working time of a call that ended after so many nanoseconds.
  mutating func time(of span: UInt64) -> UInt64 {
    if span < Self.short {
      since += span
      return span
    }
    let (before, now) = (asked + since, Self.threadTime)
    (asked, since) = (now, 0)
    return before < now ? min(now - before, span) : 1
  }

  /// The processor time of this thread, in nanoseconds.
  private static var threadTime: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// The most work of one turn of the loop. Then the turn ends: the decisions are stored and announced, and others on the loop come next.
private struct TurnShare {
  /// Storing more calls together gains nothing.
  static let maximumCalls = 256
  /// This many fit into one piece of mail.
  static let maximumRefusals = 32
  /// The bytes of arguments: a large document takes a turn almost by itself.
  private static let maximumBytes = 1 << 20
  /// In nanoseconds. The first caller of a turn waits this long for an answer that is given at the turn's end.
  private static let time: UInt64 = 4_000_000
  /// After this many nanoseconds the socket is read and written in between, so that a new caller need not wait for the turn's end.
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
