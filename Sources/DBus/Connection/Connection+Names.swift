/// How to ask for a name.
///
/// ```swift
/// let connection = try await Connection.session()
/// let outcome = try await connection.requestName("org.example.Greeter", [.replaceExisting, .doNotQueue])
/// print(outcome)
/// ```
public struct NameRequestOptions: OptionSet, Sendable, Hashable {
  /// The bits, in the bus's encoding.
  public let rawValue: UInt32
  /// Makes options from the bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Another connection may take over the name with ``replaceExisting``.
  public static let allowReplacement = NameRequestOptions(rawValue: 1)
  /// Take over the name from an owner that allows it.
  public static let replaceExisting = NameRequestOptions(rawValue: 2)
  /// Do not wait in line if the name has an owner.
  public static let doNotQueue = NameRequestOptions(rawValue: 4)
}

/// The outcome of a request for a name.
///
/// ```swift
/// let connection = try await Connection.session()
/// guard try await connection.requestName("org.example.Greeter", .doNotQueue) == .owned else {
///   print("another greeter runs already")
///   return
/// }
/// ```
public enum NameRequestOutcome: UInt32, Sendable, Hashable, BusValue {
  /// This connection owns the name now.
  case owned = 1
  /// Another connection owns the name, and this connection waits in line.
  case queued = 2
  /// Another connection owns the name, and this connection did not want to wait.
  case taken = 3
  /// This connection owned the name before.
  case alreadyOwned = 4
}

/// The outcome of releasing a name.
///
/// ```swift
/// let connection = try await Connection.session()
/// print(try await connection.releaseName("org.example.Greeter") == .released)
/// ```
public enum NameReleaseOutcome: UInt32, Sendable, Hashable, BusValue {
  /// The name is free, or the next in line owns it.
  case released = 1
  /// Nobody owned the name.
  case unowned = 2
  /// Another connection owns the name.
  case notOwner = 3
}

extension Connection {
  /// Asks for a name.
  ///
  /// Export your objects first: a call that started this process waits for the name, and comes as soon as you own it.
  public nonisolated(nonsending) func requestName(
    _ name: BusName, _ options: NameRequestOptions = []
  ) async throws(CallError) -> NameRequestOutcome {
    try await call(to: .bus, at: .bus, .bus, "RequestName", name.rawValue, options.rawValue)
  }

  /// Releases a name, or leaves the line for it.
  public nonisolated(nonsending) func releaseName(_ name: BusName) async throws(CallError) -> NameReleaseOutcome {
    try await call(to: .bus, at: .bus, .bus, "ReleaseName", name.rawValue)
  }

  /// The present owner of a name; `nil` if nobody owns it.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// print(try await connection.owner(of: "org.example.Greeter") ?? "nobody")
  /// ```
  public nonisolated(nonsending) func owner(of name: BusName) async throws(CallError) -> BusName? {
    do {
      let owner: String = try await call(to: .bus, at: .bus, .bus, "GetNameOwner", name.rawValue)
      return BusName(unchecked: owner)
    } catch .replied(let error) where error.name == .nameHasNoOwner {
      return nil
    }
  }

  /// The present owner of a name, and then each new owner; `nil` while nobody owns the name.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// for await owner in try await connection.owners(of: "org.example.Greeter") {
  ///   print(owner.map { "the greeter is \($0)" } ?? "the greeter has left")
  /// }
  /// ```
  public nonisolated(nonsending) func owners(of name: BusName) async throws(CallError) -> OwnerSequence {
    // Subscribe first, ask second: a change in between may be reported twice, but is never missed.
    let changes = try await signals(Self.ownerChanges(of: name))
    return OwnerSequence(first: try await owner(of: name), changes: changes)
  }

  package static func ownerChanges(of name: BusName) -> MatchRule { .ownerChanges([0: name.rawValue]) }
}

extension MatchRule {
  /// The changes of owners with these arguments: the name, its former owner, and the new one.
  static func ownerChanges(_ arguments: [Int: String]) -> MatchRule {
    MatchRule(sender: .bus, path: .bus, interface: .bus, member: "NameOwnerChanged", arguments: arguments)
  }
}

/// The owners of a name, one after another. See ``Connection/owners(of:)``.
///
/// ```swift
/// let connection = try await Connection.session()
/// let owners = try await connection.owners(of: "org.example.Greeter")
/// print(await owners.first { $0 != nil } ?? nil ?? "the connection has gone")
/// ```
public struct OwnerSequence: AsyncSequence, Sendable {
  /// A unique name, or `nil` while nobody owns the name.
  public typealias Element = BusName?
  /// The sequence ends, and never fails.
  public typealias Failure = Never

  let first: BusName?
  let changes: SignalStream

  /// Begins with the owner at the time of the question.
  public func makeAsyncIterator() -> Iterator { Iterator(first: .some(first), changes: changes.makeAsyncIterator()) }

  /// Returns one owner after another.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// var iterator = try await connection.owners(of: "org.example.Greeter").makeAsyncIterator()
  /// if let owner = await iterator.next() { print(owner ?? "nobody") }
  /// ```
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate var first: BusName??
    fileprivate var last: BusName?
    fileprivate let changes: SignalStream.Iterator

    /// Waits for a change; the outer `nil` means the end of the connection.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> BusName?? {
      if let first {
        self.first = nil
        last = first
        return .some(first)
      }
      while let signal = await changes.next(isolation: actor) {
        guard let (_, _, text) = try? signal.values(as: String.self, String.self, String.self) else { continue }
        let owner = text.isEmpty ? nil : BusName(unchecked: text)
        if owner == last { continue }
        last = owner
        return .some(owner)
      }
      return nil
    }
  }
}

// MARK: - Owners that rules depend on

/// The owner of a well-known name that somebody subscribes to.
struct WatchedName {
  var count = 0
  var owner: BusName?
  /// Whether the bus has reported an owner since it was asked: its answer may come later and be older.
  var wasTold = false
  var asked: Task<Void, any Error>?
}

extension Connection {
  func watchOwner(of name: BusName) async throws(CallError) {
    watchedNames[name, default: .init()].count += 1
    guard uniqueName != nil else { return }
    let task =
      watchedNames[name]?.asked
      ?? loop.task {
        let rule = Self.ownerChanges(of: name)
        try await retain(rule)
        do {
          let owner = try await owner(of: name)
          if watchedNames[name]?.wasTold == false { watchedNames[name]?.owner = owner }
        } catch {
          release(rule)
          throw error
        }
      }
    watchedNames[name]?.asked = task
    do {
      try await withTaskExecutorPreference(loop.taskExecutor) { try await task.value }
    } catch {
      if watchedNames[name]?.asked == task { watchedNames[name]?.asked = nil }
      unwatchOwner(of: name)
      throw error as? CallError ?? .disconnected
    }
  }

  func unwatchOwner(of name: BusName) {
    guard let entry = watchedNames[name] else { return }
    if entry.count > 1 {
      watchedNames[name]?.count -= 1
      return
    }
    watchedNames[name] = nil
    if entry.asked != nil { release(Self.ownerChanges(of: name)) }
  }

  /// The bus reports the owners of names in order with the signals of these owners.
  func noteOwnerChange(_ message: borrowing Message) {
    guard message.member == "NameOwnerChanged",
      let (name, _, new) = try? message.values(as: String.self, String.self, String.self)
    else { return }
    let busName = BusName(unchecked: name)
    watchedNames[busName]?.owner = new.isEmpty ? nil : BusName(unchecked: new)
    watchedNames[busName]?.wasTold = true
    if new.isEmpty && busName.isUnique { forgetSender(busName) }
  }
}
