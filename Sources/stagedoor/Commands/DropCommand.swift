import DBus
@preconcurrency import Glibc
import SceneModel
import ServiceSupport
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
    guard let loop = invocation.loop else { return .failed }
    // A host that has read enough closes its end.
    signal(SIGPIPE, SIG_IGN)
    SignalDescriptor.hold(Endings.signals)
    let pipe = try OwnedFileDescriptor.pipe()
    let feeder = try Feeder(from: STDIN_FILENO, stream.beginning, to: pipe.writeEnd)
    let progress = Progress(of: feeder, on: loop, screen: Screen(color: nil, STDERR_FILENO))
    defer { progress.end() }
    let landed = Mutex<DeliveryIdentifier?>(nil)
    let interruption = try Interruption(on: loop) { @Sendable in
      progress.clear()
      // Half of it is worse than nothing: where no host has it yet, none gets it.
      if let delivery = landed.withLock({ $0 }) { try? await client.stagedoor.cancel(delivery) }
    }
    defer { interruption.end() }
    let delivery = try await client.stagedoor.deliver(
      reading: pipe.readEnd, as: stream.type, suggestedName: stream.name,
      activities: payload.activity.map { [Printed.json($0)] } ?? [], options: payload.streamOptions,
      deadline: invocation[.deadline].flatMap { Double($0) }, isPrivate: invocation.has(.isPrivate),
      slack: payload.slack)
    landed.withLock { $0 = delivery.identifier }
    // Ours: while it is open nobody would hear that all others have gone.
    pipe.readEnd.close()
    progress.clear()
    let status = try WindowCommands.answer(delivery, invocation)
    try Output.flush()
    await feeder.ended(on: loop)
    switch feeder.end {
    case .all, nil: return status
    case .failed(let problem): throw problem
    case .nobodyReads: break
    }
    // The application has read what it wanted; or it never had it, and the service has let go of it.
    if try await client.stagedoor.finished(delivery.identifier) == .routed {
      throw Problem.nobodyTook(delivery.identifier)
    }
    return status
  }
}

/// What is to be done before a signal ends the program.
struct Interruption {
  private let task: Task<Void, Never>

  init(on loop: EventLoop, _ body: @escaping @Sendable () async -> Void) throws(ConnectionError) {
    let signals = try SignalDescriptor(Endings.signals)
    task = loop.task { @Sendable in
      guard let number = await signals.next(on: loop) else { return }
      await body()
      // It ends as it would have without this, for the shell to see.
      signal(number, SIG_DFL)
      SignalDescriptor.release(Endings.signals)
      raise(number)
    }
  }

  func end() { task.cancel() }
}

/// Copies standard input into a pipe, on a thread of its own: neither end has to be in a hurry.
final class Feeder: Sendable {
  enum End {
    case all
    /// The other end of the pipe was closed.
    case nobodyReads
    case failed(Problem)
  }

  private let count: Atomic<Int>
  private let outcome = Mutex<End?>(nil)
  /// Readable when it is over.
  private let over: OwnedFileDescriptor
  private let ending: OwnedFileDescriptor
  /// How much there is, where that is known.
  let total: Int?

  init(from input: Int32, _ beginning: [UInt8], to output: OwnedFileDescriptor) throws {
    var status = stat()
    total = fstat(input, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    count = Atomic(0)
    (over, ending) = try OwnedFileDescriptor.pipe()
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
  /// How it ended; `nil` while it goes on.
  var end: End? { outcome.withLock { $0 } }

  func ended(on loop: EventLoop) async { await loop.readable(over.withRawValue { $0 }) }

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
      let end = copied(to: number)
      close(number)
      feeder.outcome.withLock { $0 = end }
      feeder.ending.close()
    }

    private func copied(to number: Int32) -> End {
      var chunk = beginning[...]
      do throws(Problem) {
        while write(chunk, to: number), waits(for: number) {
          guard let next = try InputFile.chunk(of: input, "standard input") else { return .all }
          chunk = next
        }
        return .nobodyReads
      } catch {
        return .failed(error)
      }
    }

    /// Waits for more input. Answers whether somebody still reads what comes: input may be silent for hours.
    private func waits(for number: Int32) -> Bool {
      var both = [pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: number, events: 0, revents: 0)]
      while poll(&both, 2, -1) < 0, errno == EINTR {}
      return both[1].revents == 0
    }

    /// Answers whether somebody still reads.
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

/// How far standard input has been handed over, on a terminal, where it takes longer than a moment.
final class Progress: Sendable {
  private let task: Task<Void, Never>
  private let line = Line()

  init(of feeder: Feeder, on loop: EventLoop, screen: Screen) {
    task = loop.task { @Sendable [line] in
      // A line that is written anew is nothing for a terminal that cannot go back.
      if !screen.isTerminal || Environment["TERM"] == "dumb" { return }
      await loop.sleep(for: .milliseconds(500))
      while !Task.isCancelled {
        fputs("\r\(Progress.line(feeder.copied, of: feeder.total, screen.width))\u{1b}[K", stderr)
        line.isShown.store(true, ordering: .relaxed)
        await loop.sleep(for: .milliseconds(100))
      }
    }
  }

  func end() {
    task.cancel()
    clear()
  }

  /// Makes room for something else on the line. It comes again below.
  func clear() {
    if line.isShown.exchange(false, ordering: .relaxed) { fputs("\r\u{1b}[K", stderr) }
  }

  /// The terminal's, while something stands there that goes away again.
  private final class Line: Sendable {
    let isShown = Atomic(false)
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
