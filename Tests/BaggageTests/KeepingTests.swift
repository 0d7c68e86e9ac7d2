import Baggage
import DBus
import DBusTestSupport
import Glibc
import SceneModel
import Testing

/// Bytes and files that the store copies.
@Suite struct KeepingTests {
  private let stores = BaggageStores()
  private var store: BaggageStore { stores.first }

  @Test(arguments: [false, true], [0, 1, 3_000_000])
  func `each opening of what was kept is from its beginning and for reading`(isSynced: Bool, count: Int) async throws {
    let bytes = pattern(count)
    for store in [stores.store(isSynced: isSynced), BaggageStore(directory: nil, isSynced: isSynced)] {
      try await store.keep(bytes)
      try await store.keep([7], as: 1)
      let (first, size) = try await store.open()
      let (second, _) = try await store.open()
      #expect(size == Int64(count))
      #expect(first.bytes() == bytes && first.bytes() == [])
      #expect(second.bytes() == bytes)
      #expect(first.accessMode == O_RDONLY)
      #expect(first.withRawValue { fcntl($0, F_GETFD) } == FD_CLOEXEC)
      let (third, _) = try await store.open(1)
      #expect(third.bytes() == [7])
      await store.free([delivery])
      // A receiver that has opened the content can still read it.
      #expect(first.withRawValue { lseek($0, 0, SEEK_SET) } == 0)
      #expect(first.bytes() == bytes)
      await store.close()
    }
  }

  @Test func `the spool is its owner's alone, and nobody writes to what is in it`() async throws {
    #expect(TemporaryDirectory.names(in: stores.directory.path) == [], "nothing is made before it is needed")
    try await store.keep([1, 2, 3])
    #expect(TemporaryDirectory.mode(stores.spool) == 0o700)
    #expect(TemporaryDirectory.mode("\(stores.spool)/\(delivery)") == 0o700)
    #expect(TemporaryDirectory.mode("\(stores.spool)/\(delivery)/0") == 0o400)
  }

  @Test func `what is kept again under one number takes the place of what was`() async throws {
    for store in [stores.store(), stores.inMemory()] {
      try await store.keep([1, 2, 3])
      try await store.keep([4])
      #expect(try await store.open().0.bytes() == [4])
    }
    #expect(stores.spooled() == ["0"])
  }

  @Test func `a memory file cannot be changed by anyone`() throws {
    let file = try BaggageStore.memoryFile(pattern(1000))
    #expect(file.withRawValue { write($0, "x", 1) } == -1 && errno == EPERM)
    #expect(file.withRawValue { ftruncate($0, 1) } == -1 && errno == EPERM)
    let again = file.withRawValue { open("/proc/self/fd/\($0)", O_RDWR) }
    #expect(write(again, "x", 1) == -1)
    close(again)
    #expect(file.bytes() == pattern(1000))
  }

  // MARK: Files

  @Test(arguments: [0, 1, 1 << 20, 1 << 20 + 1, 5_000_000])
  func `a file is copied as it is, and what becomes of it later is its own affair`(count: Int) async throws {
    let path = stores.directory.write(pattern(count))
    for store in [stores.store(), stores.inMemory()] {
      #expect(try await store.copy(path) == Int64(count))
      stores.directory.write([9, 9])
      let (file, size) = try await store.open()
      #expect(size == Int64(count))
      #expect(file.bytes() == pattern(count))
      stores.directory.write(pattern(count))
    }
  }

  @Test func `a file that says it is empty and is not is read to its end`() async throws {
    #expect(try await store.copy("/proc/self/status") > 100)
    #expect(try await store.open().0.text.hasPrefix("Name:"))
  }

  @Test(arguments: [false, true])
  func `a file as long as the limit is copied, and one byte more is refused`(isInMemory: Bool) async throws {
    let store = isInMemory ? stores.inMemory() : stores.store()
    let path = stores.directory.write(pattern(5000))
    #expect(try await store.copy(path, atMost: 5000) == 5000)
    await store.free([delivery])
    let error = await refusal(of: try await store.copy(path, atMost: 4999))
    #expect(error?.name == .limitsExceeded)
    #expect(error?.message == "\(place): has more than the 4999 bytes that may be kept")
    // A file that does not say how long it is.
    #expect(await refusal(of: try await store.copy("/proc/self/status", atMost: 10))?.name == .limitsExceeded)
    #expect(TemporaryDirectory.paths(below: stores.spool) == [])
  }

  @Test(arguments: [false, true])
  func `some of a delivery's content is freed, and the rest can be opened`(isInMemory: Bool) async throws {
    let store = isInMemory ? stores.inMemory() : stores.store()
    for number in 0..<3 { try await store.keep(pattern(10 + number), as: number) }
    await store.free([0, 2, 7], of: delivery)
    #expect(try await store.open(1).size == 11)
    for number in [0, 2] {
      #expect(await refusal(of: try await store.open(number))?.name == .sourceGone)
    }
    await store.free([1], of: delivery)
    #expect(TemporaryDirectory.paths(below: stores.spool) == [])
    await store.free([delivery])
  }

  @Test func `what is no file is refused, by its place and with what it is`() async throws {
    let directory = stores.directory
    mkfifo("\(directory.path)/fifo", 0o600)
    mknod("\(directory.path)/socket", S_IFSOCK | 0o600, 0)
    symlink("nowhere", "\(directory.path)/dangling")
    symlink("loop", "\(directory.path)/loop")
    let cases = [
      (directory.path, "is a directory; expected a file"), ("\(directory.path)/fifo", "is a FIFO; expected a file"),
      ("\(directory.path)/socket", "is a socket; expected a file"), ("/dev/null", "is a device; expected a file"),
      ("\(directory.path)/missing", "the file cannot be opened: No such file or directory"),
      ("\(directory.path)/dangling", "the file cannot be opened: No such file or directory"),
      ("\(directory.path)/loop", "the file cannot be opened: Too many levels of symbolic links"),
    ]
    for (path, reason) in cases {
      let expected = InterchangeError(.invalidPayload, "\(place): \(reason)")
      #expect(await refusal(of: try await store.copy(path)) == expected)
      #expect(await refusal(of: try await store.check(fileAt: url(path), at: place)) == expected)
      #expect(await refusal(of: try await store.open(path)) == expected)
    }
    let error = await refusal(of: try await store.check(fileAt: "https://example.org/a", at: place))
    #expect(error?.name == .invalidPayload)
    #expect(error?.message.contains("https://example.org/a") ?? false)
    #expect(!TemporaryDirectory.names(in: directory.path).contains("spool"), "nothing was kept")
  }

  @Test func `a path that must have no link has none, wherever it stands`() async throws {
    let path = stores.directory.write([1, 2, 3])
    mkdir("\(stores.directory.path)/folder", 0o700)
    stores.directory.write([1, 2, 3], to: "folder/file")
    symlink(path, "\(stores.directory.path)/link")
    symlink("folder", "\(stores.directory.path)/other")
    for (name, isThere) in [("file", true), ("folder/file", true), ("link", false), ("other/file", false)] {
      func look(_ isCanonical: Bool) async throws(InterchangeError) -> [UInt8] {
        let url = url("\(stores.directory.path)/\(name)")
        return try await store.look(fileAt: url, isCanonical: isCanonical, at: place) { $0.bytes() }
      }
      #expect(try await look(false) == [1, 2, 3])
      if isThere {
        #expect(try await look(true) == [1, 2, 3])
      } else {
        #expect(await refusal(of: try await look(true))?.name == .invalidPayload, "\(name)")
      }
    }
  }

  @Test func `a file that the service has open has no name`() async throws {
    let file = try opened(stores.directory.write([1, 2, 3]))
    let number = file.withRawValue(\.self)
    symlink("/proc/self/fd/\(number)", "\(stores.directory.path)/link")
    for path in ["/proc/self/fd/\(number)", "/dev/fd/\(number)", "\(stores.directory.path)/link"] {
      #expect(await refusal(of: try await store.copy(path))?.name == .invalidPayload, "\(path)")
    }
  }

  @Test func `a file that is opened where it is has its size, and shows what it has now`() async throws {
    let path = stores.directory.write(pattern(10), to: "a b.png")
    let encoded = stores.directory.path + "/a%20b.png"
    let checked = try await store.check(fileAt: url(encoded), at: place)
    #expect(checked.size == 10 && checked.canonicalURL == url(encoded))
    stores.directory.write(pattern(20), to: "a b.png")
    let (file, size) = try await store.open(encoded)
    #expect(size == 20 && file.bytes() == pattern(20))
    #expect(file.withRawValue { fcntl($0, F_GETFL) } & (O_ACCMODE | O_NONBLOCK) == O_RDONLY)
    unlink(path)
    #expect(await refusal(of: try await store.open(encoded))?.name == .invalidPayload)
  }
}
