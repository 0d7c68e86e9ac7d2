internal import CMainQueue
@preconcurrency internal import Glibc

/// The main queue, on which the main actor runs, for programs whose main thread runs a loop of its own.
///
/// A program without a loop uses ``run(_:)``. Under GLib's loop, which GTK runs, let the loop watch the descriptor. Nothing polls:
///
/// ```swift
/// let whenReadable: @convention(c) (Int32, UInt32, UnsafeMutableRawPointer?) -> Int32 = { _, _, _ in
///   MainQueue.drain()
///   return 1
/// }
/// // g_unix_fd_add(MainQueue.descriptor, G_IO_IN, whenReadable, nil)
/// print(MainQueue.descriptor, whenReadable)
/// ```
///
/// A program with an `async` main works as well. Its main actor has no thread of its own then: libdispatch ends the main thread, runs the
/// main queue on threads of its pool, and checks the pool once a second until the process ends.
public enum MainQueue {
  /// Runs `body`, and ends the process when `body` ends. The main actor runs on this thread, which must be the first of the process, and on no other.
  ///
  /// An error of `body` is written to standard error, and the process fails.
  public static func run(_ body: @escaping @MainActor () async throws -> Void) -> Never {
    let descriptor = descriptor
    Task { @MainActor in
      do { try await body() } catch {
        StandardError.write("\(error)")
        exit(EXIT_FAILURE)
      }
      exit(EXIT_SUCCESS)
    }
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, -1) > 0 { drain() }
    }
  }

  /// Readable when the queue has work. The descriptor belongs to libdispatch; read this property on the main thread.
  public static var descriptor: Int32 { _dispatch_get_main_queue_handle_4CF() }

  /// Runs the waiting work. Call this on the main thread only, and not from the work itself.
  public static func drain() {
    // The descriptor counts wake-ups, and stays readable until the count is read.
    var count: UInt64 = 0
    read(descriptor, &count, MemoryLayout<UInt64>.size)
    _dispatch_main_queue_callback_4CF(nil)
  }
}

/// The standard error of the program, for messages.
enum StandardError {
  static func write(_ line: String) { fputs("\(line)\n", stderr) }
}
