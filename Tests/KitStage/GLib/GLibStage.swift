import Glibc
import KitStage
import StagedoorKit

/// Under GLib's main loop. The program looks up GLib's functions, so that nobody needs its headers to build the tests.
@main enum GLibStage {
  typealias NewLoop = @convention(c) (OpaquePointer?, Int32) -> OpaquePointer?
  typealias RunLoop = @convention(c) (OpaquePointer?) -> Void
  typealias Watch = @convention(c) (Int32, UInt32, UnsafeMutableRawPointer?) -> Int32
  typealias AddWatch = @convention(c) (Int32, UInt32, Watch, UnsafeMutableRawPointer?) -> UInt32

  /// The callbacks are main-actor code, as in a program whose callbacks do something.
  @MainActor static func main() {
    guard let glib = dlopen("libglib-2.0.so.0", RTLD_NOW) else { fatalError("there is no GLib") }
    func function<Function>(_ name: String, _ type: Function.Type) -> Function {
      guard let symbol = dlsym(glib, name) else { fatalError("GLib has no \(name)") }
      return unsafeBitCast(symbol, to: type)
    }
    let readable: UInt32 = 1
    _ = function("g_unix_fd_add", AddWatch.self)(
      MainQueue.descriptor, readable,
      { _, _, _ in
        MainQueue.drain()
        return 1
      }, nil)
    Task { @MainActor in try await Stage().run() }
    function("g_main_loop_run", RunLoop.self)(function("g_main_loop_new", NewLoop.self)(nil, 0))
  }
}
