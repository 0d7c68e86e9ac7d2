import DBus
import SceneModel
import Testing

@testable import InterchangeWire

@Suite struct HostOptionsTests {
  @Test func `unknown ones are passed over, and one of a wrong type is named`() throws {
    let options: [String: Variant] = ["understudy": true, "path": .objectPath("/here"), "new": .int32(1)]
    #expect(try HostOptions(options) == HostOptions(isUnderstudy: true, path: "/here"))
    for (name, type) in [("choosesConfiguration", "b"), ("understudy", "b"), ("acceptsSandboxed", "b"), ("path", "o")] {
      let error = #expect(throws: InterchangeError.self) { try HostOptions([name: "yes"]) }
      #expect(error?.name == .invalidArgs)
      #expect(error?.message == "options.\(name): expected a value of type \"\(type)\", found \"s\"")
    }
  }
}
