internal import DBus

/// The progress of a load: the loaded bytes, and the bytes in all. Both sides can cancel the load.
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
    var onCancel: [Int: @Sendable () -> Void] = [:]
    var nextNumber = 0
  }

  private let state = Lock(State())
  private let onChange: (@Sendable (ItemProgress) -> Void)?

  /// Makes a progress. `onChange` runs after each change, on the thread that loads.
  public init(onChange: (@Sendable (ItemProgress) -> Void)? = nil) { self.onChange = onChange }

  /// The loaded bytes.
  public var completedByteCount: Int { state.withLock { $0.completed } }

  /// The bytes in all; `nil` if nobody knows.
  public var totalByteCount: Int? { state.withLock { $0.total } }

  /// From 0 to 1; `nil` if nobody knows the number of bytes in all.
  public var fractionCompleted: Double? {
    state.withLock { state in state.total.map { $0 <= 0 ? 1 : min(1, Double(state.completed) / Double($0)) } }
  }

  /// Whether somebody has cancelled the load. A load handler checks this between two pieces of work.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels the load.
  public func cancel() {
    let onCancel = state.withLock { state in
      state.isCancelled = true
      defer { state.onCancel = [:] }
      return state.onCancel.values
    }
    for body in onCancel { body() }
  }

  /// Reports the progress. A load handler calls this.
  public func update(completedByteCount: Int, totalByteCount: Int? = nil) {
    state.withLock { state in
      state.completed = completedByteCount
      state.total = totalByteCount ?? state.total
    }
    onChange?(self)
  }

  /// Runs `body` when the load is cancelled, or at once if it was. Several loads may have one progress.
  ///
  /// - Returns: The number by which to ``forget(_:)`` `body`.
  func whenCancelled(_ body: @escaping @Sendable () -> Void) -> Int? {
    let number = state.withLock { state -> Int? in
      if state.isCancelled { return nil }
      state.nextNumber += 1
      state.onCancel[state.nextNumber] = body
      return state.nextNumber
    }
    if number == nil { body() }
    return number
  }

  func forget(_ number: Int?) { if let number { state.withLock { $0.onCancel[number] = nil } } }
}
