import DBus
import InterchangeCore
import InterchangeTurns
import InterchangeWire
import SceneModel
import SessionStore

// Carries out the errands of a step, after everyone was told. Their results are cues.

/// A connection that owns the name under which it hosts an application, as far as the service knows.
struct WatchedOwner: Hashable {
  let name: Text
  let application: Text
  let connection: Text
}

/// The start of an application, and the sources of its later news.
struct Launch {
  let number: Int
  var tasks: [Task<Void, Never>] = []
}

extension Interchange {
  func run(_ errand: Errand) {
    switch errand {
    case .ask(let number, let application, let owner, let path, let question, let within):
      if !prompter.awaits(number) { return }
      connection.loop.actorTask {
        let answer = await ask(application, owner, path, question, .microseconds(within))
        let host = BusName(unchecked: owner.string)
        // An error that comes after the host has lost the name is that of a run that ends, and refuses nothing.
        if case .refused = answer,
          let loss = losing.first(where: { $0.key.application == application && $0.key.connection == owner })?.value
        {
          await loss.value
        }
        // What the host called before it answered comes first. Its answer about a drag does not depend on these calls.
        if connection.hasCalls(of: host), !question.isProposal {
          answersBehindCalls[number] = (host, answer)
          await connection.callsHaveGone(of: host)
          if answersBehindCalls.removeValue(forKey: number) == nil { return }
        }
        feed(.hostAnswered(number, answer))
      }
    case .read(let number, let delivery): read(delivery, for: number)
    case .findOwner(let number, let name, let application, let connection, let path):
      findOwner(number, name, application, connection, path)
    case .launch(let application, let number, let name): launch(application, number, name)
    case .run(let application, let number, let command, let token): run(application, number, command, token)
    case .forgetLaunch(let application, let number):
      if launches[application]?.number == number { forgetLaunch(of: application) }
    case .pack(let number, let orders, let limit, let eachItem):
      pack(number, orders, atMost: limit, eachItem: eachItem)
    case .consult(let number, let consulting): consult(number, consulting)
    case .open(let number, let delivery, let parcel, let sandbox, let within):
      open(number, delivery, parcel, for: sandbox, within: .microseconds(within))
    case .callOff(let number): callOff(number)
    case .endPromises(let promises): endPromises(promises)
    case .forgetPicture(let session): forgetSnapshot(of: session)
    case .free(let deliveries): free(deliveries)
    case .freeParcels(let delivery, let numbers): free(numbers, of: delivery)
    }
  }

  /// A host has left, or has lost its name: it gave these answers before.
  private func feedAnswers(of host: BusName) {
    for (number, waiting) in answersBehindCalls.filter({ $0.value.host == host }).sorted(by: { $0.key < $1.key }) {
      answersBehindCalls[number] = nil
      feed(.hostAnswered(number, waiting.answer))
    }
  }

  // MARK: Reading

  private func read(_ delivery: UniqueIdentifier, for number: ErrandNumber) {
    do throws(StoreError) {
      feed(.delivery(number, try prompter.delivery(delivery)))
      cannotRead = false
    } catch {
      // The disk may work again before the deadline. Hundreds of lanes may try each second meanwhile.
      if !cannotRead { log.error("deliveries cannot be read for the moment: \(error.message)") }
      cannotRead = true
      connection.loop.task {
        await connection.loop.sleep(for: .seconds(1))
        if !isClosed { read(delivery, for: number) }
      }
    }
  }

  // MARK: Hosts

  private func ask(
    _ application: Text, _ owner: Text, _ path: Text?, _ question: HostQuestion, _ timeout: Duration
  ) async -> HostAnswer {
    let owner = BusName(unchecked: owner.string)
    let host = SceneHost(of: application, owner: owner, at: path, on: connection)
    do throws(CallError) {
      return try await insisting("the host of \(application)", within: timeout) { (rest) async throws(CallError) in
        try await host.answer(question, within: rest)
      }
    } catch {
      return await answer(error, owner, question)
    }
  }

  /// Makes a call, and makes it again while the bus itself refuses to pass it on: the bus has too many unanswered calls of the service, or no memory.
  /// The receiver has not seen such a call, and has refused nothing.
  ///
  /// - Parameter patience: The time for all attempts together.
  func insisting<Value>(
    _ receiver: String, within patience: Duration,
    _ call: nonisolated(nonsending) (_ rest: Duration) async throws(CallError) -> Value
  ) async throws(CallError) -> Value {
    let end = SuspendingClock.now + patience
    let firstPause = Duration.milliseconds(50)
    var pause = firstPause
    while true {
      do throws(CallError) {
        return try await call(max(.milliseconds(1), end - SuspendingClock.now))
      } catch {
        guard case .replied(let reply) = error, reply.isFromBus, !reply.saysNobodyIsThere else { throw error }
        if pause == firstPause {
          log.warning("\(receiver) cannot be called for the moment, and will be called again: \(error.short)")
        }
        if SuspendingClock.now + pause >= end { throw .timedOut }
        await connection.loop.sleep(for: pause)
        if isClosed { throw .disconnected }
        if Task.isCancelled { throw .cancelled }
        pause = min(pause * 2, .seconds(2))
      }
    }
  }

  /// An error is an answer, even from a host that leaves right after it. If the bus reports that nobody answers, asks whether the host is still
  /// connected.
  private func answer(_ error: CallError, _ owner: BusName, _ question: HostQuestion) async -> HostAnswer {
    switch error {
    case .timedOut: return .timedOut
    case .disconnected, .cancelled: return .gone(neverReached: false)
    case .replied(let reply) where reply.saysNobodyIsThere:
      let isThere = (try? await connection.owner(of: owner)) != nil
      if !isThere { return .gone(neverReached: reply.name != .noReply) }
      return reply.isFromBus ? .timedOut : .refused(Text(error.short))
    // A host that does not know drags takes every drop.
    case .replied(let reply) where question.isProposal && reply.name == .unknownMethod: return .done
    case .replied: return .refused(Text(error.short))
    default: return .failed(Text(error.short))
    }
  }

  private func findOwner(_ question: ErrandNumber, _ name: Text, _ application: Text, _ caller: Text, _ path: Text?) {
    guard let busName = try? BusName(name.string) else { return feed(.ownership(question, isOwner: false)) }
    connection.loop.task {
      do throws(CallError) {
        var owners = try await insisting("the bus", within: .seconds(25)) { (_) async throws(CallError) in
          try await connection.owners(of: busName)
        }.makeAsyncIterator()
        let owner = await owners.next(isolation: self)
        let isOwner = owner.flatMap { $0 }?.rawValue == caller.string
        let lack =
          isOwner
          ? await SceneHost(of: application, owner: BusName(unchecked: caller.string), at: path, on: connection)
            .lack(within: .milliseconds(250)) : nil
        feed(.ownership(question, isOwner: isOwner, lack: lack))
        // A host that attaches again is the host, whatever it lacks now.
        if isOwner {
          watch(WatchedOwner(name: name, application: application, connection: caller), owners, since: question)
        }
      } catch {
        // A bus that has not answered has not said who the owner is.
        if case .timedOut = error { return findOwner(question, name, application, caller, path) }
        feed(.ownership(question, isOwner: false))
      }
    }
  }

  /// Waits until the host loses the name or leaves the bus. If it attaches again, the new watch takes the place of the old one, which may still hold
  /// the news that the host had lost the name before.
  private func watch(_ watched: WatchedOwner, _ owners: OwnerSequence.Iterator, since question: ErrandNumber) {
    watches[watched]?.cancel()
    watches[watched] = connection.loop.task {
      var owners = owners
      // The end of the bus is no news of the host.
      guard await owners.next(isolation: self) != nil, !Task.isCancelled else { return }
      losing[watched] = watches[watched]
      await answersHaveCome(of: watched.connection)
      losing[watched] = nil
      if Task.isCancelled { return }
      watches[watched] = nil
      feedAnswers(of: BusName(unchecked: watched.connection.string))
      feed(.hostLeft(application: watched.application, since: question))
    }
  }

  /// A sender has left the bus.
  func left(_ name: BusName) {
    let connection = Text(name.rawValue)
    if !prompter.matters(connection) { return }
    if !prompter.isAsked(connection) { return feed(.callerLeft(connection: connection)) }
    self.connection.loop.task {
      await answersHaveCome(of: connection)
      feedAnswers(of: name)
      feed(.callerLeft(connection: connection))
    }
  }

  /// A host's answers are read before the news that it left, but reach the core by tasks of their own. When the bus has answered a later question, these
  /// tasks are done.
  private func answersHaveCome(of host: Text) async {
    if prompter.isAsked(host) { _ = try? await connection.owner(of: .bus) }
  }

  // MARK: Starting applications

  private func tell(_ application: Text, _ number: Int, _ news: LaunchNews) {
    if launches[application]?.number == number { feed(.launch(application: application, number: number, news)) }
  }

  private func forgetLaunch(of application: Text) {
    for task in launches.removeValue(forKey: application)?.tasks ?? [] { task.cancel() }
  }

  private func launch(_ application: Text, _ number: Int, _ name: Text) {
    // The tasks of a start that failed still wait for its program.
    forgetLaunch(of: application)
    launches[application] = Launch(number: number)
    guard let name = try? BusName(name.string) else { return tell(application, number, .unknown) }
    let task = connection.loop.task { await launch(application, name, number) }
    launches[application]?.tasks.append(task)
  }

  private func launch(_ application: Text, _ name: BusName, _ number: Int) async {
    let learning = connection.loop.task { await learnWhetherItIsKnown(application, number) }
    do throws(CallError) {
      // Later answers are about another start.
      defer { learning.cancel() }
      let answer: UInt32 = try await connection.call(
        to: .bus, at: .bus, .bus, "StartServiceByName", name.rawValue, UInt32(0), timeout: .seconds(120))
      // 1 is DBUS_START_REPLY_SUCCESS; 2 says that it was running already.
      waitForHost(application, name, number, wasStarted: answer == 1)
    } catch {
      switch error {
      case .replied(let reply) where reply.name == .serviceUnknown:
        // The bus answers the same for an application that runs already and was started in another way.
        let isThere = (try? await connection.owner(of: name)) != nil
        if !isThere { return tell(application, number, .unknown) }
        waitForHost(application, name, number, wasStarted: false)
      case .disconnected, .cancelled: break
      default: tell(application, number, .failed(Text("the bus cannot start \(application): \(error.short)")))
      }
    }
  }

  /// The bus answers questions in order: if a later question has an answer and the start has none, the start is under way. So the service draws no
  /// conclusion from a time in which it could not read answers.
  private func learnWhetherItIsKnown(_ application: Text, _ number: Int) async {
    // The first question makes sure that the second is sent after the start.
    for _ in 0..<2 {
      guard (try? await connection.owner(of: .bus)) != nil else { return }
    }
    if !Task.isCancelled { tell(application, number, .isKnown) }
  }

  private func waitForHost(_ application: Text, _ name: BusName, _ number: Int, wasStarted: Bool) {
    tell(application, number, .started)
    watch(application, name, number, isThere: true, wasStarted: wasStarted)
  }

  /// A program that came to the bus and leaves it without having attached has failed, if it was started for that.
  private func watch(_ application: Text, _ name: BusName, _ number: Int, isThere: Bool, wasStarted: Bool) {
    let task = connection.loop.task {
      guard let owners = try? await connection.owners(of: name) else { return }
      var isThere = isThere
      for await owner in owners {
        if owner == nil, isThere {
          if !Task.isCancelled { tell(application, number, .left(wasStarted: wasStarted)) }
          return
        }
        isThere = isThere || owner != nil
      }
    }
    launches[application]?.tasks.append(task)
  }

  private func run(_ application: Text, _ number: Int, _ command: Text, _ token: Text?) {
    if let name = try? BusName(application.string) {
      watch(application, name, number, isThere: false, wasStarted: true)
    }
    guard let run = settings.run else {
      return tell(application, number, .commandEnded(failure: "nothing here runs commands"))
    }
    let task = connection.loop.task {
      let failure = await run(application, command, token)
      tell(application, number, .commandEnded(failure: failure.map { Text($0) }))
    }
    launches[application]?.tasks.append(task)
  }
}

extension HostQuestion {
  fileprivate var isProposal: Bool { if case .propose = self { true } else { false } }
}

extension ErrorReply {
  /// Whether the bus says with this name that the receiver is not connected, or has left without an answer.
  var saysNobodyIsThere: Bool { [.noReply, .serviceUnknown, .nameHasNoOwner].contains(name) }
}

extension CallError {
  /// A host's words may be long, and go into logs and signals.
  var short: String {
    let text = "\(self)"
    return text.utf8.count > 1_000 ? String(decoding: text.utf8.prefix(1_000), as: UTF8.self) + "…" : text
  }
}
