internal import CMainQueue
internal import Glibc

/// The main queue, on which the main actor runs, for those whose main thread runs a loop of its own.
///
/// A program without a loop has ``run(_:)``. Under GLib's loop, which GTK runs, let the loop watch the descriptor; nothing is polled:
///
/// ```swift
/// // typealias GUnixFDSourceFunc = @convention(c) (Int32, UInt32, UnsafeMutableRawPointer?) -> Int32
/// let whenReadable: @convention(c) (Int32, UInt32, UnsafeMutableRawPointer?) -> Int32 = { _, _, _ in
///   MainQueue.drain()
///   return 1
/// }
/// // g_unix_fd_add(MainQueue.descriptor, G_IO_IN, whenReadable, nil)
/// print(MainQueue.descriptor, whenReadable)
/// ```
///
/// A program with an `async` main works as well. Its main actor has no thread of its own then: libdispatch ends the main thread, lends its main
/// queue others, and looks after those once a second for as long as the process lasts.
public enum MainQueue {
  /// Runs `body`, and ends the process with it. The main actor is on this thread, the process's first, and no other is used for it.
  ///
  /// ```swift
  /// @main enum Main {
  ///   static func main() { MainQueue.run { try await Application("org.example.Cats").run() } }
  /// }
  /// ```
  ///
  /// What `body` throws goes to the standard error, and the process has failed.
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

  /// Can be read when there is something to do. It belongs to libdispatch; ask for it on the main thread.
  public static var descriptor: Int32 { _dispatch_get_main_queue_handle_4CF() }

  /// Does what there is to do. On the main thread only, and not from within itself.
  public static func drain() {
    // It counts how often it was woken, and is readable until that is read.
    var count: UInt64 = 0
    read(descriptor, &count, MemoryLayout<UInt64>.size)
    _dispatch_main_queue_callback_4CF(nil)
  }
}
