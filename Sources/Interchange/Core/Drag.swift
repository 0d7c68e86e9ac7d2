package import SceneModel

// The life of a drag. `docs/lives.md` shows the same states as a table.
//
//   (begun) ──► dragging ──► dropped ──► ended
//                  │  ▲          │
//                  │  └──────────┘ the drop was refused
//                  └─► cancelled
//
// A drag exists in memory only. It ends with the service, and no later than its deadline or the end of its delivery. For some seconds after that,
// callers can still ask how it ended.

package enum DragState: String, CaseIterable, Sendable {
  case dragging, dropped, cancelled, ended

  var isOver: Bool { self == .cancelled || self == .ended }
}

struct Drag: Sendable {
  /// The life of a drag whose source gives no deadline, in seconds.
  static let time: Double = 300
  /// The time for which a drag that is over still answers, in microseconds.
  static let rest: Int64 = 10_000_000
  /// The parts of drags that end in one step: the connections that are told, and the representations. Further drags end when others have had a turn.
  static let partsAtOnce = 256

  let identifier: UniqueIdentifier
  /// The secret, random key to the drag: a caller that passes it to OpenDrag may look and drop.
  let ticket: Text
  var source: Caller
  /// The deadline of the drag, on the clock that nobody can set. For a drag that is over, the time at which it is forgotten.
  var due: Int64 = 0
  /// Whether a script began the drag: each of its calls has another connection, and the drag outlives them all.
  let outlivesSource: Bool
  /// The dragged items. Files and promises are opened at the drop.
  var payload: Payload
  var parcels: [[Parcel?]] = []
  var nextNumber = 0
  /// The bytes of the dragged items, as a document.
  var size = 0
  var state = DragState.dragging
  /// The operation of the drop.
  var operation: PayloadOptions.Operation?
  /// Whether the delivery carries everything that was dragged: a sandbox may not hand over all of it.
  var isWhole = true
  /// Whether the host has said that it has all of the contents.
  var isTaken = false
  /// How the drag ended, as its source was told: "copy", "move" or "cancel".
  var result: Text = .empty
  /// The connections that opened the ticket, and below them the hosts that were asked.
  var openers: Set<Text> = []
  var asked: Set<Text> = []
  /// Whether a program outside any sandbox has opened the ticket: no walls separate these programs.
  var isOpenedOutside = false
  /// Whether the source has left. A drag that is dropped is then over if the drop is refused, and any other drag is over as soon as it has its turn.
  var isAbandoned = false
  var holding: Holding?
  /// The charges for its document and its small contents, and for what the baggage store has for it.
  var document: Holding?
  var bytes: Holding?
  var descriptors: Holding?

  /// The charges are returned.
  func relieve(_ relief: inout Relief) { for holding in [document, bytes, descriptors] { relief.add(holding) } }

  func isSource(_ caller: Caller) -> Bool {
    if caller.connection != nil, caller.connection == source.connection { return true }
    return outlivesSource && !caller.isStranger && caller.isSandboxed == source.isSandboxed
      && caller.application == source.application && !(caller.isSandboxed && caller.application.isEmpty)
  }

  /// Whether the drag ends when a connection leaves.
  func endsWith(_ connection: Text) -> Bool { source.connection == connection && !outlivesSource }

  func mayLook(_ caller: Caller) -> Bool {
    if isSource(caller) || caller.connection.map(openers.contains) ?? false { return true }
    return isOpenedOutside && !caller.isSandboxed
  }

  /// The number of connections and representations that its end concerns.
  var parts: Int { openers.count + parcels.reduce(0) { $0 + $1.count } }

  /// Everyone who hears how the drag ends.
  var told: [Text] { asked.union(source.connection.map { [$0] } ?? []).sorted() }
}

/// The news of a drag, for those who take part in it and nobody else.
package enum DragNews: Hashable, Sendable {
  case stateChanged
  case itemsChanged
  /// - Parameter target: The session; `nil` if nothing came of the drag.
  case ended(operation: Text, target: UniqueIdentifier?)
}
