internal import DBus
internal import InterchangeWire

/// The deliveries whose items a host can load.
///
/// The service keeps the contents of a delivery until its host releases them, and treats the release of a moved delivery as permission: the source
/// then deletes its items. The host may be asked several times about one delivery, and gets options each time. So all options of a delivery share one
/// ``ReceivedDelivery``.
final class ReceivedDeliveries: Sendable {
  private struct Entry: Sendable { weak let delivery: ReceivedDelivery? }

  fileprivate let stagedoor: Stagedoor
  /// See ``Application/loadLimit``.
  let loadLimit = Lock(Application.usualLoadLimit)
  private let entries = Lock<[DeliveryIdentifier: Entry]>([:])
  private let attachment = Lock(Attachment())

  private struct Attachment {
    /// The service that this application is attached to.
    var service: BusName?
    /// What was released without one.
    var waiting: [DeliveryIdentifier] = []
    /// The service that opens items: the last one that this application was attached to, until it leaves.
    var opener: BusName?
    /// Whether this program is no longer the host.
    var isOver = false
  }

  init(_ stagedoor: Stagedoor) { self.stagedoor = stagedoor }

  /// The delivery, in this attempt of the service to hand it over.
  ///
  /// - Parameter items: The items that have data.
  func delivery(_ identifier: DeliveryIdentifier, attempt: Int, items: Set<UInt32>) -> ReceivedDelivery {
    let delivery = entries.withLock { entries in
      if let delivery = entries[identifier]?.delivery { return delivery }
      let delivery = ReceivedDelivery(identifier, of: self)
      entries[identifier] = Entry(delivery: delivery)
      return delivery
    }
    delivery.begin(attempt, items)
    return delivery
  }

  /// This program is no longer the host.
  func forget() {
    entries.withLock { $0 = [:] }
    attachment.withLock { $0.isOver = true }
  }

  /// The application is attached to a service, which hears of what was released before; or to none any more.
  func isAttached(to service: BusName?) {
    let waiting = attachment.withLock { attachment in
      attachment.service = service
      guard let service else { return [] as [DeliveryIdentifier] }
      attachment.opener = service
      defer { attachment.waiting = [] }
      return attachment.waiting
    }
    for delivery in waiting { release(delivery) }
  }

  /// The name of the service has another owner, or none.
  func hasLeft() { attachment.withLock { $0.opener = nil } }

  /// The service that opens items, if it is not `last`. Another one is awaited; `nil` if none comes in time.
  fileprivate func opener(
    after last: BusName?, until end: SuspendingClock.Instant
  ) async throws(StagedoorError) -> BusName? {
    while SuspendingClock.now < end {
      if Task.isCancelled { throw .waitWasCancelled }
      let (opener, isOver) = attachment.withLock { ($0.opener, $0.isOver) }
      if isOver { throw StagedoorError(.disconnected, "the application has stopped") }
      if let opener, opener != last { return opener }
      await stagedoor.connection.loop.sleep(for: .milliseconds(20))
    }
    return nil
  }

  fileprivate func isGone(_ identifier: DeliveryIdentifier, isComplete: Bool) {
    let isLast = entries.withLock { entries in
      // The delivery may have come again meanwhile.
      guard let entry = entries[identifier], entry.delivery == nil else { return false }
      entries[identifier] = nil
      return true
    }
    if isLast, isComplete { release(identifier) }
  }

  /// Without a service the release waits: a call to the name would start one that somebody has just stopped.
  fileprivate func release(_ identifier: DeliveryIdentifier) {
    let service = attachment.withLock { attachment in
      if attachment.service == nil { attachment.waiting.append(identifier) }
      return attachment.service
    }
    guard let service else { return }
    var stagedoor = stagedoor
    stagedoor.service = service
    stagedoor.connection.loop.task { [stagedoor] in
      do throws(StagedoorError) {
        try await stagedoor.call("ReleaseDelivery", identifier.description)
      } catch {
        // It has left, and this application may not have heard of that.
        if error.saysServiceLeft { self.release(identifier, notTo: service) }
      }
    }
  }

  private func release(_ identifier: DeliveryIdentifier, notTo service: BusName) {
    let waits = attachment.withLock { attachment in
      if attachment.service != service { return false }
      attachment.waiting.append(identifier)
      return true
    }
    if !waits { release(identifier) }
  }
}

/// A delivery of items, as long as the application has a value that can load them.
///
/// The delivery is released when the application has finished with each item, and nobody can load one that it has handed on as a promise. It is also
/// released when the application keeps none of these values any more, if a scene has taken the delivery and the application has loaded each item with
/// data. Otherwise the service keeps the data for its usual time, and the source of a move keeps its items.
final class ReceivedDelivery: Sendable {
  fileprivate struct State {
    var attempt = 0
    var isTaken = false
    /// The items with data of which nothing was loaded.
    var unloaded: Set<UInt32> = []
    /// The items with data that the application has not finished with.
    var unfinished: Set<UInt32> = []
    /// How many promises load their data from here.
    var promises = 0
    var isReleased = false

    /// Whether this is the moment to release the delivery, although values that can load it exist.
    mutating func releases() -> Bool {
      if isReleased || !isTaken || !unfinished.isEmpty || promises > 0 { return false }
      isReleased = true
      return true
    }
  }

  fileprivate let identifier: DeliveryIdentifier
  fileprivate let deliveries: ReceivedDeliveries
  fileprivate let state = Lock(State())

  fileprivate init(_ identifier: DeliveryIdentifier, of deliveries: ReceivedDeliveries) {
    (self.identifier, self.deliveries) = (identifier, deliveries)
  }

  deinit {
    deliveries.isGone(
      identifier, isComplete: state.withLock { $0.isTaken && $0.unloaded.isEmpty && !$0.isReleased })
  }

  /// A delivery that was redirected comes again, and belongs to the other scene.
  fileprivate func begin(_ attempt: Int, _ items: Set<UInt32>) {
    state.withLock { state in
      if attempt == state.attempt { return }
      state = State(attempt: attempt, unloaded: items, unfinished: items, promises: state.promises)
    }
  }

  /// A scene has taken the delivery, and the service knows.
  func wasTaken() { note { $0.isTaken = true } }

  fileprivate func note(_ change: (inout State) -> Void) {
    let releases = state.withLock { state in
      change(&state)
      return state.releases()
    }
    if releases { deliveries.release(identifier) }
  }

  var loadLimit: Int { max(0, deliveries.loadLimit.withLock(\.self)) }
}

/// An item of a delivery of which this process is the host.
struct ReceivedItem: Sendable {
  let delivery: ReceivedDelivery
  let index: UInt32

  /// A service that has left without an answer has stored the item, and the next one opens it for its host.
  func open(_ type: String) async throws(StagedoorError) -> (OwnedFileDescriptor, size: Int?) {
    var stagedoor = delivery.deliveries.stagedoor
    // The service waits until the source of a promise is there again, and then until it hands out the data.
    let end = SuspendingClock.now + Stagedoor.silence * 2
    var failure = (service: nil as BusName?, error: StagedoorError(.noReply, "the service has left"))
    while let service = try await delivery.deliveries.opener(after: failure.service, until: end) {
      stagedoor.service = service
      do throws(StagedoorError) {
        let (descriptor, size) = try await stagedoor.call(
          "OpenItem", delivery.identifier.description, index, type, upTo: end - .now,
          returning: OwnedFileDescriptor.self, Int64.self)
        return (descriptor, size < 0 ? nil : Int(size))
      } catch {
        if !error.saysServiceLeft { throw error }
        failure = (service, error)
      }
    }
    throw failure.error
  }

  /// The application has all of one representation.
  func wasLoaded() { delivery.state.withLock { _ = $0.unloaded.remove(index) } }

  /// Somebody can load the item by a promise from now on, or not any more.
  func isPromised(_ isPromised: Bool) { delivery.note { $0.promises += isPromised ? 1 : -1 } }

  /// The application needs nothing more of the item.
  func isFinished() {
    delivery.note { state in
      state.unloaded.remove(index)
      state.unfinished.remove(index)
    }
  }
}
