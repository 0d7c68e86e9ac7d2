internal import DBus
internal import InterchangeWire
internal import SceneModel

/// What is told to every scene of an application, and to whoever else listens: that something they share has changed.
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
/// @MainActor func watch(_ journal: Application) async throws {
///   for await notification in try await journal.notifications(named: .entriesUpdated) {
///     print("another look at \(notification.userInfo["entryID"]?.string ?? "all")")
///   }
/// }
/// ```
public struct SceneNotification: Sendable, Hashable {
  /// What a kind of notification is called.
  ///
  /// ```swift
  /// let updated: SceneNotification.Name = "JournalEntriesUpdated"
  /// print(updated)
  /// ```
  public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// As it goes over the bus.
    public let rawValue: String
    /// A name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A name.
    public init(stringLiteral value: String) { rawValue = value }
    /// As it goes over the bus.
    public var description: String { rawValue }
  }

  /// What kind it is.
  public let name: Name
  /// What else it says.
  public let userInfo: [String: UserInfoValue]
}

extension Application {
  /// Tells every scene of this application, and everyone who listens in other processes: after what was set or posted before, and when the
  /// service is back where it is away.
  public func post(_ name: SceneNotification.Name, userInfo: [String: UserInfoValue] = [:]) {
    unwritten.add(SceneNotification(name: name, userInfo: userInfo))
    writeSoon()
  }

  /// The notifications of a name that this application posts from now on, wherever it was done.
  public func notifications(
    named name: SceneNotification.Name
  ) async throws(StagedoorError) -> NotificationSequence {
    try await connected().stagedoor.notifications(named: name, of: identifier)
  }
}

extension Stagedoor {
  /// The notifications of a name that an application posts from now on.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// for await notification in try await stagedoor.notifications(named: "Saved", of: "org.example.Notes") {
  ///   print(notification.userInfo)
  /// }
  /// ```
  public func notifications(
    named name: SceneNotification.Name, of application: String
  ) async throws(StagedoorError) -> NotificationSequence {
    do throws(CallError) {
      return NotificationSequence(
        signals: try await connection.signals(
          MatchRule(
            sender: InterchangeNames.bus, path: InterchangeNames.path(ofApplication: Text(application)),
            interface: InterchangeNames.application, member: "NotificationPosted", arguments: [0: name.rawValue])))
    } catch {
      throw StagedoorError(error)
    }
  }
}

/// Notifications, one after the other. It ends with its connection and with the task that waits.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let saved = try await stagedoor.notifications(named: "Saved", of: "org.example.Notes")
/// if let first = await saved.first(where: { !$0.userInfo.isEmpty }) { print(first.name) }
/// ```
public struct NotificationSequence: AsyncSequence, Sendable {
  /// A notification.
  public typealias Element = SceneNotification
  /// It ends, and never fails.
  public typealias Failure = Never

  let signals: SignalStream

  /// Takes notifications out.
  public func makeAsyncIterator() -> Iterator { Iterator(signals: signals.makeAsyncIterator()) }

  /// The next notification, and the next.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let saved = try await stagedoor.notifications(named: "Saved", of: "org.example.Notes").makeAsyncIterator()
  /// if let first = await saved.next() { print(first.userInfo) }
  /// ```
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let signals: SignalStream.Iterator

    /// Waits for a notification; `nil` where the connection has gone, or the waiting task was cancelled.
    public func next() async -> SceneNotification? { await next(isolation: nil) }

    /// Waits for a notification; `nil` where the connection has gone, or the waiting task was cancelled.
    public func next(isolation actor: isolated (any Actor)?) async -> SceneNotification? {
      while let signal = await signals.next(isolation: actor) {
        guard let (name, json) = try? signal.values(as: String.self, String.self),
          case .dictionary(let userInfo)? = try? DocumentValue(json: json).value
        else { continue }
        return SceneNotification(name: .init(rawValue: name), userInfo: [String: UserInfoValue](userInfo))
      }
      return nil
    }
  }
}
