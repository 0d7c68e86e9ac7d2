import DBus
import InterchangeCore
import InterchangeTurns
import SceneModel

/// The connections with calls that the shell works for before they reach the core, and whether they have left since.
struct SideWork {
  /// The work for one call.
  final class Job {
    fileprivate let caller: BusName?
    fileprivate var charges: [Holding]

    fileprivate init(_ charges: [Holding], _ caller: BusName?) { (self.charges, self.caller) = (charges, caller) }
  }

  private var connections: [BusName: (jobs: Int, hasLeft: Bool)] = [:]

  mutating func begin(_ charges: [Holding], for caller: BusName?) -> Job {
    if let caller { connections[caller, default: (0, false)].jobs += 1 }
    return Job(charges, caller)
  }

  /// Returns whether the caller is still there.
  mutating func end(_ job: Job) -> Bool {
    job.charges = []
    guard let name = job.caller, var connection = connections[name] else { return true }
    connection.jobs -= 1
    connections[name] = connection.jobs == 0 ? nil : connection
    return !connection.hasLeft
  }

  mutating func left(_ name: BusName) { connections[name]?.hasLeft = true }
}

extension Interchange {
  /// Works for a call outside the core: a portal is asked, files are looked at, a picture is read, or rules are asked. The call fails if its sender has
  /// too many such calls, or has left when the work is done.
  ///
  /// - Parameter goOn: Continues with the result, in the same turn of the loop.
  func aside<Value, each Answer: BusValue>(
    _ kind: Resource, bytes: Int, for reply: Reply<repeat each Answer>,
    _ work: @escaping () async throws(InterchangeError) -> Value, _ goOn: @escaping (Value) -> Void
  ) {
    let job: SideWork.Job
    let caller = callers.caller(of: reply.call)
    do throws(InterchangeError) {
      let charges = [try hold(1, of: kind, for: caller), try hold(bytes, of: .asideBytes, for: caller)]
      job = sideWork.begin(charges, for: reply.call.sender)
    } catch {
      _ = reply.fail(error)
      return
    }
    reply.call.forgetDescriptors()
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

  /// Charges the caller until the result is destroyed.
  func hold(_ amount: Int, of resource: Resource, for caller: Caller) throws(InterchangeError) -> Holding {
    try prompter.book.hold(amount, of: resource, for: caller.principal)
  }
}
