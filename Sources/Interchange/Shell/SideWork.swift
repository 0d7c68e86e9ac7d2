import DBus
import InterchangeCore
import InterchangeTurns
import SceneModel

/// The work for calls of which the core does not hear, or not yet: a portal is asked, files are looked at, a picture is read. No ledger charges these
/// calls, so each sender has its limits here.
struct SideWork {
  /// The calls of one sender whose keys wait for the portal. Each may bring dozens of descriptors.
  static let maximumKeys = 4
  /// The files that one call may bring as keys of a portal. Each is a descriptor of the service until the baggage store has it.
  static let maximumFiles = 64
  /// Other calls of one sender: a program may have dozens of windows, and hand in a picture of each at the same time.
  static let maximumCalls = 64
  /// The descriptors of all calls that wait for their answer: with those that are held, and their copies in the messages, they must fit into a
  /// process that may have few. A sender may have as many as it leaves for others.
  static let maximumDescriptors = 512
  /// The bytes of one sender's calls, beside one call of any length: two of the longest documents.
  static let maximumBytes = 32 << 20

  enum Kind: Hashable {
    case keys, files, picture, rules

    fileprivate var limit: Int { self == .keys ? SideWork.maximumKeys : SideWork.maximumCalls }

    fileprivate var words: String {
      switch self {
      case .keys: "wait for the portal"
      case .files: "have files that are looked at"
      case .picture: "have snapshots that are read"
      case .rules: "ask rules about files or long texts"
      }
    }
  }

  /// The work for one call.
  struct Job {
    fileprivate let principal: Principal
    fileprivate let kind: Kind
    fileprivate let bytes: Int
    fileprivate let connection: BusName?
  }

  private struct Sender {
    var calls: [Kind: Int] = [:]
    var bytes = 0
  }

  private var senders: [Principal: Sender] = [:]
  /// The connections with work, and whether they have left since.
  private var connections: [BusName: (jobs: Int, hasLeft: Bool)] = [:]

  mutating func begin(_ kind: Kind, _ bytes: Int, for caller: Caller, _ call: Call) throws(InterchangeError) -> Job {
    var sender = senders[caller.principal] ?? Sender()
    if sender.calls[kind] ?? 0 >= kind.limit {
      throw InterchangeError(
        .limitsExceeded, "\(kind.limit) calls of this sender \(kind.words) already: wait for the answers")
    }
    if sender.bytes > 0, sender.bytes + bytes > SideWork.maximumBytes {
      throw InterchangeError(
        .limitsExceeded,
        "calls of this sender with \(sender.bytes) bytes wait already, of \(SideWork.maximumBytes): wait for the answers"
      )
    }
    sender.calls[kind, default: 0] += 1
    sender.bytes += bytes
    senders[caller.principal] = sender
    if let name = call.sender { connections[name, default: (0, false)].jobs += 1 }
    return Job(principal: caller.principal, kind: kind, bytes: bytes, connection: call.sender)
  }

  /// Returns whether the caller is still there.
  mutating func end(_ job: Job) -> Bool {
    senders[job.principal]?.calls[job.kind, default: 1] -= 1
    senders[job.principal]?.bytes -= job.bytes
    if senders[job.principal]?.calls.values.allSatisfy({ $0 == 0 }) ?? true { senders[job.principal] = nil }
    guard let name = job.connection, var connection = connections[name] else { return true }
    connection.jobs -= 1
    connections[name] = connection.jobs == 0 ? nil : connection
    return !connection.hasLeft
  }

  /// The descriptors of one call.
  struct Share {
    fileprivate let principal: Principal
    fileprivate let count: Int
  }

  private var descriptors: [Principal: Int] = [:]
  private var allDescriptors = 0

  mutating func takeDescriptors(_ count: Int, of principal: Principal) throws(InterchangeError) -> Share {
    let own = descriptors[principal] ?? 0
    if own + count > SideWork.maximumDescriptors - allDescriptors - count {
      throw InterchangeError(
        .limitsExceeded,
        "calls that wait for their answer may bring \(SideWork.maximumDescriptors) descriptors; they have brought \(allDescriptors), \(own) of them "
          + "from this sender, who may bring as many as are left: wait for the answers")
    }
    descriptors[principal] = own + count
    allDescriptors += count
    return Share(principal: principal, count: count)
  }

  mutating func giveBack(_ share: Share) {
    allDescriptors -= share.count
    descriptors[share.principal, default: share.count] -= share.count
    if descriptors[share.principal] == 0 { descriptors[share.principal] = nil }
  }

  mutating func left(_ name: BusName) { connections[name]?.hasLeft = true }
}

extension Interchange {
  /// Works for a call outside the core. The call fails if its sender has too many such calls, or has left when the work is done.
  ///
  /// - Parameter goOn: Continues with the result, in the same turn of the loop.
  func aside<Value, each Answer: BusValue>(
    _ kind: SideWork.Kind, bytes: Int, for reply: Reply<repeat each Answer>,
    _ work: @escaping () async throws(InterchangeError) -> Value, _ goOn: @escaping (Value) -> Void
  ) {
    let job: SideWork.Job
    do throws(InterchangeError) {
      job = try sideWork.begin(kind, bytes, for: callers.caller(of: reply.call), reply.call)
      reply.call.forgetDescriptors()
    } catch {
      _ = reply.fail(error)
      return
    }
    connection.loop.task {
      let result: Result<Value, InterchangeError>
      do throws(InterchangeError) { result = .success(try await work()) } catch { result = .failure(error) }
      switch (result, isThere: sideWork.end(job)) {
      case (.success(let value), true): goOn(value)
      case (.success, false): CallAnswer.refused(.callerLeft).fail(reply)
      case (.failure(let error), _): CallAnswer.refused(error).fail(reply)
      }
    }
  }
}
