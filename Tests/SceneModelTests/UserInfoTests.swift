import SceneModel
import SceneTestSupport
import Testing

@Suite struct UserInfoTests {
  private func entry(_ key: Text, _ value: Value) -> UserInfo.Entry { UserInfo.Entry(key: key, value: value) }

  @Test func `entries are in the order of their keys' bytes`() throws {
    let info: UserInfo = ["b": 1, "é": 2, "": 3, "a": 4, "B": 5, "e\u{301}": 6]
    #expect(info.entries.map(\.key) == ["", "B", "a", "b", "e\u{301}", "é"])
    #expect(info == UserInfo(info.entries.reversed()))
    #expect(info.hashValue == UserInfo(info.entries.reversed())?.hashValue)
  }

  @Test func `a key stands once`() {
    let entries = [entry("b", 1), entry("a", 2), entry("b", 3), entry("a", 4)]
    #expect(UserInfo(entries) == nil)
    #expect(UserInfo.duplicate(in: entries) == "a")
    #expect(UserInfo.duplicate(in: [entry("a", 1), entry("b", 1)]) == nil)
    #expect(UserInfo([])?.isEmpty == true)
  }

  @Test func `it is looked up, set and removed like any dictionary`() {
    var random = SeededRandom(seed: 6)
    let keys = (0..<40).map { Text("key \($0)") }
    var info = UserInfo()
    var model: [Text: Value] = [:]
    for _ in 0..<2000 {
      let key = random.one(of: keys)
      let value: Value? = random.once(in: 3) ? .none : .integer(Int64(random.below(5)))
      info[key] = value
      model[key] = value
      #expect(info.count == model.count)
      for key in keys { #expect(info[key] == model[key]) }
    }
    #expect(info.entries.map(\.key) == model.keys.sorted())
  }

  @Test func `null is a value`() {
    var info: UserInfo = ["a": nil]
    #expect(info["a"] == .some(.null))
    #expect(info.count == 1)
    #expect(info["b"] == .none)
    info["a"] = .none
    #expect(info["a"] == .none)
    #expect(info.isEmpty)
  }

  @Test func `keys stay as values are made anew`() throws {
    let info: UserInfo = ["b": 1, "a": 2]
    #expect(info.mapValues { .string($0.key) } == ["a": "a", "b": "b"])
    #expect(throws: Fault.self) {
      try info.mapValues { (entry) throws(Fault) in throw Fault(at: "", entry.key.string) }
    }
  }
}
