internal import DBus

/// What an application knows before it attaches for the first time.
struct Launch: Sendable {
  let sessions: SessionSequence
  let options: LaunchOptions

  /// Reads the waiting deliveries and the sessions. Nobody changes them before a host has attached.
  init(of application: String, _ stagedoor: Stagedoor) async throws(StagedoorError) {
    sessions = try await stagedoor.liveSessions(of: application)
    var deliveries: [DeliveryRecord] = []
    var last: DeliveryIdentifier?
    while true {
      let page = try await stagedoor.deliveries(in: .held, after: last)
      deliveries += page.filter { $0.application == application }
      last = page.last?.identifier
      if page.isEmpty { break }
    }
    options = LaunchOptions(deliveries: deliveries.reversed())
  }
}

extension Application {
  /// The calls of the service wait until this has returned.
  func finishLaunching(_ launch: Launch, _ hosting: Hosting) {
    hosting.hasLaunched = true
    takeSessions(launch.sessions.first.inOrder)
    hosting.begin { await self.followSessions(launch.sessions, hosting) }
    didFinishLaunching(with: launch.options)
    if restoresWindows, launch.options.deliveries.isEmpty {
      hosting.begin { await self.restoreWindows(hosting) }
    } else {
      isLaunching = false
    }
  }

  /// Follows the sessions as long as the application runs. A service that does not answer is asked again, after pauses that grow.
  private func followSessions(_ first: SessionSequence, _ hosting: Hosting) async {
    var sessions: SessionSequence? = first
    var pause = Duration.milliseconds(100)
    while !hosting.isClosed {
      do throws(StagedoorError) {
        let current = if let sessions { sessions } else { try await hosting.stagedoor.liveSessions(of: identifier) }
        for try await moment in current {
          takeSessions(moment)
          pause = .milliseconds(100)
        }
        return
      } catch  where error.code == .disconnected || error.code == .taskCancelled {
        // The caller that runs the application gets this error.
        return
      } catch {
        if sessions != nil { didFail(error, while: "following the sessions, which is tried again") }
        sessions = nil
      }
      await hosting.loop.sleep(for: pause)
      pause = min(pause * 2, .seconds(60))
    }
  }

  private func restoreWindows(_ hosting: Hosting) async {
    defer { isLaunching = false }
    // The windows open in the order of their last use, so the most recently used window is in front.
    let shown = openSessions.filter(\.wasShown).sorted { $0.lastActivated < $1.lastActivated }
    do throws(StagedoorError) {
      if shown.isEmpty { try await hosting.stagedoor.newSession(of: identifier) }
    } catch {
      didFail(error, while: "opening a first window")
    }
    for session in shown {
      do throws(StagedoorError) {
        try await hosting.stagedoor.activate(session.identifier)
      } catch  where error.code == .noSuchSession {
        // Somebody has just destroyed it.
      } catch {
        didFail(error, while: "restoring \(session.identifier)")
      }
    }
  }
}
