internal import CDBus
internal import Glibc

/// Connects libdbus's watches, of a connection or a listening server, to an event loop. On the loop only.
///
/// libdbus has one watch for reading and another for writing, both of the same descriptor, and switches them on and off as it likes. epoll knows a
/// descriptor only once, so this type combines the watches.
final class LoopDriver {
  let loop: EventLoop
  @exclusivity(unchecked) private var watches: [Int32: [OpaquePointer]] = [:]
  var afterEvents: (() -> Void)?
  /// Called each time that libdbus has read something, so that messages are taken before more is read: a message may have file descriptors, which are
  /// few. If this is set, the driver reads the socket until it is empty. Returns whether the socket is surely empty.
  var afterReading: (() -> Bool)?

  /// libdbus reads two to four KiB at a time. This many reads are done in one go, and then others on the loop come next.
  private static let maximumReads = 128

  /// Whether somebody waits for space although libdbus has nothing to write.
  private var waitsForSpace = false

  init(loop: EventLoop) { self.loop = loop }

  /// libdbus keeps this pointer as `data`. The owner of the driver keeps the driver alive until libdbus has returned the functions.
  var opaque: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func from(_ data: UnsafeMutableRawPointer?) -> LoopDriver? {
    data.map { Unmanaged<LoopDriver>.fromOpaque($0).takeUnretainedValue() }
  }

  func pause(for duration: Duration) {
    for descriptor in watches.keys { loop.descriptors.setEvents([], of: descriptor) }
    _ = loop.timers.schedule(at: duration.deadline) { [weak self] in
      guard let self else { return }
      for descriptor in watches.keys { update(descriptor) }
    }
  }

  /// Forgets everything, if libdbus does not do so itself.
  func close() {
    for descriptor in watches.keys { loop.descriptors.remove(descriptor) }
    watches.removeAll()
    (afterEvents, afterReading) = (nil, nil)
  }
}

// MARK: - Watches

extension LoopDriver {
  static let addWatch: DBusAddWatchFunction = { watch, data in
    guard let watch, let driver = LoopDriver.from(data) else { return 0 }
    driver.add(watch)
    return 1
  }

  static let removeWatch: DBusRemoveWatchFunction = { watch, data in
    guard let watch, let driver = LoopDriver.from(data) else { return }
    driver.remove(watch)
  }

  static let toggleWatch: DBusWatchToggledFunction = { watch, data in
    guard let watch, let driver = LoopDriver.from(data) else { return }
    driver.update(dbus_watch_get_unix_fd(watch))
  }

  private func add(_ watch: OpaquePointer) {
    let descriptor = dbus_watch_get_unix_fd(watch)
    let isFirst = watches[descriptor] == nil
    watches[descriptor, default: []].append(watch)
    if isFirst {
      loop.descriptors.add(descriptor, events: []) { [unowned self] events in
        handle(events, of: descriptor)
      }
    }
    update(descriptor)
  }

  private func remove(_ watch: OpaquePointer) {
    let descriptor = dbus_watch_get_unix_fd(watch)
    watches[descriptor]?.removeAll { $0 == watch }
    if watches[descriptor]?.isEmpty == true {
      watches[descriptor] = nil
      loop.descriptors.remove(descriptor)
    } else {
      update(descriptor)
    }
  }

  private func update(_ descriptor: Int32) {
    var wanted: DescriptorEvents = []
    for watch in watches[descriptor] ?? [] where dbus_watch_get_enabled(watch) != 0 {
      let flags = dbus_watch_get_flags(watch)
      if flags & DBUS_WATCH_READABLE.rawValue != 0 { wanted.insert(.readable) }
      if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { wanted.insert(.writable) }
    }
    if waitsForSpace { wanted.insert(.writable) }
    loop.descriptors.setEvents(wanted, of: descriptor)
  }

  /// The loop wakes when there is space.
  func waitForSpace(in descriptor: Int32) {
    if waitsForSpace { return }
    waitsForSpace = true
    update(descriptor)
  }

  private func handle(_ events: DescriptorEvents, of descriptor: Int32) {
    var flags: UInt32 = 0
    if events.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
    if events.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
    if events.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
    if events.contains(.hangup) { flags |= DBUS_WATCH_HANGUP.rawValue }
    let trouble = DBUS_WATCH_ERROR.rawValue | DBUS_WATCH_HANGUP.rawValue
    if waitsForSpace, events.contains(.writable) {
      waitsForSpace = false
      update(descriptor)
    }
    // The end of the connection may be read here, and then nobody else holds the driver.
    withExtendedLifetime(self) {
      // Handling one watch may remove and free the next: libdbus hangs up from inside a read.
      for watch in watches[descriptor] ?? [] where isEnabled(watch, of: descriptor) {
        let fitting = flags & (dbus_watch_get_flags(watch) | trouble)
        if fitting == 0 { continue }
        let hasMemory = dbus_watch_handle(watch, fitting) != 0
        if fitting & DBUS_WATCH_READABLE.rawValue != 0, let afterReading {
          if !afterReading(), hasMemory { readOn(watch, of: descriptor) }
        }
      }
      afterEvents?()
    }
  }

  /// Reads what has come meanwhile.
  func readMore() {
    for (descriptor, watches) in watches {
      for watch in watches where isEnabled(watch, of: descriptor) {
        if dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE.rawValue != 0 {
          readOn(watch, of: descriptor)
        }
      }
    }
  }

  private func readOn(_ watch: OpaquePointer, of descriptor: Int32) {
    var left = Self.maximumReads
    while left > 0 {
      // The number of waiting bytes is asked once, and not before each read.
      let some = min(left, Self.reads(in: descriptor))
      if some == 0 { return }
      left -= some
      for _ in 0..<some {
        guard let afterReading, isEnabled(watch, of: descriptor) else { return }
        let hasMemory = dbus_watch_handle(watch, DBUS_WATCH_READABLE.rawValue) != 0
        if afterReading() || !hasMemory { return }
      }
    }
  }

  /// The number of reads for the waiting bytes, or one less; 0 if none wait. The loop's next turn finds the end of the stream.
  private static func reads(in descriptor: Int32) -> Int {
    var bytes: Int32 = 0
    if ioctl(descriptor, UInt(FIONREAD), &bytes) != 0 { return isReadable(descriptor) ? 1 : 0 }
    return bytes > 0 ? max(1, Int(bytes) / 4096) : 0
  }

  private func isEnabled(_ watch: OpaquePointer, of descriptor: Int32) -> Bool {
    watches[descriptor]?.contains(watch) == true && dbus_watch_get_enabled(watch) != 0
  }

  static func isReadable(_ descriptor: Int32) -> Bool { isReady(descriptor, Int16(POLLIN)) }

  /// For a Unix socket the kernel reports this while at most a quarter of its buffer is in use.
  static func isWritable(_ descriptor: Int32) -> Bool { isReady(descriptor, Int16(POLLOUT)) }

  private static func isReady(_ descriptor: Int32, _ event: Int16) -> Bool {
    var wanted = pollfd(fd: descriptor, events: event, revents: 0)
    return poll(&wanted, 1, 0) > 0 && wanted.revents & event != 0
  }
}
