import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import SceneModel
import Testing

/// A store that was damaged while a service used it.
@Suite struct DamageTests {
  /// The store's own tests damage it in other ways.
  @Test func `what is damaged while the service runs is refused, said, and set aside by the next start`() async throws {
    try await withHouse(installing: Manifests.cats) { house in
      try house.leave((1...3000).map { .cat($0) })
      try await house.serving { daemon in
        #expect(try await house.eventSequence() == "0")
        // The service has read the first pages of the store, and their contents.
        let file = try OwnedFileDescriptor.file(house.store, O_WRONLY)
        let size = try Data(contentsOf: URL(filePath: house.store)).count
        let bytes = [UInt8](repeating: 0xA5, count: size - 3 * 4096)
        #expect(file.withRawValue { pwrite($0, bytes, bytes.count, 3 * 4096) } == bytes.count)
        let list = try await house.refusal("ListSessions", "string:", "string:", "uint32:0")
        #expect(list.name == "org.stagedoor.Error.StorageFailed")
        #expect(list.message.contains("\(house.store): database disk image is malformed"), "\(list)")
        for _ in 0..<2 {
          let drop = try await house.refusal("Drop", "string:viewCat", "string:lion", "dict:string:string:")
          #expect(drop.name == "org.stagedoor.Error.StorageFailed")
        }
        let preference = try await house.refusal("SetPreferredApplication", "string:viewCat", "string:org.example.Cats")
        #expect(
          preference.message.hasSuffix(
            "\(house.store): is damaged, and takes nothing more: it is set aside when stagedoord is started again"),
          "\(preference)")
        #expect(daemon.status == nil)
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
        #expect(daemon.standardError.contains("is damaged, and takes nothing more"))
      }
      let damaged = try house.bytes(of: house.store)
      try await house.serving { daemon in
        #expect(try await house.drop("viewCat", "cat1").outcome == "created")
        try await eventually("it is said") { daemon.standardError.contains("a new one was begun") }
        let path = try house.setAside()
        #expect(
          daemon.standardError.hasPrefix(
            "stagedoord: the store was broken (\(house.store): database disk image is malformed); it is now \(path), and a new one was begun\n"
          ),
          "\(daemon.standardError)")
        #expect(try house.bytes(of: path) == damaged)
      }
      try await house.serving { daemon async throws in
        #expect(try await house.drop("viewCat", "cat1").outcome == "activated")
        #expect(!daemon.standardError.contains("broken"))
      }
    }
  }
}

extension House {
  fileprivate var store: String { "\(state)/stagedoor.db" }

  /// The contents of a store and of its log.
  fileprivate func bytes(of path: String) throws -> [Data] {
    try [path, "\(path)-wal"].filter { FileManager.default.fileExists(atPath: $0) }
      .map { try Data(contentsOf: URL(filePath: $0)) }
  }

  /// The one store that was set aside.
  fileprivate func setAside() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: state).filter {
      $0.hasPrefix("stagedoor.db-set-aside-") && !$0.hasSuffix("-wal")
    }
    try #require(names.count == 1, "\(names)")
    return "\(state)/\(names[0])"
  }
}
