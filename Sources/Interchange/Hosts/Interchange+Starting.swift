import DBus
import InterchangeWire
import SceneModel
import SceneRouting
import SessionStore

/// What is known of an application that has no host.
enum Start {
  /// The bus is asked to start it.
  case asking
  /// It has been started, and is to attach. Each start has a number, so that the end of an earlier one is not taken for its own.
  case begun(number: Int, watching: Task<Void, Never>?)
  /// Nothing can start it. Whether that is still so is asked again after a while.
  case impossible(since: ContinuousClock.Instant)

  func end() { if case .begun(number: _, watching: let watching?) = self { watching.cancel() } }
}

// How applications are started that something is held for: by the bus where it knows how, else by the command of their manifest. Where
// there is neither, someone may attach.
extension Interchange {
  private static let askedAgainAfter: Duration = .seconds(10)

  func start(_ application: Text) {
    switch starts[application] {
    case .asking, .begun: return
    case .impossible(let since) where since.duration(to: .now) < Self.askedAgainAfter: return
    case .impossible, nil: break
    }
    guard let name = try? BusName(application.string), state.manifest(of: application) != nil else {
      starts[application] = .impossible(since: .now)
      return
    }
    starts[application] = .asking
    connection.loop.task { await start(application, name) }
  }

  private func start(_ application: Text, _ name: BusName) async {
    do throws(CallError) {
      let _: UInt32 = try await connection.call(
        to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName", name.rawValue, UInt32(0),
        timeout: .seconds(120))
      if hosts[application] != nil { return starts[application] = nil }
      log.info("\(application): the bus has started it, or it was there already")
      startCount += 1
      starts[application] = .begun(
        number: startCount, watching: connection.loop.task { await failWhereItLeaves(application, name) })
    } catch {
      if case .replied(let reply) = error, reply.name == .serviceUnknown { return run(application) }
      launchFailed(application, "the bus cannot start \(application): \(error)")
    }
  }

  /// One that came to the bus and left it again without having attached was a failure.
  private func failWhereItLeaves(_ application: Text, _ name: BusName) async {
    guard let owners = try? await connection.owners(of: name) else { return }
    for await owner in owners where owner == nil {
      if hosts[application] == nil, !Task.isCancelled {
        launchFailed(application, "\(application) was started, and left the bus before it attached")
      }
      return
    }
  }

  private func run(_ application: Text) {
    if hosts[application] != nil { return starts[application] = nil }
    guard let command = state.manifest(of: application)?.exec, let run = settings.run else {
      starts[application] = .impossible(since: .now)
      return
    }
    startCount += 1
    let number = startCount
    starts[application] = .begun(number: number, watching: nil)
    let token = activationToken(for: application)
    log.info("\(application): starting \(command)")
    connection.loop.task {
      // One that ended well may have left something behind that will attach.
      guard let failure = await run(command, token) else { return }
      guard case .begun(number, watching: _)? = starts[application], hosts[application] == nil else { return }
      launchFailed(application, "\(application) could not be started: \(failure)")
    }
  }

  /// Of what is held the newest one's: it is for the window that the user asked for last.
  private func activationToken(for application: Text) -> Text? {
    endTurn()
    guard let last = try? store.openDeliveries(of: application).last,
      let delivery = (try? store.delivery(last.identifier)) ?? nil
    else { return nil }
    return (try? Payload(json: delivery.payload, rules))?.options.activationToken
  }

  /// Nothing comes of what is held for it.
  private func launchFailed(_ application: Text, _ why: String) {
    starts[application] = nil
    log.error(why)
    endTurn()
    do {
      for open in try stored({ () throws(StoreError) in try store.openDeliveries(of: application) }) {
        endTurn()
        guard let delivery = try stored({ () throws(StoreError) in try store.delivery(open.identifier) }) else {
          continue
        }
        try fail(delivery, InterchangeError(.launchFailed, why))
      }
    } catch {
      log.error("\(application): \(error)")
    }
  }

  /// What is known of an application whose delivery has waited long enough.
  func canBeStarted(_ application: Text) -> Bool? {
    switch starts[application] {
    case .asking: nil
    case .begun: true
    case .impossible, nil: hosts[application] != nil
    }
  }
}
