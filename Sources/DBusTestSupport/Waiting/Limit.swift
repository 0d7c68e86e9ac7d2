/// What was waited for did not come in time.
///
/// ```swift
/// let error = LimitExceeded(what: "the greeting", limit: .seconds(5))
/// print(error)  // waited 5.0 seconds for the greeting, and it did not come
/// ```
public struct LimitExceeded: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was waited for, in words that follow "waited for".
  public let what: String
  /// For how long.
  public let limit: Duration
  /// What else may help to find out why.
  public let details: String

  /// Says what did not come.
  public init(what: String, limit: Duration, details: String = "") {
    self.what = what
    self.limit = limit
    self.details = details
  }

  /// The sentence for whoever reads the test's log.
  public var description: String {
    "waited \(limit) for \(what), and it did not come" + (details.isEmpty ? "" : "\n\(details)")
  }
}

/// How long a test waits where it does not say: longer than any healthy machine takes, under a sanitizer and a full load.
///
/// It is spent only by a test that fails.
public let usualLimit: Duration = .seconds(60)

/// Waits for `body`, and throws ``LimitExceeded`` where it takes longer than `limit`.
///
/// ```swift
/// import DBus
///
/// let connection = try await Connection.session()
/// let signals = try await connection.signals(MatchRule(interface: "org.example.Player"))
/// let first = try await withLimit(.seconds(5), "the first signal of the player") {
///   await signals.makeAsyncIterator().next()
/// }
/// print(first?.member ?? "none")
/// ```
///
/// What is over its limit is cancelled and not waited for: a body that does not heed its cancellation cannot hold up the test.
public func withLimit<Value: Sendable>(
  _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let outcome = Awaitable<Result<Value, any Error>?>(nil)
  @Sendable func settle(_ result: Result<Value, any Error>) { outcome.update { $0 = $0 ?? result } }
  let work = Task {
    do { settle(.success(try await body())) } catch { settle(.failure(error)) }
  }
  let clock = Task {
    try await ContinuousClock().sleep(for: limit)
    settle(.failure(LimitExceeded(what: what, limit: limit)))
  }
  defer {
    work.cancel()
    clock.cancel()
  }
  return try await outcome.wait { $0 }.get()
}

/// Takes the next `count` elements of `sequence`; throws ``LimitExceeded``, saying what came, where they do not come in time.
/// There are fewer only where the sequence ends.
///
/// ```swift
/// import DBus
///
/// let connection = try await Connection.session()
/// let signals = try await connection.signals(MatchRule(member: "Changed"))
/// let three = try await collect(3, from: signals, within: .seconds(5))
/// print(three.map(\.path))
/// ```
public func collect<Source: AsyncSequence & Sendable>(
  _ count: Int, from sequence: Source, within limit: Duration = usualLimit
) async throws -> [Source.Element] where Source.Element: Sendable {
  let taken = Awaitable<[Source.Element]>([])
  do {
    return try await withLimit(limit, "\(count) elements") {
      if count == 0 { return [] }
      for try await element in sequence {
        let isEnough = taken.update { elements in
          elements.append(element)
          return elements.count == count
        }
        if isEnough { break }
      }
      return taken.read { $0 }
    }
  } catch let error as LimitExceeded {
    throw LimitExceeded(what: error.what, limit: limit, details: "what came: \(taken.read { $0 })")
  }
}

/// Looks at `condition` again and again until it holds: the last resort, for what tells nobody that it changed, such as a
/// file of the kernel. Where there is an event, wait for that with ``withLimit(_:_:_:)``.
///
/// ```swift
/// import DBus
///
/// let before = OpenDescriptors.count
/// let connection = try await Connection.session()
/// await connection.close()
/// try await eventually("the connection's descriptors are closed") { OpenDescriptors.count <= before }
/// ```
public func eventually(
  _ what: String, within limit: Duration = usualLimit, _ condition: @escaping @Sendable () async throws -> Bool
) async throws {
  try await withLimit(limit, what) {
    var pause = Duration.milliseconds(1)
    while try await !condition() {
      try await ContinuousClock().sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}
