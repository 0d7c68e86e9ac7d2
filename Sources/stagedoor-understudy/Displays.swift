import CFiles
import DBus
import Glibc
import WindowEvidence

/// Connects to a display of one kind; `nil` if there is none.
typealias DisplayKind = @Sendable () -> (any Display)?

/// The displays of the environment.
enum Displays {
  /// A compositor that lists windows lists those of XWayland too.
  private static let kinds: [DisplayKind] = [{ Wayland() }, { X11() }]

  /// The display that tells most, and its kind. Connect again to this kind only: after the crash of a compositor, XWayland's socket may be there before
  /// the compositor is.
  static func first(
    on loop: EventLoop, within limit: Duration
  ) async -> sending (display: any Display, kind: DisplayKind)? {
    for kind in kinds {
      if let display = await connect(kind, on: loop, within: limit) { return (display, kind) }
    }
    return nil
  }

  /// Connects on a thread of its own: a server that takes the connection and says nothing would hold the only loop.
  static func connect(
    _ kind: @escaping DisplayKind, on loop: EventLoop, within limit: Duration
  ) async -> sending (any Display)? {
    guard let attempt = DisplayAttempt(kind) else { return nil }
    let end = loop.task { await attempt.end(on: loop) }
    let timer = loop.task {
      await loop.sleep(for: limit)
      end.cancel()
    }
    await withTaskCancellationHandler {
      await end.value
    } onCancel: {
      end.cancel()
    }
    timer.cancel()
    return attempt.display
  }
}

// The thread alone has what it finds until it closes the writing end of the pipe. From then on the loop alone has it.
private final class DisplayAttempt: @unchecked Sendable {
  private let kind: DisplayKind
  private var found: (any Display)?
  private let readEnd: OwnedFileDescriptor
  private let writeEnd: OwnedFileDescriptor

  init?(_ kind: @escaping DisplayKind) {
    guard let pipe = try? OwnedFileDescriptor.pipe() else { return nil }
    (self.kind, readEnd, writeEnd) = (kind, pipe.readEnd, pipe.writeEnd)
    if BlockingThread.start(run) != 0 { return nil }
  }

  private func run() {
    pthread_setname_np(pthread_self(), "display")
    found = kind()
    writeEnd.close()
  }

  /// Waits until the thread has finished, or the task is cancelled.
  func end(on loop: EventLoop) async { await loop.readable(readEnd.withRawValue { $0 }) }

  /// The display, if the thread has finished and has found one.
  var display: (any Display)? {
    var events = pollfd(fd: readEnd.withRawValue { $0 }, events: Int16(POLLIN), revents: 0)
    return poll(&events, 1, 0) > 0 ? found : nil
  }
}

/// The displays that an environment names.
struct NamedDisplays: Equatable {
  /// Without the number of a screen.
  private var x11: Bytes?
  /// The path of its socket.
  private var wayland: Bytes?

  init(_ variable: (String) -> Bytes?) {
    func value(_ name: String) -> Bytes? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    x11 = value("DISPLAY").map { name in
      guard let colon = name.lastIndex(of: UInt8(ascii: ":")) else { return name }
      return Bytes(name[..<(name[colon...].firstIndex(of: UInt8(ascii: ".")) ?? name.endIndex)])
    }
    wayland = value("WAYLAND_DISPLAY").map { name in
      let slash = UInt8(ascii: "/")
      return name.first == slash ? name : (value("XDG_RUNTIME_DIR") ?? []) + [slash] + name
    }
  }

  /// Whether a program with these displays may show its windows elsewhere. A program that has none, as in a session of ssh, has no other.
  func areOther(than own: NamedDisplays) -> Bool {
    let both = [(x11, own.x11), (wayland, own.wayland)].filter { $0 != nil && $1 != nil }
    if both.isEmpty { return x11 != nil || wayland != nil }
    return both.contains { $0 != $1 }
  }
}
