package import SceneModel

// The life of a drag. `docs/lives.md` shows the same states as a table.
//
//   (begun) ──► dragging ──► dropped ──► ended
//                  │  ▲          │
//                  │  └──────────┘ the drop was refused
//                  └─► cancelled
//
// A drag is in memory only: it is over with the service, and no later than its deadline or the end of its delivery. How it ended can be asked
// for some seconds more.

package enum DragState: String, CaseIterable, Sendable {
  case dragging, dropped, cancelled, ended

  var isOver: Bool { self == .cancelled || self == .ended }
}

struct Drag: Sendable {
  /// How long a drag lasts whose source does not say, in seconds.
  static let time: Double = 300
  /// How long a drag that is over can be asked how it ended, in microseconds.
  static let rest: Int64 = 10_000_000

  let identifier: UniqueIdentifier
  /// Whoever brings it may look and drop. It is a secret, and random.
  let ticket: Text
  let source: Caller
  /// When it is over, on the clock that nobody sets; of one that has ended, when it is forgotten.
  var due: Int64 = 0
  /// A script began it: each of its calls comes from another connection, and the drag outlives them all.
  let outlivesSource: Bool
  /// What is dragged. Files and promises are opened at the drop.
  var payload: Payload
  var parcels: [[Parcel?]] = []
  var nextNumber = 0
  /// Bytes of what is dragged, as a document.
  var size = 0
  var state = DragState.dragging
  /// What it was dropped for.
  var operation: PayloadOptions.Operation?
  /// The connections that brought the ticket, and the hosts that were asked.
  var openers: Set<Text> = []
  var asked: Set<Text> = []
  /// A program outside any sandbox brought the ticket: these have no walls between them.
  var isOpenedOutside = false
  /// The source has left. Where the drop is refused, the drag is over.
  var isAbandoned = false
  var holding: Holding?
  var bytes: Holding?

  func isSource(_ caller: Caller) -> Bool {
    if caller.connection != nil, caller.connection == source.connection { return true }
    return outlivesSource && !caller.isStranger && caller.isSandboxed == source.isSandboxed
      && caller.application == source.application && !(caller.isSandboxed && caller.application.isEmpty)
  }

  /// Whether it is over when a connection leaves.
  func endsWith(_ connection: Text) -> Bool { source.connection == connection && !outlivesSource }

  func mayLook(_ caller: Caller) -> Bool {
    if isSource(caller) || caller.connection.map(openers.contains) ?? false { return true }
    return isOpenedOutside && !caller.isSandboxed
  }

  /// What it promises, as long as it was not dropped.
  var promises: [Promise] {
    guard let connection = source.connection else { return [] }
    return payload.items.enumerated().flatMap { place, item in
      item.representations.compactMap { representation in
        guard case .promise(let path) = representation.content else { return nil }
        return Promise(source: connection, path: path, item: place, type: representation.type.spelling)
      }
    }
  }

  /// Everyone who is told how it ends.
  var told: [Text] { asked.union(source.connection.map { [$0] } ?? []).sorted() }
}

/// What those who take part in a drag are told, and nobody else.
package enum DragNews: Hashable, Sendable {
  case stateChanged
  case itemsChanged
  /// - Parameter target: the session; `nil` where nothing came of it.
  case ended(operation: Text, target: UniqueIdentifier?)
}
