import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

extension Stage {
  @discardableResult
  func begin(
    _ representations: Representation..., by caller: Caller = .shell, isScript: Bool = false,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> CallAnswer? {
    begin(representations, by: caller, isScript: isScript, change)
  }

  private func begin(
    _ representations: [Representation], by caller: Caller, isScript: Bool, _ change: (inout PayloadOptions) -> Void
  ) -> CallAnswer? {
    let ticket = Text("ticket \(lastCall + 1)")
    let payload = payload(representations, nil, change)
    return call(.beginDrag(payload, ticket: ticket, outlivesSource: isScript, size: 100), by: caller)
  }

  /// A stage on which a drag has begun, beside the window of a host.
  static func dragging(
    _ representations: Representation..., by caller: Caller = .shell, isScript: Bool = false,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> (stage: Stage, window: UniqueIdentifier, drag: UniqueIdentifier) {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    return (stage, window, try stage.dragging(representations, by: caller, isScript: isScript, change))
  }

  func dragging(
    _ representations: Representation..., by caller: Caller = .shell, isScript: Bool = false,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> UniqueIdentifier {
    try dragging(representations, by: caller, isScript: isScript, change)
  }

  private func dragging(
    _ representations: [Representation], by caller: Caller, isScript: Bool, _ change: (inout PayloadOptions) -> Void
  ) throws -> UniqueIdentifier {
    _ = begin(representations, by: caller, isScript: isScript, change)
    let call = lastCall
    while !baggage.packings.isEmpty { baggagePacks() }
    return try #require(answers[call]?.begun).drag
  }

  @discardableResult
  func open(_ drag: UniqueIdentifier, by caller: Caller) -> CallAnswer? {
    call(.openDrag(ticket: memory.drags[drag]?.ticket ?? .empty), by: caller)
  }

  /// The source adds an item with representations.
  @discardableResult
  func add(
    _ representations: Representation..., to drag: UniqueIdentifier, by caller: Caller = .shell
  ) -> CallAnswer? {
    call(.addItems([Item(representations: representations)], to: drag, size: 1), by: caller)
  }

  /// - Parameter window: The session on which it is dropped; without it, the edge of the screen.
  @discardableResult
  func drop(
    _ drag: UniqueIdentifier, on window: UniqueIdentifier?, _ operation: Text = "copy", by caller: Caller = .shell
  ) -> CallAnswer? {
    call(.drop(drag, on: window, operation: operation), by: caller)
  }

  func state(of drag: UniqueIdentifier) -> Text? { book.viewOfDrag(drag, for: .shell)?.state }

  /// The session that took the drop, as the participants heard.
  func target(of drag: UniqueIdentifier) -> UniqueIdentifier? {
    sayings.compactMap { saying -> UniqueIdentifier? in
      if case .drag(drag, .ended(_, let target), _) = saying { target } else { nil }
    }.last
  }

  /// Who heard what of drags: `drag State :1.1 :3.9`, `Ended copy :1.1`
  func news(since count: Int = 0) -> [String] {
    sayings.dropFirst(count).compactMap { saying in
      guard case .drag(_, _, let listeners) = saying else { return nil }
      return "\(saying.word) \(listeners.map(\.string).joined(separator: " "))"
    }
  }
}

extension Caller {
  /// A program in a sandbox, which is dragged to.
  static let target = Caller.sandbox("org.example.Target", 9)
}
