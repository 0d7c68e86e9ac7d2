import SceneModel
import SceneTestSupport
import Testing

@Suite struct ManifestLimitTests {
  private func configurations(_ counts: [Int]) -> String {
    let roles = counts.enumerated().map { role, count in
      let list = (0..<count).map { "{\"UISceneConfigurationName\":\"\($0)\"}" }.joined(separator: ",")
      return "\"r\(role)\":[\(list)]"
    }
    return
      "{\"CFBundleIdentifier\":\"a.b\",\"UIApplicationSceneManifest\":{\"UISceneConfigurations\":{\(roles.joined(separator: ","))}}}"
  }

  @Test func `a manifest has at most 64 configurations, in all roles`() throws {
    #expect(try ManifestTests.manifest(configurations([64])).configurations.count == 64)
    #expect(try ManifestTests.manifest(configurations([30, 34])).configurations.count == 64)
    for counts in [[65], [64, 1], [1, 64], [64, 0, 1]] {
      let faults = #expect(throws: Faults.self) { try ManifestTests.manifest(configurations(counts)) }
      let place = "UIApplicationSceneManifest.UISceneConfigurations"
      #expect(faults?.all == [Fault(.limit, at: place, "expected at most 64 configurations, got 65")])
    }
  }

  @Test func `a place of the last configuration fits into a word`() {
    #expect(Limits.configurations <= UInt64.bitWidth)
  }

  private func declaring(_ kind: String, _ count: Int, taking: Int = 0) -> String {
    let types = (0..<count).map { "\"a/b\($0)\"" }.joined(separator: ",")
    let list = kind == "NSUserActivityTypes" ? types : "{\"LSItemContentTypes\":[\(types)]}"
    let taken = [String](repeating: "\"a/b0\"", count: taking).joined(separator: ",")
    let key = kind == "NSUserActivityTypes" ? "StagedoorActivityTypes" : "StagedoorContentTypes"
    return ManifestTests.json("\"\(kind)\":[\(list)],", configuration: "\"\(key)\":[\(taken)],")
  }

  @Test(arguments: [
    ("NSUserActivityTypes", "NSUserActivityTypes[1000]", "activity types"),
    ("CFBundleDocumentTypes", "CFBundleDocumentTypes[0].LSItemContentTypes[1000]", "content types"),
  ])
  func `a manifest declares at most 1000 types of a kind`(kind: String, place: String, what: String) throws {
    _ = try ManifestTests.manifest(declaring(kind, Limits.types))
    for count in [Limits.types + 1, Limits.types + 500] {
      let faults = #expect(throws: Faults.self) { try ManifestTests.manifest(declaring(kind, count)) }
      #expect(faults?.all == [Fault(.limit, at: place, "expected at most 1000 \(what) in a manifest")])
    }
  }

  @Test(arguments: [
    ("NSUserActivityTypes", "StagedoorActivityTypes", "activity types"),
    ("CFBundleDocumentTypes", "StagedoorContentTypes", "content types"),
  ])
  func `its configurations take at most 1000 of them`(kind: String, key: String, what: String) throws {
    _ = try ManifestTests.manifest(declaring(kind, 1, taking: Limits.types))
    let faults = #expect(throws: Faults.self) {
      try ManifestTests.manifest(declaring(kind, 1, taking: Limits.types + 1))
    }
    let main = "UIApplicationSceneManifest.UISceneConfigurations.UIWindowSceneSessionRoleApplication[0]"
    #expect(faults?.all == [Fault(.limit, at: "\(main).\(key)[1000]", "expected at most 1000 \(what) in a manifest")])
  }

  @Test func `types are counted over all document types and all configurations`() {
    let six = "[" + (0..<600).map { "\"a/b\($0)\"" }.joined(separator: ",") + "]"
    let json = ManifestTests.json(
      "\"CFBundleDocumentTypes\":[{\"LSItemContentTypes\":\(six)},{\"LSItemContentTypes\":\(six)}],")
    let faults = #expect(throws: Faults.self) { try ManifestTests.manifest(json) }
    #expect(faults?.all.map(\.place) == ["CFBundleDocumentTypes[1].LSItemContentTypes[400]"])
  }

  @Test(arguments: [
    ("CFBundleDisplayName", Limits.text), ("CFBundleName", Limits.text), ("StagedoorExec", Limits.text),
  ])
  func `a text has as many bytes as its limit, and not one more`(key: String, limit: Int) throws {
    func json(_ bytes: Int) -> String { ManifestTests.json("\"\(key)\":\"\(String(repeating: "x", count: bytes))\",") }
    _ = try ManifestTests.manifest(json(limit))
    let faults = #expect(throws: Faults.self) { try ManifestTests.manifest(json(limit + 1)) }
    #expect(faults?.all == [Fault(.limit, at: key, "expected at most \(limit) bytes, got \(limit + 1)")])
  }

  @Test func `the limit of bytes holds at n and n + 1 in every form`() throws {
    let json = Array(ManifestTests.json().utf8)
    let longest = json + [UInt8](repeating: 0x20, count: Limits.manifest - json.count)
    _ = try Manifest(longest, types: ManifestTests.types)
    let fault = Fault(.limit, at: "", "expected at most 1048576 bytes, got 1048577")
    let tooLong = #expect(throws: Faults.self) { try Manifest(longest + [0x20], types: ManifestTests.types) }
    #expect(tooLong?.all == [fault])
    let error = InterchangeError(manifest: Faults(fault))
    #expect(error.name == .limitsExceeded)
    #expect(error.message == "manifest: expected at most 1048576 bytes, got 1048577")
    let list = PropertyList.write(try JSON.value(Text(ManifestTests.json())), as: .xml)
    let tooLongList = #expect(throws: Faults.self) {
      try Manifest(list + [UInt8](repeating: 0x20, count: Limits.manifest + 1 - list.count), types: ManifestTests.types)
    }
    #expect(tooLongList?.all == [fault])
  }
}
