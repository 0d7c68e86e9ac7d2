internal import DBus
internal import InterchangeWire
internal import SceneModel

/// A notification to all scenes of an application, and to all other listeners, that data which they share has changed. The scenes of this process
/// listen with ``Scene/observe(_:_:)``, other processes with ``Stagedoor/notifications(named:of:)``.
///
/// ```swift
/// extension SceneNotification.Name {
///   static let entriesUpdated: Self = "JournalEntriesUpdated"
/// }
///
/// @MainActor func add(_ entry: String, to journal: Application) {
///   journal.post(.entriesUpdated, userInfo: ["entryID": .string(entry)])
/// }
///
/// @MainActor func watch(_ scene: Scene) {
///   scene.observe(.entriesUpdated) { print("another look at \($0.userInfo["entryID"]?.string ?? "all")") }
/// }
/// ```
public struct SceneNotification: Sendable, Hashable {
  /// The name of a kind of notification.
  ///
  /// ```swift
  /// let updated: SceneNotification.Name = "JournalEntriesUpdated"
  /// print(updated)
  /// ```
  public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name on the bus.
    public let rawValue: String
    /// Makes a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a name.
    public init(stringLiteral value: String) { rawValue = value }
    /// The name on the bus.
    public var description: String { rawValue }
  }

  /// The kind of the notification.
  public let name: Name
  /// Further data of the notification.
  public let userInfo: [String: UserInfoValue]
}

extension Application {
  /// Posts a notification to every scene of this application, and to all listeners in other processes. The scenes hear it before this returns. The
  /// others hear it after all earlier changes and notifications, as soon as the service runs. Of equal notifications that wait for the service, the
  /// last one is sent, and at most the newest 1,000 wait.
  public func post(_ name: SceneNotification.Name, userInfo: [String: UserInfoValue] = [:]) {
    let notification = SceneNotification(name: name, userInfo: userInfo)
    unwritten.add(notification)
    writeSoon()
    for scene in connectedScenes { scene.hear(notification) }
  }
}

extension Stagedoor {
  /// The notifications of this name that an application posts from now on.
  public func notifications(
    named name: SceneNotification.Name, of application: String
  ) async throws(StagedoorError) -> NotificationSequence {
    do throws(CallError) {
      return NotificationSequence(
        stagedoor: self,
        signals: try await connection.signals(
          MatchRule(
            sender: InterchangeNames.bus, path: InterchangeNames.path(ofApplication: Text(application)),
            interface: InterchangeNames.application, member: "NotificationPosted", arguments: [0: name.rawValue])))
    } catch {
      throw StagedoorError(error)
    }
  }
}

/// A sequence of notifications, which ends with its connection, or when the waiting task is cancelled.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let saved = try await stagedoor.notifications(named: "Saved", of: "org.example.Notes")
/// if let first = await saved.first(where: { !$0.userInfo.isEmpty }) { print(first.name) }
/// ```
public struct NotificationSequence: AsyncSequence, Sendable {
  /// A notification.
  public typealias Element = SceneNotification
  /// The sequence ends, and never fails.
  public typealias Failure = Never

  /// Keeps the connection.
  let stagedoor: Stagedoor
  let signals: SignalStream

  /// Begins to take out notifications.
  public func makeAsyncIterator() -> Iterator { Iterator(stagedoor: stagedoor, signals: signals.makeAsyncIterator()) }

  /// Returns one notification after the other.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let saved = try await stagedoor.notifications(named: "Saved", of: "org.example.Notes").makeAsyncIterator()
  /// if let first = await saved.next() { print(first.userInfo) }
  /// ```
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let stagedoor: Stagedoor
    let signals: SignalStream.Iterator

    /// Waits for a notification; `nil` if the connection has gone, or the waiting task was cancelled.
    public func next() async -> SceneNotification? { await next(isolation: nil) }

    /// Waits for a notification; `nil` if the connection has gone, or the waiting task was cancelled.
    public func next(isolation actor: isolated (any Actor)?) async -> SceneNotification? {
      while let signal = await signals.next(isolation: actor) {
        guard let (name, json) = try? signal.values(as: String.self, String.self),
          case .dictionary(let userInfo)? = try? Value(document: json)
        else { continue }
        return SceneNotification(name: .init(rawValue: name), userInfo: [String: UserInfoValue](userInfo))
      }
      return nil
    }
  }
}
