import DBus
import DBusTestSupport
import ExitTestSupport
import Glibc
import Testing

/// Descriptors are closed once, by their owner. Tests that count all open ones do so in a process of their own.
@Suite struct FileDescriptorTests {
  private func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }

  private func number(_ descriptor: OwnedFileDescriptor) -> Int32 { descriptor.withRawValue { $0 } }

  @Test func `what was released is the caller's to close`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let number = pipe.readEnd.release()
    #expect(number >= 0 && isOpen(number))
    #expect(pipe.readEnd.release() == -1)
    #expect(self.number(pipe.readEnd) == -1)
    pipe.readEnd.close()
    #expect(isOpen(number))
    #expect(Glibc.close(number) == 0)
  }

  @Test func `an end that is closed is the end for the other`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    pipe.writeEnd.close()
    pipe.writeEnd.close()
    var byte: UInt8 = 0
    #expect(pipe.readEnd.withRawValue { read($0, &byte, 1) } == 0)
  }

  @Test func `pipes and duplicates are closed on exec`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let copy = try pipe.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) }
    for descriptor in [pipe.readEnd, pipe.writeEnd, copy] {
      #expect(descriptor.withRawValue { fcntl($0, F_GETFD) } == FD_CLOEXEC)
    }
    #expect(number(copy) != number(pipe.readEnd))
  }

  @Test func `a descriptor that goes through a message is another of the same file`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let message = try Message.signal(from: "/a", "a.b", "C", pipe.writeEnd, Variant(pipe.writeEnd))
    #expect(message.signature == "hv")
    let (sent, variant) = try message.values(as: OwnedFileDescriptor.self, Variant.self)
    let inVariant = try OwnedFileDescriptor(variant)
    pipe.writeEnd.close()
    for descriptor in [sent, inVariant] {
      #expect(descriptor.withRawValue { fcntl($0, F_GETFD) } == FD_CLOEXEC)
      #expect(descriptor.withRawValue { write($0, "x", 1) } == 1)
    }
    var bytes = [UInt8](repeating: 0, count: 8)
    #expect(pipe.readEnd.withRawValue { read($0, &bytes, 8) } == 2)
  }

  @Test func `descriptors come back from every container`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let message = try Message.signal(
      from: "/a", "a.b", "C", [pipe.readEnd], ["k": pipe.readEnd], [pipe.readEnd: UInt8(1)],
      Structure(UInt8(1), pipe.readEnd))
    let values = try message.values(
      as: [OwnedFileDescriptor].self, [String: OwnedFileDescriptor].self, [OwnedFileDescriptor: UInt8].self,
      Structure<UInt8, OwnedFileDescriptor>.self)
    let file = pipe.readEnd.file
    #expect(values.0[0].file == file)
    #expect(values.1["k"]?.file == file)
    #expect(values.2.keys.first?.file == file)
    #expect(values.3.members.1.file == file)
    #expect(try message.variants().map(\.contentSignature) == ["ah", "a{sh}", "a{hy}", "(yh)"])
  }

  @Test func `a variant keeps its descriptor, and gives a duplicate`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let variant = Variant(pipe.readEnd)
    let copy = try OwnedFileDescriptor(variant)
    #expect(copy != pipe.readEnd && number(copy) != number(pipe.readEnd))
    copy.close()
    #expect(isOpen(number(pipe.readEnd)))
    #expect(variant == .fileDescriptor(pipe.readEnd))
  }

  @Test func `what is closed cannot be sent, duplicated or taken out of a variant`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    pipe.readEnd.close()
    let closed = CodingError.fileDescriptorUnavailable(EBADF)
    #expect(codingError(of: pipe.readEnd) == closed)
    #expect(codingError(of: [pipe.writeEnd, pipe.readEnd]) == closed)
    #expect(codingError(of: Variant(pipe.readEnd)) == closed)
    #expect(throws: closed) { _ = try OwnedFileDescriptor(Variant(pipe.readEnd)) }
    #expect(throws: closed) { _ = try OwnedFileDescriptor(duplicating: -1) }
    #expect(codingError(of: OwnedFileDescriptor(owning: -1)) == closed)
  }

  @Test func `16 descriptors go into a message, and 17 do not`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let most = [OwnedFileDescriptor](repeating: pipe.readEnd, count: 16)
    #expect(try signal(most).values(as: [OwnedFileDescriptor].self).count == 16)
    #expect(codingError(of: most + [pipe.readEnd]) == .tooManyFileDescriptors)
    #expect(codingError(of: [most, [pipe.readEnd]]) == .tooManyFileDescriptors)
    #expect(codingError(of: Structure(most, Variant(pipe.readEnd))) == .tooManyFileDescriptors)
    #expect(codingError { try Message.signal(from: "/", "a.b", "C", most, pipe.readEnd) } == .tooManyFileDescriptors)
  }

  @Test func `bytes of a message with descriptors are none without them`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let bytes = try signal(pipe.readEnd).bytes(serial: 1)
    #expect(codingError { try Message(bytes: bytes) } == MessageTests.noMessage)
  }
}

extension OwnedFileDescriptor {
  /// The number of its file; `nil` if it is closed.
  var file: UInt64? {
    withRawValue { number in
      var status = stat()
      return fstat(number, &status) == 0 ? UInt64(status.st_ino) : nil
    }
  }
}

/// Each test runs in a process of its own, where nobody else opens and closes.
@Suite(.ownThreads, .serialized) struct FileDescriptorLeakTests {
  @Test func `nothing is left open, however a descriptor ends`() async {
    await #expect(processExitsWith: .success) {
      try await FileDescriptorLeak.expectNone { _ in try FileDescriptorLeak.everyWay() }
    }
  }

  @Test func `nothing is closed twice`() async {
    await #expect(processExitsWith: .success) {
      let pipe = try OwnedFileDescriptor.pipe()
      for _ in 0..<100 {
        let first = try pipe.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) }
        let number = first.withRawValue { $0 }
        first.close()
        // The number is used again for another file, which nobody may close any more.
        let other = OwnedFileDescriptor(owning: fcntl(0, F_DUPFD_CLOEXEC, number))
        first.close()
        _ = first.release()
        #expect(other.withRawValue { fcntl($0, F_GETFD) } >= 0)
      }
    }
  }

  @Test func `a descriptor that several threads close is closed once`() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<200 {
        let pipe = try OwnedFileDescriptor.pipe()
        let released = await withTaskGroup(of: Int32.self) { group in
          for _ in 0..<4 { group.addTask { pipe.readEnd.release() } }
          return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(released.filter { $0 >= 0 }.count == 1)
        for number in released where number >= 0 { close(number) }
      }
    }
  }

  @Test func `without a descriptor left, everything that needs one is an error`() async {
    await #expect(processExitsWith: .success) {
      let pipe = try OwnedFileDescriptor.pipe()
      let message = try Message.signal(from: "/a", "a.b", "C", [pipe.readEnd, pipe.writeEnd])
      let variant = Variant(pipe.readEnd)
      try await FileDescriptorLeak.settle()
      var outcomes: [CodingError?] = []
      try FileDescriptorLeak.withSpace(for: 0) {
        outcomes = [
          codingError { try OwnedFileDescriptor.pipe() },
          codingError { try pipe.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) } },
          codingError { try OwnedFileDescriptor(variant) },
          codingError(of: pipe.readEnd),
          codingError(of: variant),
          codingError { try message.values(as: [OwnedFileDescriptor].self) },
          codingError { try message.variants() },
          codingError { try message.bytes(serial: 1) },
        ]
      }
      #expect(outcomes == [CodingError?](repeating: .fileDescriptorUnavailable(EMFILE), count: 8))
    }
  }

  @Test func `with too few descriptors left, those that were made are closed again`() async {
    await #expect(processExitsWith: .success) {
      let pipe = try OwnedFileDescriptor.pipe()
      let ends = [pipe.readEnd, pipe.writeEnd, pipe.readEnd]
      let message = try signal(ends)
      try await FileDescriptorLeak.expectNone { round in
        var outcomes: [CodingError?] = []
        try FileDescriptorLeak.withSpace(for: 1 + round % 2) {
          outcomes = [
            codingError(of: ends),
            codingError(of: ends.map { Structure([$0], Variant($0)) }),
            codingError { try message.values(as: [OwnedFileDescriptor].self) },
            codingError { try message.variants() },
          ]
        }
        #expect(outcomes == [CodingError?](repeating: .fileDescriptorUnavailable(EMFILE), count: 4))
      }
      // A failed read leaves the message unchanged.
      #expect(try message.values(as: [OwnedFileDescriptor].self).count == 3)
    }
  }

  @Test func `without a descriptor left, no loop starts, and none is lost`() async {
    await #expect(processExitsWith: .success) {
      try await FileDescriptorLeak.expectNone { round in
        var failure: ConnectionError?
        try FileDescriptorLeak.withSpace(for: round % 2) {
          do throws(ConnectionError) { _ = try EventLoop() } catch { failure = error }
        }
        #expect(failure == .system(round % 2 == 0 ? "eventfd" : "epoll_create1", EMFILE))
      }
    }
  }
}

enum FileDescriptorLeak {
  /// Runs `body` fifty times, with the number of the round, and expects that nothing stays open. Dispatch opens a few descriptors of its own at any
  /// time; fifty that leak one each are more than that.
  static func expectNone(by body: (Int) throws -> Void) async throws {
    try await settle()
    let before = OpenDescriptors.count
    for round in 0..<50 { try body(round) }
    #expect(OpenDescriptors.count < before + 25)
  }

  /// Makes Dispatch open the descriptors that it keeps for ever.
  static func settle() async throws {
    // This is not for waiting: it makes Dispatch's timer.
    try await Task.sleep(for: .nanoseconds(1))
    try everyWay()
  }

  /// Runs `body` when only `count` more descriptors may be opened; runs it again if others opened or closed some meanwhile.
  static func withSpace(for count: Int, _ body: () -> Void) throws {
    for _ in 0..<100 where try isLeftAlone(count, body) { return }
    Issue.record("descriptors come and go")
  }

  private static func isLeftAlone(_ count: Int, _ body: () -> Void) throws -> Bool {
    var before = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) == 0)
    // Open descriptors above the limit stay; only the lowest free numbers count. The very lowest are taken first: if the limit is 3, no number from 3
    // on can be requested.
    var taken: [Int32] = []
    repeat { taken.append(fcntl(0, F_DUPFD_CLOEXEC, 0)) } while (0..<64).contains(taken[taken.count - 1])
    defer { for number in taken { close(number) } }
    let free = (64..<4096).filter { fcntl($0, F_GETFD) < 0 }
    var limit = before
    limit.rlim_cur = rlim_t(free[count])
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    defer { _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) }
    body()
    return (0..<free[count]).filter { fcntl($0, F_GETFD) < 0 } == Array(free.prefix(count))
  }

  /// Everything that can happen to a descriptor.
  static func everyWay() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    _ = try pipe.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) }
    let message = try Message.signal(
      from: "/a", "a.b", "C", pipe.readEnd, Variant(pipe.writeEnd), [pipe.readEnd], ["k": [pipe.writeEnd]])
    _ = try message.bytes(serial: 1)
    let (one, two, _, _) = try message.values(
      as: OwnedFileDescriptor.self, Variant.self, [OwnedFileDescriptor].self, [String: [OwnedFileDescriptor]].self)
    one.close()
    _ = try OwnedFileDescriptor(two)
    _ = try message.variants()
    let released = pipe.readEnd.release()
    close(released)
    // A failure midway: behind the descriptor stands a value that cannot be sent, or cannot be read.
    let (readEnd, writeEnd) = try OwnedFileDescriptor.pipe()
    #expect(codingError(of: Structure(readEnd, "\0")) == .containsNUL)
    #expect(codingError(of: [Variant(readEnd), Variant([writeEnd]), "\0"]) == .containsNUL)
    #expect(codingError(of: [OwnedFileDescriptor](repeating: readEnd, count: 17)) == .tooManyFileDescriptors)
    #expect(codingError(of: Variant.array(of: "h", [Variant(readEnd), "a"]))?.isInvalidSignature == true)
    let mood = try signal(Structure(readEnd, "grim"))
    #expect(throws: CodingError.self) { _ = try mood.values(as: Structure<OwnedFileDescriptor, Mood>.self) }
    #expect(throws: CodingError.self) { _ = try mood.values(as: OwnedFileDescriptor.self) }
  }

  private enum Mood: String, BusValue { case calm }
}
