import Baggage
import DBus
import DBusTestSupport
import Glibc
import SceneModel
import Testing

/// What a sandboxed application gets instead of a file.
@Suite struct FeedTests {
  private let stores = BaggageStores()
  private var store: BaggageStore { stores.first }
  private let sandbox: Text = "org.example.Box"

  // A program ignores this signal, and gets an error instead.
  init() { signal(SIGPIPE, SIG_IGN) }

  private func isPipe(_ descriptor: OwnedFileDescriptor) -> Bool {
    descriptor.withRawValue { number in
      var status = stat()
      return fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }
  }

  @Test(arguments: [0, 10, 3_000_000])
  func `a sandbox reads every file whole through a pipe, and can write to none`(count: Int) async throws {
    let path = stores.directory.write(pattern(count))
    _ = try await store.keep(try opened(path), as: 0)
    _ = try await store.keep(try opened(path, O_RDWR), as: 1)
    try await store.keep(pattern(count), as: 2)
    try await store.setSnapshot(of: other, type: "image/png", from: try pipe("picture").readEnd)
    for _ in 0..<2 {
      for number in 0..<3 {
        let (data, size) = try await store.open(number, for: sandbox)
        #expect(isPipe(data) && size == Int64(count))
        #expect(try await everything(of: data) == pattern(count))
      }
      let (data, size) = try await store.open(path, for: sandbox)
      #expect(isPipe(data) && size == Int64(count))
      #expect(try await everything(of: data) == pattern(count))
      let promised = try await store.open(try opened(path), of: delivery, for: sandbox, at: place)
      #expect(isPipe(promised))
      #expect(try await everything(of: promised) == pattern(count))
    }
    let (_, _, picture) = try await store.openSnapshot(of: other, for: sandbox)
    #expect(isPipe(picture))
    #expect(try await everything(of: picture) == Array("picture".utf8))
  }

  @Test(arguments: [true, false])
  func `a sandbox reaches no other file by a link in the place of a file or its folder`(isFolder: Bool) async throws {
    let (folder, secrets) = (stores.directory.path + "/shared", stores.directory.path + "/secret")
    for path in [folder, secrets] { mkdir(path, 0o700) }
    let path = stores.directory.write(pattern(10), to: "shared/photo.png")
    stores.directory.write(pattern(20), to: "secret/photo.png")
    symlink(folder, stores.directory.path + "/link")
    let checked = try await store.check(
      fileAt: FileURL.text(ofPath: "\(stores.directory.path)/link/photo.png".utf8), at: place)
    let canonical = try #require(checked.canonicalURL)
    #expect(canonical == FileURL.text(ofPath: path.utf8))
    let (data, _) = try await store.open(fileAt: canonical, of: delivery, for: sandbox, at: place)
    #expect(try await everything(of: data) == pattern(10))
    if isFolder {
      rename(folder, folder + ".old")
      symlink(secrets, folder)
    } else {
      unlink(path)
      symlink(secrets + "/photo.png", path)
    }
    let error = await refusal(of: try await store.open(fileAt: canonical, of: delivery, for: sandbox, at: place))
    #expect(error?.name == .invalidPayload)
  }

  @Test func `what nobody can change is handed out as it is`() async throws {
    _ = try await store.keep(try BaggageStore.memoryFile(pattern(10)))
    let (data, size) = try await store.open(for: sandbox)
    #expect(!isPipe(data) && size == 10)
    #expect(data.bytes() == pattern(10))
    let memory = stores.inMemory()
    try await memory.keep(pattern(10))
    #expect(try await memory.open(for: sandbox).0.bytes() == pattern(10))
  }

  @Test func `a sandbox reads so many contents at the same time, and another is not concerned`() async throws {
    // On a slow machine the first pipes would be silent for too long.
    let store = stores.store(silence: .seconds(3600))
    try await store.keep(pattern(1_000_000))
    var pipes: [OwnedFileDescriptor] = []
    for _ in 0..<BaggageLimits.feeds { pipes.append(try await store.open(for: sandbox).0) }
    #expect(await refusal(of: try await store.open(for: sandbox))?.name == .limitsExceeded)
    #expect(try await everything(of: store.open(for: "org.example.Other").0) == pattern(1_000_000))
    // A reader that closes its pipe makes space.
    pipes = []
    try await eventually("space for another") { (try? await store.open(for: sandbox)) != nil }
  }

  @Test func `a pipe ends with its delivery`() async throws {
    try await store.keep(pattern(1_000_000))
    let path = stores.directory.write(pattern(1_000_000))
    for way in 0..<2 {
      let (data, _) = way == 0 ? try await store.open(for: sandbox) : try await store.open(path, for: sandbox)
      await store.free([delivery])
      #expect(try await everything(of: data).count < 1_000_000)
    }
  }

  @Test func `a reader that takes nothing is waited for no more`() async throws {
    let store = stores.store(silence: silence)
    try await store.keep(pattern(1_000_000))
    let begin = ContinuousClock.now
    let (data, _) = try await store.open(for: sandbox)
    // The store closes its end of the pipe.
    let reader = try EventLoop(name: "reader")
    let ended = await reader.task {
      data.withRawValue { number in
        var wanted = pollfd(fd: number, events: 0, revents: 0)
        return poll(&wanted, 1, 90_000) > 0
      }
    }.value
    await reader.stop()
    #expect(ended, "the pipe did not end")
    #expect(ContinuousClock.now - begin >= silence)
  }

  /// Reads to the end on a thread of its own.
  private func everything(of data: OwnedFileDescriptor) async throws -> [UInt8] {
    let reader = try EventLoop(name: "reader")
    let bytes = await reader.task { data.bytes() }.value
    await reader.stop()
    return bytes
  }
}
