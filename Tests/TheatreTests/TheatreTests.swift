import DBusTestSupport
import Foundation
import Testing

/// The core and the store in worlds that seeds determine: see `docs/testing.md`.
@Suite(.serialized)
struct TheatreTests {
  private static let isLong = ProcessInfo.processInfo.environment["STAGEDOOR_STRESS"] != nil

  /// Stories of earlier faults, which are mended. `theatre` prints a story when a law is broken.
  private static let stories: [String] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Stories")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".play") }.sorted().map { folder.appending(path: $0).path }
  }()

  @Test(arguments: stories)
  func `what was mended stays mended`(story: String) async throws {
    let result = try await Command.built("theatre", story).run()
    #expect(result.status.isSuccess, "\(result)")
  }

  @Test
  func `every law holds in plays that are always the same`() async throws {
    let result = try await play(from: 1)
    #expect(result.status.isSuccess, "\(result)")
  }

  @Test
  func `every law holds in a play of the day`() async throws {
    let day = Int(Date.now.timeIntervalSince1970 / 86_400)
    let result = try await play(from: day * 1_000)
    #expect(result.status.isSuccess, "\(result)")
  }

  @Test
  func `a seed plays the same each time`() async throws {
    func story() async throws -> [Substring] {
      let told = try await Command.built("theatre", "--seed", "7", "--plays", "1", "--acts", "300", "--story").output()
      return told.split(separator: "\n").filter { !$0.contains("plays, ") && !$0.contains("/dev/shm") }
    }
    let first = try await story()
    #expect(first.count > 300)
    #expect(try await story() == first)
  }

  private func play(from seed: Int) async throws -> Command.Result {
    let (plays, acts) = TheatreTests.isLong ? ("2000", "1500") : ("12", "400")
    return try await Command.built(
      "theatre", "--seconds", "3600", "--plays", plays, "--seed", "\(seed)", "--acts", acts
    ).run(within: .seconds(TheatreTests.isLong ? 3600 : 300))
  }
}
