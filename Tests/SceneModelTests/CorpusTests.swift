import FoundationEssentials
import SceneTestSupport
import Testing

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
