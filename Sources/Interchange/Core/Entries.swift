package import SceneModel

// The entries of the memory's tables.

/// A thing with its place in the order in which things came.
struct Ordered: Comparable, Hashable, Sendable {
  let order: Int64
  let identifier: UniqueIdentifier

  init(order: Int64, identifier: UniqueIdentifier) { (self.order, self.identifier) = (order, identifier) }

  /// A place in the order, with or without a thing there.
  init(at order: Int64) { self.init(order: order, identifier: UniqueIdentifier(high: 0, low: 0)) }

  static func < (one: Ordered, other: Ordered) -> Bool { one.order < other.order }
}

/// A session that is gone, and whose host has not been told yet.
struct Owed: Comparable, Hashable, Sendable {
  let order: Int64
  let session: UniqueIdentifier

  static func < (one: Owed, other: Owed) -> Bool { one.order < other.order }
}

/// An object of a source that has promised something.
struct PromiseObject: Hashable, Sendable {
  let source, path: Text

  init(_ promise: Promise) { (source, path) = (promise.source, promise.path) }
}

struct TokenKey: Hashable, Sendable {
  let token: Text
  let owner: Text
}

/// The source of an application's manifest.
struct ManifestSource: Sendable {
  /// "" for a registered manifest.
  let file: Text
  let holding: Holding?
  /// The connection that registered the manifest.
  var registrar: Text?
}

/// What becomes of a session whose configuration the manifest has lost.
enum OrphanFate: Sendable {
  case discarded
  /// It gets the first configuration that takes what it shows. An understudy made it, and the application now declares itself.
  case moved
}

/// The charges of a call, until it is answered.
struct CallCharge: Sendable {
  let connection: Text?
  let number: Holding
  let bytes: Holding?
}

/// A call that waits for the end of a delivery.
struct WaitingCall: Comparable, Hashable, Sendable {
  let call: CallNumber
  let delivery: UniqueIdentifier

  static func < (one: WaitingCall, other: WaitingCall) -> Bool { one.call < other.call }
}

/// An event at a certain time.
enum Appointment: Hashable, Sendable {
  case delivery(UniqueIdentifier)
  case baggage(UniqueIdentifier)
  /// The end of the wait for a sender that may take up its promises again.
  case renewal(CallNumber)
  case drag(UniqueIdentifier)
  /// A host that could not be told of discarded sessions is told again.
  case discards(Text)
}

/// The receiver of an errand's result.
enum ErrandPurpose: Hashable, Sendable {
  case lane(Lane.Key)
  case proposal(Proposal.Key)
  case discards(application: Text)
}

/// A caller of AttachHost, while the shell finds out whether it owns the name.
struct Attaching: Sendable {
  /// `nil` once it is answered: a host that attaches again is answered at once, and the bus is asked all the same.
  var call: CallNumber?
  let caller: Caller
  let connection: Text
  let application: Text
  /// The name that the connection must own.
  let name: Text
  var shown: [UniqueIdentifier]
  let unknown: [Text]
  let options: HostOptions
}

/// The data that a starting service finds in its store.
package struct Remembered: Sendable {
  package var preferences: [Text: Text] = [:]
  package var sessionCounts: [Text: Int] = [:]
  package var sessionBytes: [Text: Int] = [:]
  package var owed: [Text: [UniqueIdentifier]] = [:]
  /// In the order in which they came.
  package var open: [DeliverySummary] = []
  package var baggage: [BaggageSummary] = []
  /// Sessions whose scenes were connected when the service ended, with their applications.
  package var connected: [(session: UniqueIdentifier, application: Text)] = []
  package var lastEvent: UInt64 = 0

  package init() {}

  /// The open deliveries in their order, except that one which was redirected comes behind the one whose content its session showed then.
  var openInOrder: [DeliverySummary] {
    var followers: [UniqueIdentifier: Int] = [:]
    for (place, delivery) in open.enumerated() { if let before = delivery.previousBy { followers[before] = place } }
    var (isPlaced, placed) = ([Bool](repeating: false, count: open.count), [DeliverySummary]())
    // The last first: usually the followers of a delivery are placed before it.
    for last in open.indices.reversed() where !isPlaced[last] {
      var chain = [last]
      isPlaced[last] = true
      while let next = followers[open[chain[chain.count - 1]].identifier], !isPlaced[next],
        open[next].progress.session == open[last].progress.session
      {
        chain.append(next)
        isPlaced[next] = true
      }
      placed += chain.reversed().map { open[$0] }
    }
    return placed.reversed()
  }
}
