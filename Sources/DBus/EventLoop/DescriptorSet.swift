internal import CDBus
internal import Glibc

/// The events to wait for on a descriptor.
package struct DescriptorEvents: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let readable = DescriptorEvents(rawValue: EPOLLIN.rawValue)
  package static let writable = DescriptorEvents(rawValue: EPOLLOUT.rawValue)
  package static let error = DescriptorEvents(rawValue: EPOLLERR.rawValue)
  package static let hangup = DescriptorEvents(rawValue: EPOLLHUP.rawValue)
}

/// The descriptors that a loop waits for. On the loop only.
///
/// During a turn the wanted events and those that epoll knows may differ; ``synchronize()`` makes them agree once, before the loop waits. Only
/// ``remove(_:)`` tells epoll at once, because its caller is about to close the descriptor, and another file may get the number.
final class DescriptorSet {
  private struct Entry {
    var wanted: DescriptorEvents
    /// The events that epoll waits for; `nil` if epoll does not know the descriptor.
    var told: DescriptorEvents?
    var handler: (DescriptorEvents) -> Void
  }

  private let epoll: Int32
  // As in the loop: one thread, and no access that spans a call to other code.
  @exclusivity(unchecked) private var entries: [Int32: Entry] = [:]
  @exclusivity(unchecked) private var changed: [Int32] = []
  @exclusivity(unchecked) private var ready = [epoll_event](
    repeating: epoll_event(), count: EventLoop.Turn.maximumEvents)

  init() throws(ConnectionError) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    if epoll < 0 { throw .system("epoll_create1", errno) }
  }

  func close() {
    entries.removeAll()
    Glibc.close(epoll)
  }

  func add(_ descriptor: Int32, events: DescriptorEvents, _ handler: @escaping (DescriptorEvents) -> Void) {
    entries[descriptor] = Entry(wanted: events, told: nil, handler: handler)
    changed.append(descriptor)
  }

  func setEvents(_ events: DescriptorEvents, of descriptor: Int32) {
    guard let entry = entries[descriptor], entry.wanted != events else { return }
    entries[descriptor]?.wanted = events
    changed.append(descriptor)
  }

  func remove(_ descriptor: Int32) {
    guard let entry = entries.removeValue(forKey: descriptor), entry.told != nil else { return }
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
  }

  func synchronize() {
    if changed.isEmpty { return }
    var failed: [Int32] = []
    for descriptor in changed {
      guard let entry = entries[descriptor] else { continue }
      // epoll must not know a descriptor that nobody waits for: it would report a hang-up again and again.
      let wanted = entry.wanted.isEmpty ? nil : entry.wanted
      if wanted == entry.told { continue }
      let operation = wanted == nil ? EPOLL_CTL_DEL : entry.told == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
      var event = epoll_event()
      event.events = wanted?.rawValue ?? 0
      event.data.fd = descriptor
      var isTold = epoll_ctl(epoll, operation, descriptor, &event) == 0
      // The number was closed and belongs to another file now, while epoll still knew it.
      if !isTold && errno == EEXIST { isTold = epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0 }
      if isTold { entries[descriptor]?.told = wanted } else { failed.append(descriptor) }
    }
    changed.removeAll(keepingCapacity: true)
    // Memory or watches were lacking: the next turn tries again.
    if !failed.isEmpty { changed = failed }
  }

  /// Returns whether anything happened before `timeout`, or a signal ended the wait.
  func wait(timeout: Int32) -> Bool {
    let count = epoll_wait(epoll, &ready, Int32(ready.count), timeout)
    // A wait that a signal interrupts is no quiet time.
    if count <= 0 { return count < 0 && errno == EINTR }
    for index in 0..<Int(count) {
      // A handler may remove any descriptor, so each is looked up when its turn comes.
      entries[ready[index].data.fd]?.handler(DescriptorEvents(rawValue: ready[index].events))
    }
    return true
  }
}
