internal import DBus

/// Why an application was started. See ``Application/didFinishLaunching(with:)``.
///
/// ```swift
/// final class Notes: Application {
///   override func didFinishLaunching(with options: LaunchOptions) {
///     for delivery in options.deliveries { print("\(delivery.identifier) is about to open a window") }
///   }
/// }
/// ```
public struct LaunchOptions: Sendable, Hashable {
  /// The deliveries that wait for the application, the oldest first. If there are none, the program was started by somebody else than the service,
  /// usually its user.
  public let deliveries: [DeliveryRecord]
}

extension Stagedoor {
  /// The waiting deliveries of an application, the oldest first. Nobody changes them before a host has attached.
  func held(for application: String) async throws(StagedoorError) -> [DeliveryRecord] {
    var all: [DeliveryRecord] = []
    var last: DeliveryIdentifier?
    while case let page = try await deliveries(in: .held, after: last), let end = page.last {
      all += page.filter { $0.application == application }
      last = end.identifier
    }
    return all.reversed()
  }
}

extension Application {
  /// The calls of the service wait until this has returned.
  func finishLaunching(_ options: LaunchOptions, _ sessions: SessionSequence, _ hosting: Hosting) {
    hosting.hasLaunched = true
    takeSessions(sessions.first.inOrder)
    hosting.follow { await self.followSessions(sessions, hosting) }
    didFinishLaunching(with: options)
    if restoresWindows, options.deliveries.isEmpty {
      hosting.begin { await self.restoreWindows(hosting) }
    } else {
      isLaunching = false
    }
  }

  /// Follows the sessions from an attachment on. A service that does not answer is asked again, after pauses that grow.
  ///
  /// - Parameter first: The sessions, if they have been read since the attachment.
  func followSessions(_ first: SessionSequence? = nil, _ hosting: Hosting) async {
    var sessions = first
    var pause = Duration.milliseconds(100)
    var hasFailed = false
    while !Task.isCancelled {
      do throws(StagedoorError) {
        let current = if let sessions { sessions } else { try await hosting.stagedoor.liveSessions(of: identifier) }
        for try await moment in current {
          if Task.isCancelled { return }
          takeSessions(moment)
          (pause, hasFailed) = (.milliseconds(100), false)
        }
        return
      } catch  where error.code == .disconnected || error.code == .taskCancelled {
        // The caller that runs the application gets this error.
        return
      } catch {
        if Task.isCancelled { return }
        if !hasFailed { didFail(error, while: "following the sessions, which is tried again") }
        (sessions, hasFailed) = (nil, true)
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
