import DBus
@preconcurrency import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit
import Synchronization

enum DropCommand {
  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let payload = try await PayloadArguments(invocation, client, isHandedIn: true)
    if let beginning = payload.streamed { return try await stream(payload, from: beginning, client, invocation) }
    let delivery = try await handedIn(payload, client)
    if payload.waits { try await taken(delivery, client) }
    try await answer(delivery, payload, client, invocation)
  }

  private static func handedIn(_ payload: PayloadArguments, _ client: Client) async throws -> Delivery {
    do {
      if payload.token == nil { return try await payload.deliver(to: client.stagedoor) }
      return try await client.stored { try await payload.deliver(to: $0) }
    } catch let error as StagedoorError where error.code == .activityTypeNotDeclared {
      let problem = Problem(error)
      guard let type = payload.activityType, let nearest = await UndeclaredType.nearest(to: type, client) else {
        throw problem
      }
      throw Problem(problem.status, "\(problem.sentence); \(nearest)", error: problem.error)
    }
  }

  private static func answer(
    _ delivery: Delivery, _ payload: PayloadArguments, _ client: Client, _ invocation: Invocation
  ) async throws {
    try WindowCommands.answer(delivery, invocation)
    try Output.flush()
    // The drop has succeeded, whatever becomes of this question.
    if let type = payload.typeBesideData,
      let decision = try? await client.stagedoor.delivery(delivery.identifier).decision,
      let document = try? Printed.value(decision.json)
    {
      await UndeclaredType.note(type, document, client)
    }
  }

  /// Gives the service one end of a connection, and copies standard input into the other end as long as somebody reads it.
  private static func stream(
    _ payload: PayloadArguments, from beginning: [UInt8], _ client: Client, _ invocation: Invocation
  ) async throws {
    guard let loop = invocation.loop else { throw Status.failed }
    // A host that has read enough closes its end.
    signal(SIGPIPE, SIG_IGN)
    SignalDescriptor.hold(Endings.signals)
    let stagedoor = client.stagedoor
    let (readEnd, writeEnd) = try Feeder.ends()
    let feeder = Feeder(from: STDIN_FILENO, beginning, to: writeEnd)
    let feeding = loop.task { @Sendable in try await feeder.run() }
    let progress = Progress(of: feeder, on: loop, screen: Screen(color: nil, STDERR_FILENO))
    defer { progress.end() }
    let reading = payload.reading(readEnd)
    // The service answers as soon as it has decided, because a delivery can only be cancelled by its identifier.
    let delivering = loop.task { @Sendable () async throws -> Delivery in try await reading.deliver(to: stagedoor) }
    let interruption = try Interruption(on: loop) { @Sendable in
      progress.clear()
      // Half of the data is worse than none, so the delivery is cancelled unless a host has it already.
      guard let delivery = try? await delivering.value else { return }
      do { try await stagedoor.cancel(delivery.identifier) } catch {
        Output.note(
          "stagedoor drop: interrupted; an application has the delivery \(delivery.identifier), with the first \(feeder.copied) bytes at most"
        )
      }
    }
    let ending = await loop.task { @Sendable () async throws -> Void in
      try await handedOver(try await delivering.value, readEnd, feeder, feeding, progress, payload, client, invocation)
    }.result
    await interruption.end()
    try ending.get()
  }

  /// Waits as the options ask, prints the answer, and waits until somebody has read all of the data.
  private static func handedOver(
    _ delivery: Delivery, _ readEnd: OwnedFileDescriptor, _ feeder: Feeder, _ feeding: Task<Feeder.End, any Error>,
    _ progress: Progress, _ payload: PayloadArguments, _ client: Client, _ invocation: Invocation
  ) async throws {
    let connection = client.stagedoor.connection
    let service = try await connection.owner(of: Client.service)
    // While our copy is open, nobody notices that all others are closed.
    readEnd.close()
    if payload.waits { try await taken(delivery, client) }
    progress.clear()
    try await answer(delivery, payload, client, invocation)
    switch try await feeding.value {
    case .all: break
    case .failed(let problem):
      try? await client.stagedoor.cancel(delivery.identifier)
      throw problem
    // Either the application has read enough, or the service has closed the socket without handing it over.
    case .nobodyReads:
      // When a service is killed, this socket may be closed before its connection to the bus. After a question the bus knows.
      let state = try? await client.stagedoor.delivery(delivery.identifier).state
      let isSame = try await connection.owner(of: Client.service) == service && service != nil
      if !isSame, state == nil || state == .held {
        _ = try? await client.stagedoor.cancel(delivery.identifier)
        throw Problem.failed(
          "the service has left before anybody read standard input, which is lost with it: hand it in again")
      }
      try await taken(delivery, client)
      if !isSame {
        throw Problem.failed(
          "the service has restarted, and the application has read the first \(feeder.copied) bytes of standard input at most"
        )
      }
    }
  }

  /// Waits for the application to take the delivery. The service may restart meanwhile: it answered when it had stored the delivery.
  private static func taken(_ delivery: Delivery, _ client: Client) async throws {
    do {
      if try await client.stagedoor.finished(delivery.identifier, outlivesService: true) == .routed {
        throw Problem.nobodyTook(delivery.identifier)
      }
    } catch let error as StagedoorError where Status(error.code) == .noService {
      let problem = Problem(error)
      throw Problem(
        problem.status, "\(problem.sentence); `stagedoor wait \(delivery.identifier)` waits on", error: problem.error)
    }
  }
}

/// An activity type that no application declares, beside data: the data alone decides then, and a mistyped type goes unnoticed.
enum UndeclaredType {
  static func note(_ type: String, _ decision: Value, _ client: Client) async {
    guard decision["routingActivity"] == nil, decision["contentType"] != nil else { return }
    let advice = await nearest(to: type, client) ?? "`stagedoor show APP` lists the types of an application"
    Output.note("stagedoor: no application declares \"\(type)\", so only the data decided; \(advice)")
  }

  /// "did you mean …"; `nil` if no declared type is near.
  static func nearest(to type: String, _ client: Client) async -> String? {
    var declared: [String] = []
    for application in (try? await client.stagedoor.applications()) ?? [] {
      declared += (try? await client.stagedoor.application(application.identifier).activityTypes) ?? []
    }
    return Suggestion.sentence(for: type, among: declared)
  }
}

/// Work that a signal causes before it ends the program. A second signal ends the program at once.
struct Interruption {
  private let task: Task<Void, Never>
  private let hasBegun = Lock(false)

  init(on loop: EventLoop, _ body: @escaping @Sendable () async -> Void) throws(ConnectionError) {
    let signals = try SignalDescriptor(Endings.signals)
    task = loop.task { @Sendable [hasBegun] in
      guard let number = await signals.next(on: loop) else { return }
      hasBegun.withLock { $0 = true }
      SignalDescriptor.release(Endings.signals)
      await body()
      // The program ends by the signal, as the shell expects.
      raise(number)
    }
  }

  /// Stops listening for signals. If one has arrived, this never returns: the process ends by that signal.
  func end() async {
    if hasBegun.withLock(\.self) { await task.value } else { task.cancel() }
  }
}

/// Copies standard input into a socket. Either end may be slow, so the copying has a thread of its own.
final class Feeder: Sendable {
  enum End: Sendable {
    /// The other end has read everything.
    case all
    /// The other end was closed.
    case nobodyReads
    case failed(Problem)
  }

  private let count = Atomic(0)
  private let input: Int32
  private let beginning: [UInt8]
  private let output: OwnedFileDescriptor
  /// The size of the input, if it is known.
  let total: Int?

  init(from input: Int32, _ beginning: [UInt8], to output: OwnedFileDescriptor) {
    (self.input, self.beginning, self.output) = (input, beginning, output)
    var status = stat()
    total = fstat(input, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }

  /// Two ends of a connection. The end that writes has an unread byte until all is written: if it is closed before, because this process was killed,
  /// the reader gets an error, and does not take a part for the whole.
  static func ends() throws -> (readEnd: OwnedFileDescriptor, writeEnd: OwnedFileDescriptor) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Problem.failed("a socket: \(InputFile.reason)") }
    let (readEnd, writeEnd) = (OwnedFileDescriptor(owning: ends[0]), OwnedFileDescriptor(owning: ends[1]))
    guard Glibc.write(ends[0], "!", 1) == 1 else { throw Problem.failed("a socket: \(InputFile.reason)") }
    return (readEnd, writeEnd)
  }

  var copied: Int { count.load(ordering: .relaxed) }

  func run() async throws -> End {
    let thread = try EventLoop(name: "feeder")
    let end = await thread.run { [self] _ in
      let number = output.release()
      defer { close(number) }
      return copied(to: number)
    }
    await thread.stop()
    return end
  }

  private func copied(to number: Int32) -> End {
    var chunk = beginning[...]
    do throws(Problem) {
      while write(chunk, to: number), waits(for: number) {
        guard let next = try InputFile.chunk(of: input, "standard input") else {
          var mark: UInt8 = 0
          Glibc.read(number, &mark, 1)
          return isRead(number) ? .all : .nobodyReads
        }
        chunk = next
      }
      return .nobodyReads
    } catch {
      return .failed(error)
    }
  }

  /// Waits for more input, which may take hours. Returns whether somebody still reads the other end.
  private func waits(for number: Int32) -> Bool {
    var both = [pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: number, events: 0, revents: 0)]
    while poll(&both, 2, -1) < 0, errno == EINTR {}
    return both[1].revents == 0
  }

  /// Waits until all is read, or the other end is closed, and returns whether somebody has read it. A socket reports when it has space, and not when it
  /// is empty. If the other end is closed before all is read, nothing is left either, but there is an error.
  private func isRead(_ number: Int32) -> Bool {
    var left: Int32 = 0
    var end = pollfd(fd: number, events: 0, revents: 0)
    while poll(&end, 1, 0) == 0, ioctl(number, UInt(TIOCOUTQ), &left) == 0, left > 0 { poll(&end, 1, 20) }
    poll(&end, 1, 0)
    return Int32(end.revents) & POLLERR == 0
  }

  /// Returns whether somebody still reads.
  private func write(_ bytes: ArraySlice<UInt8>, to number: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
      if written < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = rest.dropFirst(written)
      count.add(written, ordering: .relaxed)
    }
    return true
  }
}

/// Shows on a terminal how much of standard input has been handed over, if this takes longer than a moment.
final class Progress: Sendable {
  private let task: Task<Void, Never>
  /// Whether the terminal shows the progress at present.
  private let isShown = Lock(false)

  init(of feeder: Feeder, on loop: EventLoop, screen: Screen) {
    task = loop.task { @Sendable [isShown] in
      // Some terminals cannot write a line again.
      if !screen.isTerminal || Environment["TERM"] == "dumb" { return }
      await loop.sleep(for: .milliseconds(500))
      while !Task.isCancelled {
        fputs("\r\(Progress.line(feeder.copied, of: feeder.total, screen.width))\u{1b}[K", stderr)
        isShown.withLock { $0 = true }
        await loop.sleep(for: .milliseconds(100))
      }
    }
  }

  func end() {
    task.cancel()
    clear()
  }

  /// Clears the line for another text. The progress appears again below that text.
  func clear() {
    let wasShown = isShown.withLock { isShown in
      defer { isShown = false }
      return isShown
    }
    if wasShown { fputs("\r\u{1b}[K", stderr) }
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
