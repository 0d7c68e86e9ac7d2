import DBusTestSupport
import Testing

/// One of the ten cases of routing, as a hundred programs play it at once. A watcher from the beginning and a late one learn the same. All ten are in
/// `Tests/SceneRoutingTests/AcceptanceTests.swift`.
@Suite struct AcceptanceTests {
  @Test(arguments: [Manifests.cats, Manifests.mainOnly], PrivateBus.Kind.available)
  func `4 a hundred identical drops at once make one window`(manifest: String, kind: PrivateBus.Kind) async throws {
    try await withService(kind, registering: manifest) { house in
      try await house.watched { watch in
        let drop =
          "dbus-send --session --print-reply --dest=\(House.name) \(House.root) \(House.interchange).Drop"
          + " string:viewCat string:cat1 dict:string:string:"
        let output = try await house.command(
          "sh", "-c", "i=0; while [ $i -lt 100 ]; do \(drop) & i=$((i + 1)); done; wait"
        ).output(within: .seconds(120))
        // Each dbus-send writes its answer in one piece, so no answer stands within another.
        var reader = ShownReader(output.split(separator: "\n").filter { $0.hasPrefix(" ") })
        let texts = reader.rest().map(\.text)
        try #require(texts.count == 300)
        let answers = stride(from: 0, to: 300, by: 3).map {
          Landing(session: texts[$0], outcome: texts[$0 + 1], delivery: texts[$0 + 2])
        }
        #expect(Set(answers.map(\.session)).count == 1)
        #expect(answers.filter { $0.outcome == "created" }.count == 1)
        #expect(answers.filter { $0.outcome == "activated" }.count == 99)
        #expect(Set(answers.map(\.delivery)).count == 100)
        #expect(try await house.sessions().map { $0[0] } == [answers[0].session])
        #expect(try await watch.happenings().count == 100)
      }
    }
  }
}
