internal import CMainQueue
internal import Glibc

/// The main queue, on which the main actor runs, for those whose main thread runs a loop of its own.
///
/// A program with an `async` main needs none of this; its main actor has no thread of its own, since libdispatch ends the main thread and
/// lends its main queue others. Toolkits want one thread: under GLib's loop, which GTK runs, let the loop watch the descriptor; nothing is polled:
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
public enum MainQueue {
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
