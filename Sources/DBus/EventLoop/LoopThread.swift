internal import CDBus
internal import Glibc

/// The loop that the calling thread runs, if any.
enum CurrentLoop {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no thread-specific key is left")
    return key
  }()

  static var pointer: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    set { pthread_setspecific(key, newValue) }
  }
}

/// The arguments of a loop's thread. They keep the loop alive until the thread ends.
final class LoopThread {
  let loop: EventLoop
  let name: String

  /// The kernel takes names of up to 15 bytes, and refuses longer ones.
  var shownName: String {
    var shown = name
    while shown.utf8.count > 15 { shown.removeLast() }
    return shown
  }

  init(loop: EventLoop, name: String) {
    self.loop = loop
    self.name = name
  }

  static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let pointer else { return nil }
    let context = Unmanaged<LoopThread>.fromOpaque(pointer).takeRetainedValue()
    pthread_setname_np(pthread_self(), context.shownName)
    CurrentLoop.pointer = Unmanaged.passUnretained(context.loop).toOpaque()
    context.loop.runUntilStopped()
    return nil
  }
}
