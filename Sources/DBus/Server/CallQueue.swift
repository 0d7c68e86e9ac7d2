internal import Glibc

/// The incoming calls that wait for their turn: a queue for each sender.
///
/// The senders take turns, one call each. So if a sender floods the service, the others wait for one of its calls, and not for all. After its calls a
/// sender rests for a multiple of the time that they took: otherwise every call of the others would find a long one under way. All senders that have
/// left the bus count as one sender, so no program gets more turns, or a longer queue, by calling over many short connections. The calls of one sender
/// keep their order. A call also waits here until the bus has identified its caller, and while calls are held.
struct CallQueue {
  /// The most calls of one sender that wait. A service starts within seconds, and the bus answers within a round trip: a sender that sends more in
  /// this time does not want answers. dbus-daemon looks at all of them for each further call of that sender, and everyone waits meanwhile.
  static let limitForEachSender = 2048
  /// The most bytes of one sender's calls that wait, beside one call of any length: two of the largest documents, with space to spare.
  static let byteLimitForEachSender = 32 << 20
  /// The most calls of one sender that wait with file descriptors. Each may have hundreds of them, and a process may have few.
  static let descriptorLimitForEachSender = 4
  /// The most of them of all senders together. With the sixteen descriptors that a bus usually passes on, they take a quarter of those that the process
  /// may have: libdbus closes the connection when a message brings more than are left.
  private static let descriptorLimitForAll: Int = {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return max(16, Int(clamping: limit.rlim_cur) / 64)
  }()
  /// The most calls that wait of all senders that have left, if each has left one: a script that does not wait for an answer calls once and leaves.
  /// Further calls of theirs are dropped: nobody could hear a refusal.
  static let limitForDeparted = 16_384
  /// The first call of a sender that has left waits beside all long ones, if it is no longer than this. So nobody's long calls push it out.
  static let shortCall = 2 << 10
  /// The most first calls with file descriptors that wait of all senders that have left.
  static let descriptorLimitForDeparted = 32
  /// A rest follows every longer call, whatever work there is. Otherwise a sender that waits for each answer would have all of the time.
  private static let shortTime: UInt64 = 1_000_000
  /// After this much time in short calls, the sender rests if the socket has unread data: another sender's call may be in it, and all senders share
  /// one socket.
  private static let shareBetweenReading: UInt64 = 100_000
  /// A rest is this many times as long as the work before it. So three quarters of the calls of others come while this sender rests.
  private static let restFactor: UInt64 = 3
  /// The same for a sender of whom more bytes wait than this. The service must read at least as fast as the bus sends, because all senders share
  /// one socket, so it spends most of its time reading.
  private static let (flood, floodFactor) = (1 << 20, 20 as UInt64)
  private static let longestRest: UInt64 = 1_000_000_000
  /// The time in which a byte of a long answer passes through the socket and the bus, in nanoseconds. Other answers stand behind it.
  private static let timeOfAnsweredByte: UInt64 = 4

  enum Identity {
    case unknown
    case asked(Task<Void, Never>)
    /// The bus has answered. There are no credentials if strangers are admitted, or if nobody asks for them.
    case known(Credentials?)
  }

  /// One sender, or all that have left the bus. On the loop only, like the queue.
  final class Sender {
    fileprivate struct Waiting {
      let call: Call
      let bytes: Int
    }

    let name: BusName?
    var identity: Identity
    /// A call that has gone to its handler leaves `nil`.
    fileprivate var waiting: [Waiting?] = []
    /// The number of calls in `waiting` that have gone to their handlers.
    fileprivate var done = 0
    /// The number of all calls that have gone.
    fileprivate var gone: UInt64 = 0
    /// Who waits until so many have gone, in this order.
    fileprivate var watchers: [(gone: UInt64, goOn: CheckedContinuation<Void, Never>)] = []
    fileprivate var bytes = 0
    fileprivate var withDescriptors = 0
    fileprivate var hasLeft = false
    /// The refusals that wait for space in the socket.
    fileprivate var refusals = 0
    /// The number of its last turn, or of a turn shortly before it came.
    fileprivate var turn: Int64
    fileprivate var restsUntil: Instant = 0
    /// Until then unread messages come before its next call.
    fileprivate var yieldsUntil: Instant = 0
    /// The time of short calls since the last rest.
    fileprivate var unrested: UInt64 = 0

    fileprivate init(_ name: BusName?, turn: Int64) {
      (self.name, self.turn) = (name, turn)
      identity = .unknown
    }

    deinit { for watcher in watchers { watcher.goOn.resume() } }

    fileprivate var key: String { name?.rawValue ?? "" }
    fileprivate var isEmpty: Bool { done == waiting.count }
    fileprivate var count: Int { waiting.count - done }
    fileprivate var isAsked: Bool { if case .asked = identity { true } else { false } }

    fileprivate func add(_ call: Call, _ bytes: Int) {
      if call.carriesDescriptors { withDescriptors += 1 }
      self.bytes += bytes
      waiting.append(Waiting(call: call, bytes: bytes))
    }

    fileprivate func takeFirst() -> Waiting? {
      guard !isEmpty, let first = waiting[done].take() else { return nil }
      done += 1
      gone += 1
      while let watcher = watchers.first, watcher.gone <= gone { watchers.removeFirst().goOn.resume() }
      bytes -= first.bytes
      if first.call.carriesDescriptors { withDescriptors -= 1 }
      // The places of calls that have gone are removed now and then: removing each at once would move all that wait.
      if done == waiting.count || done >= 64 && done * 2 >= waiting.count {
        waiting.removeFirst(done)
        done = 0
      }
      return first
    }
  }

  /// While this is true, calls come in and none is carried out.
  var isHeld = false
  /// By name; "" is the other side of a connection without a bus.
  private var senders: [String: Sender] = [:]
  /// The senders whose next call may be carried out, in the order in which they came.
  private var ready: [Sender] = []
  /// All senders that have left the bus.
  private let departed: Sender
  /// The number of turns so far.
  private var turns: Int64 = 0
  /// Refusals, which are sent when no call is carried out: otherwise answers would wait behind them in the bus.
  private var refusals: [Refusal] = []
  /// The most refusals that wait: some megabytes. Further ones are sent at once.
  private static let maximumRefusals = 65_536

  /// The senders without calls that are kept, so that most calls find their sender.
  private static let keptSenders = 64

  init() {
    departed = Sender(nil, turn: 0)
    departed.identity = .known(nil)
  }

  /// A call that was refused and released.
  struct Refusal {
    let sender: Sender
    let serial: UInt32
    let error: ErrorReply
  }

  /// Whether a call can be carried out.
  var isReady: Bool { !isHeld && !ready.isEmpty }
  /// The senders whose calls can be carried out. All that have left come last, because the calls of those that leave meanwhile become theirs.
  var readySenders: [Sender] { isHeld ? [] : ready.filter { $0 !== departed } + [departed] }
  var questions: [Task<Void, Never>] {
    senders.values.compactMap { if case .asked(let question) = $0.identity { question } else { nil } }
  }

  var hasRefusals: Bool { !refusals.isEmpty }
  var hasWork: Bool { isReady || hasRefusals }

  /// Keeps a refusal. Returns false if the limit is reached.
  mutating func add(_ refusal: Refusal) -> Bool {
    if refusals.count >= Self.maximumRefusals { return false }
    refusals.append(refusal)
    refusal.sender.refusals += 1
    return true
  }

  /// Takes the last refusal first, so that none has to be moved: nobody relies on their order. Nobody reads those of senders that have left.
  mutating func nextRefusal() -> Refusal? {
    while let refusal = refusals.popLast() {
      refusal.sender.refusals -= 1
      if !refusal.sender.hasLeft { return refusal }
    }
    return nil
  }

  // MARK: Coming

  func sender(_ name: BusName?) -> Sender? { senders[name?.rawValue ?? ""] }

  func hasCalls(of name: BusName) -> Bool { sender(name).map { !$0.isEmpty } ?? false }

  /// Goes on when the calls of a sender that wait now have gone to their handlers.
  func whenGone(_ name: BusName, _ goOn: CheckedContinuation<Void, Never>) {
    if let sender = sender(name) { whenGone(sender, goOn) } else { goOn.resume() }
  }

  func whenGone(_ sender: Sender, _ goOn: CheckedContinuation<Void, Never>) {
    if sender.isEmpty { return goOn.resume() }
    sender.watchers.append((sender.gone + UInt64(sender.count), goOn))
  }

  mutating func sender(making name: BusName?) -> Sender {
    if let sender = sender(name) { return sender }
    // Whoever comes now comes before the sender that has just had its turn.
    let sender = Sender(name, turn: turns - 1)
    senders[sender.key] = sender
    return sender
  }

  /// Adds a call, or throws the reason for refusing it.
  mutating func add(_ call: Call, _ bytes: Int, of sender: Sender) throws(ErrorReply) {
    try check(call, bytes, of: sender)
    sender.add(call, bytes)
    if sender.count == 1, case .known = sender.identity { ready.append(sender) }
  }

  private func check(_ call: Call, _ bytes: Int, of sender: Sender) throws(ErrorReply) {
    if sender.count >= Self.limitForEachSender { throw Self.tooMany }
    if !sender.isEmpty && sender.bytes + bytes > Self.byteLimitForEachSender { throw Self.tooLarge }
    if !call.carriesDescriptors { return }
    if sender.withDescriptors >= Self.descriptorLimitForEachSender { throw Self.tooManyDescriptors }
    let all = senders.values.reduce(departed.withDescriptors) { $0 + $1.withDescriptors }
    if all >= Self.descriptorLimitForAll { throw Self.tooManyDescriptorsOfAll }
  }

  /// The text is short, so that the bus can read more refusals than it passes on calls.
  private static let tooMany = ErrorReply(
    .limitsExceeded, "\(limitForEachSender) calls of this sender wait already")
  private static let tooLarge = ErrorReply(
    .limitsExceeded, "calls of this sender with \(byteLimitForEachSender) bytes wait already: wait for the answers")
  private static let tooManyDescriptors = ErrorReply(
    .limitsExceeded,
    "\(descriptorLimitForEachSender) calls of this sender with file descriptors wait already: wait for the answers")

  private static let tooManyDescriptorsOfAll = ErrorReply(
    .limitsExceeded, "\(descriptorLimitForAll) calls with file descriptors wait here already: call again")

  /// The bus has identified `sender`: its calls may be carried out. Returns those of a departed sender that the limit crowds out.
  mutating func identify(_ sender: Sender, as credentials: Credentials?) -> [Call] {
    sender.identity = .known(credentials)
    if sender.hasLeft { return bequeath(of: sender) }
    if !sender.isEmpty { ready.append(sender) }
    return []
  }

  // MARK: Going

  enum Next {
    case call(Call, of: Sender, bytes: Int)
    /// Unread messages should be read first.
    case unread
    /// All senders with calls rest; the first rest ends at this time.
    case rest(until: Instant)
  }

  /// Takes the next call; `nil` if there is none.
  mutating func next(_ now: Instant, hasUnread: () -> Bool) -> Next? {
    guard isReady else { return nil }
    var (first, rested) = (nil as Int?, Instant.max)
    for place in ready.indices {
      let sender = ready[place]
      rested = min(rested, sender.restsUntil)
      if sender.restsUntil <= now, first.map({ sender.turn < ready[$0].turn }) ?? true { first = place }
    }
    guard let place = first else { return .rest(until: rested) }
    let sender = ready[place]
    if sender.yieldsUntil > now && hasUnread() { return .unread }
    guard let next = sender.takeFirst() else { return nil }
    turns += 1
    sender.turn = turns
    if case .known(let credentials?) = sender.identity { next.call.identify(as: credentials) }
    if sender.isEmpty {
      ready.remove(at: place)
      // Credentials cost a descriptor, and the connection decides whose it remembers.
      if sender !== departed { sender.identity = .unknown }
    }
    return .call(next.call, of: sender, bytes: next.bytes)
  }

  /// `sender` rests for a multiple of the time of a call. Reading the call took time too: about a nanosecond for each byte.
  mutating func charge(_ sender: Sender, _ time: UInt64, bytes: Int, _ now: Instant) {
    let (sender, time) = (sender.hasLeft ? departed : sender, time + UInt64(bytes))
    sender.unrested += time
    if sender.unrested > Self.shareBetweenReading {
      let factor = sender.bytes > Self.flood ? Self.floodFactor : Self.restFactor
      let rest = now + min(sender.unrested * factor, Self.longestRest)
      if time > Self.shortTime {
        sender.restsUntil = max(sender.restsUntil, rest)
      } else {
        sender.yieldsUntil = rest
      }
      sender.unrested = 0
    }
    if senders.count > ready.count * 2 + Self.keptSenders { prune(now) }
  }

  /// Charges the receiver of a long answer with the time that the answer takes on its way.
  mutating func charge(answer bytes: Int, to name: BusName?, _ now: Instant) {
    guard let sender = sender(name) else { return }
    charge(sender, UInt64(bytes) * Self.timeOfAnsweredByte, bytes: 0, now)
  }

  /// Forgets senders without calls. Those that rest would otherwise come back as if they did not.
  private mutating func prune(_ now: Instant) {
    senders = senders.filter { _, sender in
      !sender.isEmpty || sender.isAsked || sender.refusals > 0 || max(sender.restsUntil, sender.yieldsUntil) > now
    }
  }

  /// Returns the calls that exceed the limit of all departed senders.
  mutating func callerLeft(_ name: BusName) -> [Call] {
    guard let sender = sender(name), !sender.hasLeft else { return [] }
    sender.hasLeft = true
    // Calls whose sender is being identified go on when that is done.
    return sender.isAsked ? [] : bequeath(of: sender)
  }

  /// The calls of a sender that has left go on as calls of all that have left, up to the limit. Returns the others.
  private mutating func bequeath(of sender: Sender) -> [Call] {
    senders[sender.key] = nil
    if sender.isEmpty { return [] }
    ready.removeAll { $0 === sender }
    let hadNone = departed.isEmpty
    var (isFirst, dropped) = (true, [] as [Call])
    while let one = sender.takeFirst() {
      if case .known(let credentials?) = sender.identity { one.call.identify(as: credentials) }
      one.call.abandon()
      if hasSpace(for: one.call, one.bytes, isFirst: isFirst) {
        departed.add(one.call, one.bytes)
      } else {
        one.call.crowdOut()
        dropped.append(one.call)
      }
      isFirst = false
    }
    if hadNone && !departed.isEmpty { ready.append(departed) }
    return dropped
  }

  private func hasSpace(for call: Call, _ bytes: Int, isFirst: Bool) -> Bool {
    let (limit, descriptorLimit) =
      isFirst
      ? (Self.limitForDeparted, Self.descriptorLimitForDeparted)
      : (Self.limitForEachSender, Self.descriptorLimitForEachSender)
    if departed.count >= limit || call.carriesDescriptors && departed.withDescriptors >= descriptorLimit {
      return false
    }
    return isFirst && bytes <= Self.shortCall || departed.isEmpty
      || departed.bytes + bytes <= Self.byteLimitForEachSender
  }

  /// Takes all calls of a sender that nobody can identify.
  mutating func takeAll(of sender: Sender) -> [Call] {
    var calls: [Call] = []
    while let waiting = sender.takeFirst() { calls.append(waiting.call) }
    senders[sender.key] = nil
    return calls
  }

  /// Takes all calls that could be carried out.
  mutating func takeAll() -> [Call] {
    exchange(&ready, with: []).flatMap { takeAll(of: $0) }
  }
}
