/// An awaited event that did not come in time.
///
/// ```swift
/// let error = LimitExceeded(what: "the greeting", limit: .seconds(5))
/// print(error)  // waited 5.0 seconds for the greeting, and it did not come
/// ```
public struct LimitExceeded: Error, Sendable, Hashable, CustomStringConvertible {
  /// The awaited event, in words that follow "waited for".
  public let what: String
  /// The limit.
  public let limit: Duration
  /// Further details that may explain the failure.
  public let details: String

  /// Makes an error for an event that did not come.
  public init(what: String, limit: Duration, details: String = "") {
    self.what = what
    self.limit = limit
    self.details = details
  }

  /// The sentence for the test's log.
  public var description: String {
    "waited \(limit) for \(what), and it did not come" + (details.isEmpty ? "" : "\n\(details)")
  }
}

/// The default limit of a test: longer than any healthy machine needs, under a sanitizer and a full load.
///
/// Only a failing test waits that long.
public let usualLimit: Duration = .seconds(60)

/// Waits for `body`, and throws ``LimitExceeded`` if it takes longer than `limit`.
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
/// After the limit the body is cancelled, and this does not wait for it: a body that ignores its cancellation cannot hold up the test.
public func withLimit<Value: Sendable>(
  _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let outcome = Awaitable<Result<Value, any Error>?>(nil)
  @Sendable func finish(_ result: Result<Value, any Error>) { outcome.update { $0 = $0 ?? result } }
  let work = Task {
    do { finish(.success(try await body())) } catch { finish(.failure(error)) }
  }
  let clock = Task {
    try await ContinuousClock().sleep(for: limit)
    finish(.failure(LimitExceeded(what: what, limit: limit)))
  }
  defer {
    work.cancel()
    clock.cancel()
  }
  return try await outcome.wait { $0 }.get()
}

/// Takes the next `count` elements of `sequence`. Throws ``LimitExceeded``, with the elements so far, if they do not come in time. Returns
/// fewer elements only if the sequence ends.
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

/// Checks `condition` again and again until it is true. This is the last resort, for state without an event, such as a file of the kernel.
/// If there is an event, wait for the event with ``withLimit(_:_:_:)``.
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
