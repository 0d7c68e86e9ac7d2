internal import DBus
internal import FoundationEssentials

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
    for try await page in deliveryPages(in: .held) { all += page.filter { $0.application == application } }
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
      hosting.unopened = windowRequests()
      hosting.begin { await self.openWindows(hosting) }
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
        var moments = current.makeAsyncIterator()
        while let change = try await moments.nextChange() {
          if Task.isCancelled { return }
          switch change {
          case .any: takeSessions(moments.sessions.inOrder)
          case .one(let path): takeSession(at: path, of: moments.sessions)
          }
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

  /// The windows open in the order of their last use, so the most recently used window is in front.
  private func windowRequests() -> [DeliveryOptions] {
    let shown = openSessions.filter(\.wasShown).sorted { $0.lastActivated < $1.lastActivated }
    var requests = shown.map { session in
      var request = DeliveryOptions()
      request.session = session.identifier
      return request
    }
    if requests.isEmpty {
      var request = DeliveryOptions()
      (request.application, request.disposition) = (identifier, .new)
      requests = [request]
    }
    for place in requests.indices { requests[place].token = UUID().uuidString }
    return requests
  }

  /// Goes on at the next attachment, if the service leaves. The tokens say which of the requests it had accepted.
  func openWindows(_ hosting: Hosting) async {
    if hosting.isOpening { return }
    hosting.isOpening = true
    defer { hosting.isOpening = false }
    while hosting.isAttached, !hosting.isStopping, let request = hosting.unopened.first {
      let owner = hosting.owner
      do throws(StagedoorError) {
        try await hosting.stagedoor.deliver(Payload(items: [], request))
      } catch  where error.saysServiceLeft {
        if hosting.isAttached, hosting.owner == owner { hosting.detach() }
        continue
      } catch  where error.code == .noSuchSession || hosting.isStopping {
        // Somebody has just destroyed it, or the application stops.
      } catch {
        didFail(error, while: request.session.map { "restoring \($0)" } ?? "opening a first window")
      }
      hosting.unopened.removeFirst()
    }
    if hosting.unopened.isEmpty, self.hosting === hosting { isLaunching = false }
  }
}
