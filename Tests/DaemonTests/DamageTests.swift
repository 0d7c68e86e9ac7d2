import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import SceneModel
import Testing

/// A store that was damaged while a service used it.
@Suite struct DamageTests {
  /// The store's own tests damage it in other ways, and look at what is set aside.
  @Test func `what is damaged while the service runs is refused, said, and set aside by the next start`() async throws {
    try await withHouse(installing: Manifests.cats) { house in
      try house.leave((1...3000).map { .cat($0) })
      let store = "\(house.state)/stagedoor.db"
      try await house.serving { daemon in
        #expect(try await house.eventSequence() == "0")
        // The service has read the first pages of the store, and their contents.
        let file = try OwnedFileDescriptor.file(store, O_WRONLY)
        let size = try Data(contentsOf: URL(filePath: store)).count
        let bytes = [UInt8](repeating: 0xA5, count: size - 3 * 4096)
        #expect(file.withRawValue { pwrite($0, bytes, bytes.count, 3 * 4096) } == bytes.count)
        let list = try await house.refusal("ListSessions", "string:", "string:", "uint32:0")
        #expect(list.name == "org.stagedoor.Error.StorageFailed")
        #expect(list.message.contains("\(store): database disk image is malformed"), "\(list)")
        let drop = try await house.refusal("Drop", "string:viewCat", "string:lion", "dict:string:string:")
        #expect(drop.name == "org.stagedoor.Error.StorageFailed")
        let preference = try await house.refusal("SetPreferredApplication", "string:viewCat", "string:org.example.Cats")
        #expect(
          preference.message.hasSuffix(
            "\(store): is damaged, and takes nothing more: it is set aside when stagedoord is started again"),
          "\(preference)")
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
        #expect(daemon.standardError.contains("is damaged, and takes nothing more"))
      }
      try await house.serving { daemon in
        #expect(try await house.drop("viewCat", "cat1").outcome == "created")
        try await eventually("it is said") { daemon.standardError.contains(", and a new one was begun\n") }
        let reason = "\(store): database disk image is malformed"
        let sentence = "stagedoord: the store was broken (\(reason)); it is now \(store)-set-aside-"
        #expect(daemon.standardError.hasPrefix(sentence), "\(daemon.standardError)")
      }
    }
  }
}
