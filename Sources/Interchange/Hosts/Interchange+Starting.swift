import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

/// What is known of an application that has no host.
enum Start {
  /// The bus is asked to start it. Where it knows no way it says so at once, and else when the application is there.
  case asking(isKnown: Bool)
  /// It has been started, and is to attach. Each start has a number, so that the end of an earlier one is not taken for its own.
  case begun(number: Int, since: ContinuousClock.Instant, watching: Task<Void, Never>?)
  /// What was started has ended well. What that left behind may attach yet; where nothing did so in time, it is started again.
  case ended(isLate: Bool)
  /// Nothing can start it. Whether that is still so is asked again after a while.
  case impossible(since: ContinuousClock.Instant)

  func end() { if case .begun(_, _, watching: let watching?) = self { watching.cancel() } }
}

// How applications are started that something is held for: by the bus where it knows how, else by the command of their manifest. Where
// there is neither, someone may attach.
extension Interchange {
  private static let askedAgainAfter: Duration = .seconds(10)
  /// What has not attached by then hangs, or was never begun, whatever somebody said: it is started again.
  private static let attachesBy: Duration = .seconds(120)

  func start(_ application: Text) {
    if hosts[application] != nil { return }
    switch starts[application] {
    case .asking, .ended(isLate: false): return
    case .begun(_, let since, _) where since.duration(to: .now) < Self.attachesBy: return
    case .impossible(let since) where since.duration(to: .now) < Self.askedAgainAfter: return
    case .begun, .impossible, .ended, nil: starts[application]?.end()
    }
    guard let name = try? BusName(application.string), state.manifest(of: application) != nil else {
      starts[application] = .impossible(since: .now)
      return
    }
    starts[application] = .asking(isKnown: false)
    connection.loop.task { await start(application, name) }
  }

  private func start(_ application: Text, _ name: BusName) async {
    let learning = connection.loop.task { await learnWhetherItIsKnown(application) }
    do throws(CallError) {
      // What is learnt later is about another start.
      defer { learning.cancel() }
      let _: UInt32 = try await connection.call(
        to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName", name.rawValue, UInt32(0),
        timeout: .seconds(120))
      log.info("\(application): the bus has started it, or it was there already")
      waitForHost(application, name)
    } catch {
      if hosts[application] != nil { return starts[application] = nil }
      switch error {
      case .replied(let reply) where reply.name == .serviceUnknown:
        // That is all it says also of one that is there, and has come in another way.
        let isThere = (try? await connection.owner(of: name)) != nil
        if isThere { waitForHost(application, name) } else { run(application) }
      case .disconnected, .cancelled: starts[application] = nil
      default: await launchFailed(application, "the bus cannot start \(application): \(error.short)")
      }
    }
  }

  /// The bus answers in the order in which it is asked: what has had no answer when a later question has one is on its way. However long this
  /// service had no time to read answers, it does not take that for knowledge.
  private func learnWhetherItIsKnown(_ application: Text) async {
    // The first makes sure that the second is asked behind it.
    for _ in 0..<2 {
      guard (try? await connection.owner(of: .bus)) != nil else { return }
    }
    if !Task.isCancelled, case .asking? = starts[application] { starts[application] = .asking(isKnown: true) }
  }

  private func waitForHost(_ application: Text, _ name: BusName) {
    if hosts[application] != nil { return starts[application] = nil }
    startCount += 1
    let number = startCount
    starts[application] = .begun(
      number: number, since: .now,
      watching: connection.loop.task { await failWhereItLeaves(application, name, number) })
  }

  /// One that came to the bus and left it again without having attached was a failure.
  private func failWhereItLeaves(_ application: Text, _ name: BusName, _ number: Int) async {
    if let owners = try? await connection.owners(of: name) {
      for await owner in owners where owner == nil {
        guard isBegun(application, number) else { return }
        await launchFailed(application, "\(application) was started, and left the bus before it attached")
        return
      }
    }
    if isBegun(application, number) { starts[application] = .ended(isLate: false) }
  }

  private func isBegun(_ application: Text, _ number: Int) -> Bool {
    if case .begun(number, _, _)? = starts[application] { hosts[application] == nil } else { false }
  }

  private func run(_ application: Text) {
    guard let command = state.manifest(of: application)?.exec, let run = settings.run else {
      starts[application] = .impossible(since: .now)
      return
    }
    startCount += 1
    let number = startCount
    starts[application] = .begun(number: number, since: .now, watching: nil)
    let token = activationToken(for: application)
    log.info("\(application): starting \(command)")
    connection.loop.task {
      let failure = await run(application, command, token)
      guard isBegun(application, number) else { return }
      guard let failure else { return starts[application] = .ended(isLate: false) }
      await launchFailed(application, "\(application) could not be started: \(failure)")
    }
  }

  /// Of what is held the newest one's: it is for the window that the user asked for last.
  private func activationToken(for application: Text) -> Text? {
    endTurn()
    guard let last = try? store.openDeliveries(of: application).last,
      let delivery = try? store.delivery(last.identifier)
    else { return nil }
    return (try? Payload(json: delivery.payload, rules))?.options.activationToken
  }

  /// Nothing comes of what is held for it. The last goes first, so that a session goes with the delivery that made it.
  private func launchFailed(_ application: Text, _ why: String) async {
    starts[application] = nil
    log.error(why)
    endTurn()
    do {
      let open = try openDeliveries(of: application)
      for (place, delivery) in open.reversed().enumerated() {
        // Each is a transaction, and others are served meanwhile.
        if place % 16 == 15 { await Task.yield() }
        if hosts[application] != nil { return }
        try fail(delivery.identifier, InterchangeError(.launchFailed, why))
      }
    } catch {
      log.error("\(application): \(error)")
    }
  }

  /// What is known of an application whose delivery has waited long enough; `nil` for nothing yet.
  func canBeStarted(_ application: Text) -> Bool? {
    switch starts[application] {
    case .asking(let isKnown): isKnown ? true : nil
    case .begun, .ended: true
    case .impossible, nil: hosts[application] != nil
    }
  }
}
