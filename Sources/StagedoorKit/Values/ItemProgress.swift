internal import DBus

/// How far a load is: how many bytes have come, and of how many. It can be cancelled from either side.
///
/// ```swift
/// func load(_ item: DragItem) async throws -> Int {
///   let progress = ItemProgress { progress in
///     if let fraction = progress.fractionCompleted { print("\(Int(fraction * 100)) %") }
///   }
///   return try await item.itemProvider.loadDataRepresentation(as: "image/*", progress: progress).count
/// }
/// ```
public final class ItemProgress: Sendable {
  private struct State {
    var completed = 0
    var total: Int?
    var isCancelled = false
    var onCancel: (@Sendable () -> Void)?
  }

  private let state = Lock(State())
  private let onChange: (@Sendable (ItemProgress) -> Void)?

  /// Makes a progress. `onChange` runs after each change, on the thread that loads.
  public init(onChange: (@Sendable (ItemProgress) -> Void)? = nil) { self.onChange = onChange }

  /// The bytes that have come.
  public var completedByteCount: Int { state.withLock { $0.completed } }

  /// The bytes that will have come in the end; `nil` if nobody knows.
  public var totalByteCount: Int? { state.withLock { $0.total } }

  /// From 0 to 1; `nil` if nobody knows how many bytes there are.
  public var fractionCompleted: Double? {
    state.withLock { state in
      state.total.map { $0 <= 0 ? 1 : min(1, Double(state.completed) / Double($0)) }
    }
  }

  /// Whether somebody has cancelled the load. A load handler looks at it between two pieces of work.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels the load.
  public func cancel() {
    let onCancel = state.withLock { state in
      state.isCancelled = true
      defer { state.onCancel = nil }
      return state.onCancel
    }
    onCancel?()
  }

  /// Says how far the load is. A load handler calls it.
  public func update(completedByteCount: Int, totalByteCount: Int? = nil) {
    state.withLock { state in
      state.completed = completedByteCount
      state.total = totalByteCount ?? state.total
    }
    onChange?(self)
  }

  /// Runs `body` when the load is cancelled, or at once if it was.
  func whenCancelled(_ body: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.onCancel = body }
      return state.isCancelled
    }
    if isCancelled { body() }
  }
}
