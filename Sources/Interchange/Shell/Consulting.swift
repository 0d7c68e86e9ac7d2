import Baggage
import DBus
import Glibc
import InterchangeCore
import SceneModel
import TextRules

// The rules that cannot be asked at once: the disk has to be asked for them, or the text takes long.
//
// One thread of low priority asks the rules about one item after the other, and about an item of each sender before the second of any. So a sender
// of long texts lets only its own texts wait. The disk is asked by threads of its own, because a file system may never answer.
extension Interchange {
  /// The microseconds that the disk has for all paths of an item, and those for which their question may be queued.
  private static let (diskPatience, queuePatience): (Int64, Int64) = (50_000, 500_000)

  func consult(_ number: CallNumber, _ consulting: Consulting) {
    if !consultations.begin(consulting) {
      feed(.consulted(number, consulting.answersUnasked))
      return
    }
    connection.loop.task {
      let answers = await answers(consulting)
      consultations.end(consulting)
      feed(.consulted(number, answers))
    }
  }

  func answers(_ consulting: Consulting) async -> [Consultation] {
    var answers: [Consultation] = []
    for place in consulting.handedIn.indices { answers.append(await answer(consulting, place)) }
    return answers
  }

  private func answer(_ consulting: Consulting, _ place: Int) async -> Consultation {
    // Such an item says by itself what it is about.
    if consulting.handedIn[place] == nil { return .none([]) }
    let types = types
    func asked(_ disk: [Text: DiskAnswer]?) async -> Consultation {
      await withCheckedContinuation { consultations.takeTurn(of: consulting.sender, $0) }
      defer { consultations.endTurn() }
      guard let thread = consultations.thread else { return .exhausted }
      return await thread.run { _ in
        // In Linux this is the priority of the calling thread.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        return consulting.answer(place, types, disk: disk)
      }
    }
    let first = await asked(nil)
    guard case .asks(let paths) = first else { return first }
    return await asked(await askDisk(paths))
  }

  /// What the disk says of the paths, as far as it answers in time.
  private func askDisk(_ paths: [Text]) async -> [Text: DiskAnswer] {
    let (loop, ask, threads) = (connection.loop, settings.askDisk, consultations.diskThreads)
    // A directory that has not answered yet is not asked again meanwhile: each question takes a thread until it has an answer.
    let asked = paths.filter { !consultations.silent.contains(Interchange.directory(of: $0)) }
    let (answers, isOver, begun) = (Lock([Text: DiskAnswer]()), Lock(false), Lock<Int64?>(nil))
    let asking = loop.task {
      _ = try? await threads.run("the rules") { () throws(InterchangeError) in
        begun.withLock { $0 = Interchange.uptime() }
        for path in asked where !isOver.withLock(\.self) {
          let answer = ask(path)
          answers.withLock { $0[path] = answer }
        }
        // The task that waited for this may have ended.
        loop.task { await self.haveAnswered(asked) }
      }
    }
    let alarm = loop.task {
      var until = Interchange.uptime() + Interchange.queuePatience
      while Interchange.uptime() < until {
        await loop.sleep(for: .milliseconds(10))
        if Task.isCancelled { return }
        if let begun = begun.withLock(\.self) { until = begun + Interchange.diskPatience }
      }
      isOver.withLock { $0 = true }
      // A question that no thread has taken up says nothing of its directory.
      let isAsked = begun.withLock { $0 != nil }
      let unanswered = asked.first { path in answers.withLock { $0[path] == nil } }
      if isAsked, let unanswered { consultations.silent.insert(Interchange.directory(of: unanswered)) }
      asking.cancel()
    }
    await asking.value
    alarm.cancel()
    let found = answers.withLock(\.self)
    if found.count < paths.count {
      log.warning(
        "the disk did not answer within 50 milliseconds about \(paths.count - found.count) paths in a text: no rule that asks about them holds"
      )
    }
    return found
  }

  private func haveAnswered(_ paths: [Text]) { consultations.silent.subtract(paths.map(Interchange.directory)) }

  private static func directory(of path: Text) -> Text {
    Text(String(path.string.prefix(upTo: path.string.lastIndex(of: "/") ?? path.string.startIndex)))
  }
}

/// The texts that wait for the rules.
struct Consultations {
  private static let maximumTexts = 1_000
  private static let maximumBytes = 64 << 20
  private static let maximumQuestions = 4

  /// `nil` if the system has no thread for it.
  private(set) lazy var thread: EventLoop? = try? EventLoop(name: "rules")
  let diskThreads = FileThreads(atMost: Consultations.maximumQuestions)
  /// The directories that have not answered in time, until they do.
  var silent: Set<Text> = []
  private(set) var count = 0
  private var bytes = 0
  /// The texts and bytes of each sender, who may have as many as are left for others.
  private var shares: [Text: (count: Int, bytes: Int)] = [:]
  private var isBusy = false
  private var waiting: [Text: [CheckedContinuation<Void, Never>]] = [:]
  /// The senders whose texts wait, in the order of their turns.
  private var senders: [Text] = []

  /// Returns whether the text may wait.
  mutating func begin(_ consulting: Consulting) -> Bool {
    let (size, own) = (consulting.size, shares[consulting.sender] ?? (0, 0))
    if own.count + 1 > Consultations.maximumTexts - count - 1 { return false }
    if own.bytes + size > Consultations.maximumBytes - bytes - size { return false }
    add(consulting, 1, size)
    return true
  }

  mutating func end(_ consulting: Consulting) { add(consulting, -1, -consulting.size) }

  private mutating func add(_ consulting: Consulting, _ count: Int, _ bytes: Int) {
    (self.count, self.bytes) = (self.count + count, self.bytes + bytes)
    let own = shares[consulting.sender] ?? (0, 0)
    shares[consulting.sender] = own.count + count == 0 ? nil : (own.count + count, own.bytes + bytes)
  }

  mutating func endTurn() {
    isBusy = false
    guard let sender = senders.first, let continuation = waiting[sender]?.removeFirst() else { return }
    isBusy = true
    senders.removeFirst()
    if waiting[sender]?.isEmpty ?? true { waiting[sender] = nil } else { senders.append(sender) }
    continuation.resume()
  }

  /// The continuation goes on when the turn begins.
  mutating func takeTurn(of sender: Text, _ continuation: CheckedContinuation<Void, Never>) {
    if !isBusy {
      isBusy = true
      continuation.resume()
      return
    }
    if waiting[sender] == nil { senders.append(sender) }
    waiting[sender, default: []].append(continuation)
  }
}
