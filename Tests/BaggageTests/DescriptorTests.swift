import Baggage
import DBus
import DBusTestSupport
import Glibc
import SceneModel
import Testing

/// Descriptors that somebody handed in.
@Suite struct DescriptorTests {
  private let stores = BaggageStores()
  private var store: BaggageStore { stores.first }

  @Test(arguments: [O_RDONLY, O_RDWR])
  func `a file is opened as often as anyone wants, from its beginning and for reading alone`(mode: Int32) async throws {
    let path = stores.directory.write(pattern(100))
    let file = try opened(path, mode)
    // The host also reads what the sender has read already.
    #expect(file.withRawValue { lseek($0, 50, SEEK_SET) } == 50)
    #expect(try await store.keep(file) == 100)
    unlink(path)
    for _ in 0..<3 {
      let (descriptor, size) = try await store.open()
      #expect(size == 100 && descriptor.bytes() == pattern(100))
      #expect(descriptor.accessMode == O_RDONLY)
      #expect(descriptor.withRawValue { fcntl($0, F_GETFL) } & O_NONBLOCK == 0)
    }
    await store.free([delivery])
    #expect(!file.isOpen)
  }

  @Test func `a memory file is a file`() async throws {
    #expect(try await store.keep(try BaggageStore.memoryFile(pattern(10))) == 10)
    #expect(try await store.open().0.bytes() == pattern(10))
    #expect(try await store.open().0.bytes() == pattern(10))
  }

  @Test func `a pipe and a socket are handed out once, as they are`() async throws {
    let (socket, peer) = try socketPair()
    #expect(peer.withRawValue { write($0, "said", 4) } == 4)
    peer.close()
    let pipe = try pipe("piped")
    #expect(try await store.keep(pipe.readEnd) == nil)
    #expect(try await store.keep(socket, as: 1) == nil)
    for (number, text) in [(0, "piped"), (1, "said")] {
      let (descriptor, size) = try await store.open(number)
      #expect(size == nil && descriptor.text == text)
      let error = await refusal(of: try await store.open(number))
      #expect(error?.name == .sourceGone)
      #expect(error?.message.contains("can be read once") ?? false)
      // The descriptor belongs to the receiver, whatever happens to the delivery.
      #expect(descriptor.isOpen)
    }
    await store.free([delivery])
    #expect(pipe.readEnd.isOpen)
  }

  @Test func `of several that open a pipe at once one has it, and the others are told so`() async throws {
    for _ in 0..<20 {
      let pipe = try pipe("once")
      #expect(try await store.keep(pipe.readEnd) == nil)
      let openings = (0..<4).map { _ in Task { () throws -> String in try await store.open().0.text } }
      var answers: [String] = []
      for opening in openings {
        do { answers.append(try await opening.value) } catch let error as InterchangeError {
          #expect(error.name == .sourceGone)
        }
      }
      #expect(answers == ["once"])
      await store.free([delivery])
    }
  }

  @Test func `a pipe that nobody got can be opened again`() async throws {
    _ = try await store.keep(try pipe("piped").readEnd)
    let (first, _) = try await store.open()
    await store.putBack(first, 0, of: delivery)
    let (second, _) = try await store.open()
    #expect(second.text == "piped")
    await store.free([delivery])
    // The delivery to which it belonged is gone.
    await store.putBack(second, 0, of: delivery)
    #expect(await refusal(of: try await store.open())?.name == .sourceGone)
  }

  @Test func `what cannot be read, and what is no content, is refused with what it is`() async throws {
    let path = stores.directory.write([1])
    let oPath: Int32 = 0o10000000
    let closed = try opened(path)
    closed.close()
    var cases: [(OwnedFileDescriptor, String)] = [
      (try opened(stores.directory.path), "is a directory"), (try opened("/dev/null"), "is a device"),
      (try opened(path, O_WRONLY), "is not open for reading"), (try opened(path, oPath), "is not open for reading"),
      (try pipe(isEnded: false).writeEnd, "is not open for reading"),
      (closed, "is no open descriptor"),
    ]
    // A person may have few of these at the same time, and the services of other tests have them too.
    let notices = inotify_init1(Int32(IN_CLOEXEC))
    if notices >= 0 { cases.append((OwnedFileDescriptor(owning: notices), "is of an unsupported kind")) }
    for (descriptor, reason) in cases {
      let error = await refusal(of: try await store.keep(descriptor))
      #expect(error?.name == .invalidPayload)
      #expect(error?.message.hasPrefix("\(place): \(reason)") ?? false, "\(error?.message ?? "")")
      #expect(await refusal(of: try await store.copy(descriptor)) == error)
    }
  }

  @Test func `what is not there, or was there before a restart, is gone`() async throws {
    var store = stores.store()
    _ = try await store.keep(try pipe("piped").readEnd)
    await store.close()
    store = stores.store()
    for number in [0, 7] {
      #expect(await refusal(of: try await store.open(number))?.name == .sourceGone)
    }
  }

  @Test(arguments: [false, true])
  func `so many descriptors are held and no more, until some are freed`(isInMemory: Bool) async throws {
    let store = isInMemory ? stores.inMemory() : stores.store()
    func fill(_ number: Int) async throws(InterchangeError) {
      let owner = number == 0 ? other : delivery
      if isInMemory { return try await store.keep([1], as: number, of: owner) }
      guard let pipe = try? pipe() else { return }
      _ = try await store.keep(pipe.readEnd, as: number, of: owner)
    }
    for number in 0..<BaggageLimits.descriptors { try await fill(number) }
    let error = await refusal(of: try await fill(1000))
    #expect(error?.name == .limitsExceeded)
    #expect(error?.message.contains("\(BaggageLimits.descriptors) descriptors") ?? false)
    await store.free([other])
    try await fill(1000)
    #expect(await refusal(of: try await fill(1001))?.name == .limitsExceeded)
  }

  // MARK: Copies

  @Test func `a pipe is copied to its end, however slowly it comes, and others are served meanwhile`() async throws {
    let pipe = try pipe("begun, ", isEnded: false)
    async let size = store.copy(pipe.readEnd)
    try await eventually("the copy has begun") { stores.spooled().contains { $0.hasPrefix("unfinished") } }
    try await store.keep([1, 2, 3], of: other)
    #expect(try await store.open(of: other).0.bytes() == [1, 2, 3])
    #expect(await refusal(of: try await store.open())?.name == .sourceGone)
    #expect(pipe.writeEnd.withRawValue { write($0, "ended", 5) } == 5)
    pipe.writeEnd.close()
    #expect(try await size == 12)
    #expect(try await store.open().0.text == "begun, ended")
    #expect(stores.spooled() == ["0"])
  }

  @Test func `a file is copied from its beginning, and a pipe of many megabytes whole`() async throws {
    let file = try opened(stores.directory.write(pattern(3_000_000)))
    #expect(file.withRawValue { lseek($0, 1000, SEEK_SET) } == 1000)
    #expect(try await store.copy(file) == 3_000_000)
    #expect(try await store.open().0.bytes() == pattern(3_000_000))
    let pipe = try pipe(isEnded: false)
    let bytes = pattern(10_000_000)
    async let size = store.copy(pipe.readEnd, as: 1)
    let writer = try EventLoop(name: "writer")
    writer.execute {
      var rest = bytes[...]
      while case let count = pipe.writeEnd.withRawValue({ number in
        rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
      }), count > 0 { rest = rest.dropFirst(count) }
      pipe.writeEnd.close()
    }
    #expect(try await size == 10_000_000)
    #expect(try await store.open(1).0.bytes() == bytes)
    await writer.stop()
  }

  @Test func `a pipe with as much as the limit is copied, and one byte more is refused`() async throws {
    #expect(try await store.copy(try pipe("12345").readEnd, atMost: 5) == 5)
    let long = try pipe("123456")
    #expect(await refusal(of: try await store.copy(long.readEnd, as: 1, atMost: 5))?.name == .limitsExceeded)
    #expect(stores.spooled() == ["0"])
  }

  @Test func `a source that falls silent for long is waited for no more, and leaves nothing`() async throws {
    let store = stores.store(silence: silence)
    let pipe = try pipe("half", isEnded: false)
    let begin = ContinuousClock.now
    let error = await refusal(of: try await store.copy(pipe.readEnd))
    #expect(error?.name == .sourceGone, "\(error as Any)")
    #expect(error?.message.contains("after 4 bytes") ?? false, "\(error as Any)")
    #expect(ContinuousClock.now - begin >= silence)
    #expect(stores.spooled() == [])
  }

  @Test func `a source that somebody else reads from as well stops nobody`() async throws {
    let pipe = try pipe(isEnded: false)
    async let size = store.copy(pipe.readEnd)
    // This closes the pipe before the copy is awaited, even if the test fails: a store that waits in a read continues.
    defer { pipe.writeEnd.close() }
    try await eventually("the copy has begun") { stores.spooled().count == 1 }
    // The sender makes reads block, and takes away the bytes that were announced to the store.
    for _ in 0..<50 {
      _ = pipe.readEnd.withRawValue { fcntl($0, F_SETFL, 0) }
      #expect(pipe.writeEnd.withRawValue { write($0, "x", 1) } == 1)
      var (byte, poll): (UInt8, pollfd) = (0, pollfd())
      poll.events = Int16(POLLIN)
      pipe.readEnd.withRawValue { number in
        poll.fd = number
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        _ = read(number, &byte, 1)
      }
      try await withLimit(usualLimit, "the store") { try await store.keep([1], of: other) }
    }
    pipe.writeEnd.close()
    #expect(try await size <= 50)
  }

  @Test(arguments: 0..<3)
  func `a copy is called off with its task, its delivery and its store`(way: Int) async throws {
    let pipe = try pipe("begun", isEnded: false)
    let task = Task { await refusal(of: try await store.copy(pipe.readEnd)) }
    try await eventually("the copy has begun") { stores.spooled().count == 1 }
    switch way {
    case 0: task.cancel()
    case 1: await store.free([delivery])
    default: await store.close()
    }
    #expect(try await task.value?.name == .cancelled)
    #expect(TemporaryDirectory.paths(below: stores.spool) == [])
  }

  @Test func `a copy is called off with its content, and the others of its delivery go on`() async throws {
    let pipes = [try pipe("begun", isEnded: false), try pipe("begun", isEnded: false)]
    let copies = (0..<2).map { number in Task { try await store.copy(pipes[number].readEnd, as: number) } }
    try await eventually("the copies have begun") { stores.spooled().count == 2 }
    await store.free([0], of: delivery)
    let error = await #expect(throws: InterchangeError.self) { try await copies[0].value }
    #expect(error?.name == .cancelled)
    pipes[1].writeEnd.close()
    #expect(try await copies[1].value == 5)
    #expect(stores.spooled() == ["1"])
  }

  @Test(arguments: [SOCK_DGRAM, SOCK_SEQPACKET])
  func `a socket of messages is refused at once, whatever the kernel says of it`(type: __socket_type) async throws {
    let (one, other) = try socketPair(type)
    // A socket of datagrams is now readable for ever, and empty.
    other.withRawValue { _ = shutdown($0, Int32(SHUT_RD)) }
    let errors = [
      await refusal(of: try await store.copy(other)), await refusal(of: try await store.keep(other)),
      await refusal(of: try await store.setSnapshot(of: delivery, type: "image/png", from: other)),
    ]
    for error in errors {
      #expect(
        error?.name == .invalidPayload && error?.message.contains("socket of messages") ?? false, "\(error as Any)")
    }
    withExtendedLifetime(one) {}
  }

  @Test func `a socket that breaks is no shorter content`() async throws {
    for isBroken in [false, true] {
      let (source, handedIn) = try socketPair()
      // The kernel reports an end whose other side has left bytes unread as broken.
      if isBroken { handedIn.withRawValue { _ = write($0, "x", 1) } }
      source.withRawValue { _ = write($0, "half", 4) }
      source.close()
      if isBroken {
        let error = await refusal(of: try await store.copy(handedIn))
        #expect(error?.name == .sourceGone, "\(error as Any)")
        #expect(stores.spooled() == [])
      } else {
        #expect(try await store.copy(handedIn) == 4)
        await store.free([delivery])
      }
    }
  }
}
