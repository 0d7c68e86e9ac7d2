import DBus
import DBusTestSupport
import Testing

/// A disk that takes no more.
@Suite struct RefusedStorageTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `what cannot be stored is refused and did not happen, and the service goes on`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withHouse(kind) { house in
      try house.write(Manifests.cats, to: "\(house.applications)/org.example.Cats.json")
      // No file may grow beyond 256 KiB; a signal would say so otherwise.
      let limited = "trap '' XFSZ; ulimit -f 512; exec \(Command.built("stagedoord").program) --log-level error"
      let kept = try await house.command("sh", "-c", limited).whileRunning { daemon in
        _ = try await house.watcher.owners(of: House.name).first { $0 != nil }
        let text = String(repeating: "x", count: 20_000)
        var before = try await Record(of: house)
        var refusal: ShownError?
        for number in 0..<200 {
          let document =
            #"{"activity": {"activityType": "viewCat", "targetContentIdentifier": "cat\#(number)","#
            + #" "userInfo": {"text": "\#(text)"}}}"#
          let result = try await house.example("deliver", document).run()
          if !result.status.isSuccess {
            refusal = try await house.refusal("Deliver", "string:\(document)")
            break
          }
          before = try await Record(of: house)
        }
        let error = try #require(refusal)
        #expect(error.name == "org.stagedoor.Error.StorageFailed")
        #expect(error.message.contains(house.state))
        #expect(try await Record(of: house) == before)
        #expect(!before.deliveries.isEmpty)
        #expect(daemon.status == nil)
        return before
      }
      try await house.serving { _ in
        let after = try await Record(of: house)
        #expect(after == kept)
        #expect(try await house.drop("viewCat", "dog").outcome == "created")
      }
    }
  }
}
