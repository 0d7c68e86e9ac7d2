/// The isolation of code that runs on an ``EventLoop``'s thread without an actor of its own. See ``EventLoop/run(_:)``.
///
/// ```swift
/// let loop = try EventLoop()
/// let isThere = await loop.run { isolation in isolation.loop.isCurrent }
/// print(isThere)  // true
/// await loop.stop()
/// ```
public actor LoopIsolation {
  /// The loop.
  public nonisolated let loop: EventLoop

  /// The loop, as Swift's concurrency knows it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(loop: EventLoop) { self.loop = loop }

  func run<Value: Sendable, Failure: Error>(
    _ body: @Sendable (isolated LoopIsolation) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    // Without any work here, the compiler (6.3) leaves the change of threads to `body`, which may not make one.
    loop.checkIsolated()
    return try await body(self)
  }
}
