import Baggage
import DBus
import Glibc
import InterchangeCore
import SceneModel
import TextRules

// The rules that cannot be asked at once: the disk has to be asked for them, or the text takes long.
//
// One thread of low priority asks the rules for one text after the other, and for a text of each sender before the second of any. So a sender of
// long texts lets only its own texts wait.
extension Interchange {
  /// The time for all paths of a payload.
  private static let diskPatience = Duration.milliseconds(50)

  func consult(_ number: CallNumber, _ consulting: Consulting) {
    connection.loop.task { feed(.consulted(number, await answers(consulting))) }
  }

  func answers(_ consulting: Consulting) async -> [Consultation] {
    if consultations.isBusy {
      await withCheckedContinuation { consultations.wait($0, from: consulting.sender) }
    }
    consultations.isBusy = true
    defer { consultations.next() }
    guard let thread = consultations.thread else { return [.exhausted] }
    let types = types
    let first = await thread.run { _ in
      // In Linux this is the priority of the calling thread.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      return consulting.answers(types)
    }
    let paths: [Text] = first.flatMap { answer -> [Text] in if case .asks(let paths) = answer { paths } else { [] } }
    if paths.isEmpty { return first }
    let disk = await baggageStore.ask(
      Array(paths.prefix(RuleLimits.paths)), within: Interchange.diskPatience, settings.askDisk)
    if disk.count < min(paths.count, RuleLimits.paths) {
      log.warning(
        "the disk did not answer within 50 milliseconds about \(paths.count - disk.count) paths in a text: rules that ask about them did not hold"
      )
    }
    return await thread.run { _ in consulting.answers(types, disk: disk) }
  }
}

/// The texts that wait for the rules.
struct Consultations {
  /// `nil` if the system has no thread for it.
  private(set) lazy var thread: EventLoop? = try? EventLoop(name: "rules")
  /// Whether the rules are asked for a text.
  var isBusy = false
  private var waiting: [Text: [CheckedContinuation<Void, Never>]] = [:]
  /// The senders whose texts wait, in the order of their turns.
  private var senders: [Text] = []

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>, from sender: Text) {
    if waiting[sender] == nil { senders.append(sender) }
    waiting[sender, default: []].append(continuation)
  }

  /// The rules are asked for the next text.
  mutating func next() {
    isBusy = false
    guard let sender = senders.first, let continuation = waiting[sender]?.removeFirst() else { return }
    isBusy = true
    senders.removeFirst()
    if waiting[sender]?.isEmpty ?? true { waiting[sender] = nil } else { senders.append(sender) }
    continuation.resume()
  }
}
