import FoundationEssentials
import SceneModel
import SceneTestSupport
import Testing

/// A value that is written as a document can be read back unchanged.
@Suite struct DocumentRoundTripTests {
  private static let rounds = isStress ? 1000 : 50
  private let rules = ReadingRules(types: TypeCatalog())

  private func check<Written: Document & Equatable>(_ written: Written) throws {
    let inJSON = try Written(json: written.json, rules)
    #expect(inJSON == written)
    // The comparison includes what equality overlooks, such as the spelling of a type.
    #expect(inJSON.document == written.document)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `payloads come back`(seed: UInt64) throws {
    var generator = DocumentGenerator(seed: seed)
    for round in 0..<Self.rounds {
      var payload = generator.payload()
      // Newer senders may add keys to every document; a strict one may only have known keys.
      payload.options.isStrict = round.isMultiple(of: 2)
      try check(payload)
    }
  }

  @Test(arguments: [4, 5] as [UInt64])
  func `activities, items and options come back by themselves`(seed: UInt64) throws {
    var generator = DocumentGenerator(seed: seed)
    for _ in 0..<Self.rounds {
      try check(generator.activity())
      try check(generator.item())
      try check(generator.options())
    }
  }

  @Test(arguments: [6, 7] as [UInt64])
  func `sessions come back`(seed: UInt64) throws {
    var generator = DocumentGenerator(seed: seed)
    for _ in 0..<Self.rounds { try check(generator.session()) }
  }

  @Test(arguments: [8, 9] as [UInt64])
  func `manifests come back`(seed: UInt64) throws {
    var generator = DocumentGenerator(seed: seed)
    for _ in 0..<Self.rounds {
      let manifest = generator.manifest()
      for bytes in [Array(manifest.json.string.utf8)] + manifest.propertyLists {
        let read = try Manifest(bytes, installedAs: manifest.identifier, types: rules.types)
        #expect(read == manifest)
        #expect(read.document == manifest.document)
      }
    }
  }

  @Test func `what is as it would be anyhow is not written`() {
    #expect(UserActivity(activityType: "a").json == #"{"activityType":"a"}"#)
    #expect(Item().json == "{}")
    #expect(PayloadOptions().json == "{}")
    #expect(Payload(UserActivity(activityType: "a")).json == #"{"activity":{"activityType":"a"}}"#)
    let manifest = Manifest(identifier: "a.b", configurations: [SceneConfiguration(name: "One")])
    #expect(
      manifest.json.string == #"{"CFBundleIdentifier":"a.b","UIApplicationSceneManifest":{"UISceneConfigurations":"#
        + #"{"UIWindowSceneSessionRoleApplication":[{"UISceneConfigurationName":"One"}]}}}"#)
  }
}

/// The inputs of the fuzzers that were worth keeping. `make fuzz` begins with them, and this test checks each one as the fuzzers do.
@Suite struct CorpusTests {
  @Test(.timeLimit(.minutes(1)), arguments: FuzzedParser.allCases)
  func `the laws hold for everything that was kept, and what is called refused is`(parser: FuzzedParser) throws {
    var counts: [FuzzedParser.Outcome: Int] = [:]
    let folder = "\(Page.repository)/Fuzz/Corpus/\(parser)"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      let bytes = try #require(FileManager.default.contents(atPath: "\(folder)/\(name)"))
      do {
        let outcome = try parser.check([UInt8](bytes))
        #expect(outcome == (name.hasPrefix("refused-") ? .refused : .taken), "\(name)")
        counts[outcome, default: 0] += 1
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
    #expect(counts[.taken, default: 0] >= 5 && counts[.refused, default: 0] >= 5)
  }
}
