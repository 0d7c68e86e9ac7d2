internal import CDBus
internal import Glibc

/// Which loop the calling thread runs, if any.
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

/// What a loop's thread is given as it starts; it keeps the loop alive until it ends.
final class LoopThread {
  let loop: EventLoop
  let name: String

  /// The kernel takes 15 bytes, and none of a longer name.
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
