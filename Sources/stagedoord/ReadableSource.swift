import DBus
import Dispatch

/// Waits until a descriptor can be read. In between nothing wakes. It lasts as long as the process.
final class ReadableSource: Sendable {
  // Dispatch's sources may be used from any thread; the Swift overlay does not say so.
  nonisolated(unsafe) private let source: any DispatchSourceRead
  private let waiter = Lock<CheckedContinuation<Void, Never>?>(nil)

  init(_ descriptor: Int32) {
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
    source.setEventHandler { self.becameReadable() }
  }

  /// One waits at a time.
  func wait() async {
    await withCheckedContinuation { continuation in
      waiter.withLock { $0 = continuation }
      // The first time this is what activates it.
      source.resume()
    }
  }

  private func becameReadable() {
    // Whoever waited reads when it likes, and the source would tell all that time.
    source.suspend()
    let waiting = waiter.withLock { waiter in
      defer { waiter = nil }
      return waiter
    }
    waiting?.resume()
  }
}
