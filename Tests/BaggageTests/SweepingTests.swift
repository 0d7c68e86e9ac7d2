import Baggage
import DBus
import DBusTestSupport
import Glibc
import SceneModel
import Testing

/// What a service finds in the spool of an earlier service.
@Suite struct SweepingTests {
  private let stores = BaggageStores()
  private var store: BaggageStore { stores.first }

  @Test func `what no delivery has is removed, and what was begun and not ended`() async throws {
    var store = stores.store()
    try await store.keep([1])
    try await store.keep([2], as: 17)
    try await store.keep([3], of: other)
    try await store.setSnapshot(of: other, type: "image/png", from: try pipe("picture").readEnd)
    await store.close()
    for name in ["unfinished-3", "01", "-1", "x"] { stores.directory.write([1], to: "spool/\(delivery)/\(name)") }
    mkdir("\(stores.spool)/\(delivery)/5", 0o700)
    mkdir("\(stores.spool)/deep", 0o700)
    mkdir("\(stores.spool)/deep/er", 0o700)
    stores.directory.write([1], to: "spool/deep/er/file")
    stores.directory.write([1], to: "spool/file")
    mkdir("\(stores.spool)/\(delivery.description.uppercased())", 0o700)
    let isNoText = open("\(stores.spool)/x".utf8CString.dropLast() + [-1, 0], O_WRONLY | O_CREAT, 0o600)
    #expect(isNoText >= 0)
    close(isNoText)

    store = stores.store()
    try await store.sweep(keeping: [delivery, UniqueIdentifier(high: 9, low: 9)])
    #expect(
      TemporaryDirectory.paths(below: stores.spool) == [
        "\(delivery)", "\(delivery)/0", "\(delivery)/17", "snapshots", "snapshots/\(other).image%2Fpng",
      ])
    #expect(try await store.open(17).0.bytes() == [2])
  }

  @Test func `what cannot be removed keeps nothing else, and no snapshot from being shown`() async throws {
    var store = stores.store()
    try await store.setSnapshot(of: other, type: "image/png", from: try pipe("picture").readEnd)
    await store.close()
    for number in 0..<8 {
      stores.directory.write([1], to: "spool/file-\(number)")
      if number != 4 { continue }
      // Nobody nests so deep by mistake; a file of another user would do too.
      for folder in ["\(stores.spool)/deep", "\(stores.spool)/snapshots/deep"] {
        var path = folder
        for _ in 0..<20 {
          mkdir(path, 0o700)
          path += "/er"
        }
      }
    }
    store = stores.store()
    #expect(await refusal(of: try await store.sweep(keeping: []))?.name == .storageFailed)
    #expect(TemporaryDirectory.names(in: stores.spool) == ["deep", "snapshots"])
    #expect(try await store.openSnapshot(of: other, for: nil).data.text == "picture")
  }

  @Test func `links are removed, and nothing is touched that they lead to`() async throws {
    try await store.keep([1])
    let (outside, third) = (TemporaryDirectory(in: "/tmp"), UniqueIdentifier(high: 3, low: 3))
    outside.write([1, 2, 3])
    outside.write([4], to: "0")
    symlink(outside.path, "\(stores.spool)/\(other)")
    symlink(outside.path, "\(stores.spool)/\(third)")
    symlink("\(outside.path)/file", "\(stores.spool)/\(delivery)/1")
    symlink("\(outside.path)/file", "\(stores.spool)/link")
    // Nobody reads, writes or removes anything through a symbolic link.
    for (number, owner) in [(1, delivery), (0, other)] {
      #expect(await refusal(of: try await store.open(number, of: owner)) != nil)
    }
    #expect(await refusal(of: try await store.keep([9], of: other))?.name == .storageFailed)
    await store.free([third])
    try await store.sweep(keeping: [delivery, other])
    #expect(TemporaryDirectory.paths(below: stores.spool) == ["\(delivery)", "\(delivery)/0"])
    #expect(TemporaryDirectory.names(in: outside.path) == ["0", "file"])
    #expect(try opened("\(outside.path)/file").bytes() == [1, 2, 3])
  }

  @Test func `a spool that is a link is no spool`() async throws {
    let outside = TemporaryDirectory(in: "/tmp")
    outside.write([1], to: "file")
    symlink(outside.path, stores.spool)
    #expect(await refusal(of: try await store.keep([1]))?.name == .storageFailed)
    #expect(await refusal(of: try await store.sweep(keeping: []))?.name == .storageFailed)
    #expect(TemporaryDirectory.names(in: outside.path) == ["file"])
  }

  @Test func `a spool that somebody took away is made again`() async throws {
    try await store.keep([1])
    rename(stores.spool, stores.spool + "-gone")
    #expect(await refusal(of: try await store.open())?.name == .sourceGone)
    try await store.keep([2])
    #expect(try await store.open().0.bytes() == [2])
  }

  @Test func `what is freed is gone, and what is not stays`() async throws {
    let file = try opened(stores.directory.write([1]))
    let pipe = try pipe()
    for number in 0..<3 { try await store.keep([1], as: number) }
    _ = try await store.keep(file, as: 3)
    _ = try await store.keep(pipe.readEnd, as: 4)
    try await store.keep([2], of: other)
    await store.free([delivery, UniqueIdentifier(high: 9, low: 9)])
    #expect(TemporaryDirectory.paths(below: stores.spool) == ["\(other)", "\(other)/0"])
    #expect(!file.isOpen && !pipe.readEnd.isOpen)
    for number in 0..<5 { #expect(await refusal(of: try await store.open(number))?.name == .sourceGone) }
    #expect(try await store.open(of: other).0.bytes() == [2])
  }

  @Test func `deliveries that cannot be removed make the next ones no slower`() async throws {
    try await store.keep([1])
    // Nothing can be opened in the place of the spool.
    rename(stores.spool, stores.spool + "-gone")
    stores.directory.write([1], to: "spool")
    let deliveries = (0..<100 as Range<UInt64>).map { UniqueIdentifier(high: 7, low: $0) }
    for delivery in deliveries { await store.free([delivery]) }
    unlink(stores.spool)
    rename(stores.spool + "-gone", stores.spool)
    for delivery in deliveries { try await store.keep([2], of: delivery) }
    // Some of them are tried again whenever others are freed.
    await store.free([delivery])
    #expect(TemporaryDirectory.names(in: stores.spool).count == 100 - 16)
    for _ in 0..<6 { await store.free([delivery]) }
    #expect(TemporaryDirectory.names(in: stores.spool) == [])
  }
}
