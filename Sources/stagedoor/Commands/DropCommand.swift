import DBus
@preconcurrency import Glibc
import SceneModel
import StagedoorKit
import Synchronization

enum DropCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let payload = try await PayloadArguments(invocation, client, readsInput: true)
    if let plain = payload.plain {
      let delivery = try await client.stagedoor.drop(plain.type, plain.target, userInfo: plain.info)
      return try WindowCommands.answer(delivery, invocation)
    }
    guard let stream = payload.stream else {
      let delivery = try await client.stagedoor.deliver(
        document: Printed.json(payload.document), slack: payload.slack)
      return try WindowCommands.answer(delivery, invocation)
    }
    return try await hand(stream, of: payload, client, invocation)
  }

  /// The service is given one end of a pipe, and standard input goes into the other for as long as somebody reads it.
  private static func hand(
    _ stream: PayloadArguments.Stream, of payload: PayloadArguments, _ client: Client, _ invocation: Invocation
  ) async throws -> Status {
    // A host that has read enough closes its end.
    signal(SIGPIPE, SIG_IGN)
    let pipe = try OwnedFileDescriptor.pipe()
    let feeder = try Feeder(from: STDIN_FILENO, stream.beginning, to: pipe.writeEnd)
    let progress = invocation.loop.map { Progress(of: feeder, on: $0, screen: Screen(color: nil, STDERR_FILENO)) }
    let delivery = try await client.stagedoor.deliver(
      reading: pipe.readEnd, as: stream.type, suggestedName: stream.name,
      activities: payload.activity.map { [Printed.json($0)] } ?? [], options: payload.streamOptions,
      deadline: invocation[.deadline].flatMap { Double($0) }, isPrivate: invocation.has(.isPrivate),
      slack: payload.slack)
    // Ours: while it is open nobody would hear that all others have gone.
    pipe.readEnd.close()
    let status = try WindowCommands.answer(delivery, invocation)
    try Output.flush()
    await feeder.ended(on: invocation.loop)
    progress?.end()
    return status
  }
}

/// Copies standard input into a pipe, on a thread of its own: neither end has to be in a hurry.
final class Feeder: Sendable {
  private let count: Atomic<Int>
  private let isOver = Atomic(false)
  /// Readable when all has been copied.
  private let end: OwnedFileDescriptor
  private let ending: OwnedFileDescriptor
  /// How much there is, where that is known.
  let total: Int?

  init(from input: Int32, _ beginning: [UInt8], to output: OwnedFileDescriptor) throws {
    var status = stat()
    total = fstat(input, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    count = Atomic(0)
    (end, ending) = try OwnedFileDescriptor.pipe()
    let work = Unmanaged.passRetained(Work(feeder: self, input: input, beginning: beginning, output: output))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run() }
        return nil
      }, work.toOpaque())
    if code != 0 {
      work.release()
      throw Problem.failed("standard input cannot be read: \(String(cString: strerror(code)))")
    }
    pthread_detach(thread)
  }

  var copied: Int { count.load(ordering: .relaxed) }

  func ended(on loop: EventLoop?) async {
    await end.withRawValue { $0 }.readable(on: loop)
  }

  private final class Work {
    let feeder: Feeder
    let input: Int32
    let beginning: [UInt8]
    let output: OwnedFileDescriptor

    init(feeder: Feeder, input: Int32, beginning: [UInt8], output: OwnedFileDescriptor) {
      (self.feeder, self.input, self.beginning, self.output) = (feeder, input, beginning, output)
    }

    func run() {
      let number = output.release()
      if write(beginning[...], to: number) {
        while let chunk = try? InputFile.chunk(of: input, "standard input"), write(chunk, to: number) {}
      }
      close(number)
      feeder.ending.close()
    }

    /// Whether somebody still reads.
    private func write(_ bytes: ArraySlice<UInt8>, to number: Int32) -> Bool {
      var rest = bytes
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
        if written < 0 {
          if errno == EINTR { continue }
          return false
        }
        rest = rest.dropFirst(written)
        feeder.count.add(written, ordering: .relaxed)
      }
      return true
    }
  }
}

extension Int32 {
  fileprivate func readable(on loop: EventLoop?) async { await loop?.readable(self) }
}

/// How far standard input has been handed over, on a terminal, where it takes longer than a moment.
final class Progress {
  private let task: Task<Void, Never>
  private let screen: Screen

  init(of feeder: Feeder, on loop: EventLoop, screen: Screen) {
    self.screen = screen
    task = loop.task { @Sendable in
      if !screen.isTerminal { return }
      await loop.sleep(for: .milliseconds(500))
      while !Task.isCancelled {
        fputs("\r\(Progress.line(feeder.copied, of: feeder.total, screen.width))\u{1b}[K", stderr)
        await loop.sleep(for: .milliseconds(100))
      }
    }
  }

  func end() {
    task.cancel()
    if screen.isTerminal { fputs("\r\u{1b}[K", stderr) }
  }

  static func line(_ copied: Int, of total: Int?, _ width: Int) -> String {
    guard let total, total > 0 else { return size(copied) }
    let share = min(Double(copied) / Double(total), 1)
    let text = " \(Int(share * 100)) %  \(size(copied)) of \(size(total))"
    let room = max(0, min(40, width - text.columns - 3))
    let filled = Int(share * Double(room))
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled) + "]" + text
  }

  private static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<(10 << 10): "\(bytes) bytes"
    case ..<(10 << 20): "\(bytes >> 10) KiB"
    default: "\(bytes >> 20) MiB"
    }
  }
}
