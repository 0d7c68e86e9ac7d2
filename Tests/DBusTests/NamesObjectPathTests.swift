import DBus
import SceneTestSupport
import Testing

/// Taking object paths apart and putting them together.
@Suite struct NamesObjectPathTests {
  private static let paths: [ObjectPath] = ["/", "/a", "/a/b", "/a/bc", "/a/b/c", "/ab", "/_2e/_", "/a/b/c/d/e/f"]

  @Test(arguments: paths) func `elements after slashes are the path again`(path: ObjectPath) {
    #expect("/" + path.elements.joined(separator: "/") == path.rawValue)
    #expect(path.lastElement == path.elements.last ?? "")
  }

  @Test(arguments: paths) func `the parent with the last element is the path again`(path: ObjectPath) throws {
    guard let parent = path.parent else {
      #expect(path == .root)
      return
    }
    #expect(try parent.appending(String(path.lastElement)) == path)
    #expect(path.isDescendant(of: parent))
    #expect(parent.elements == path.elements.dropLast())
  }

  @Test(arguments: paths, paths)
  func `a descendant is what has the other's elements in front of its own`(path: ObjectPath, other: ObjectPath) {
    let expected = path.elements.count > other.elements.count && path.elements.starts(with: other.elements)
    #expect(path.isDescendant(of: other) == expected)
  }

  @Test(arguments: ["", "a/b", "/", "a.b", "é", "a\u{0}"]) func `no such element can be appended`(element: String) {
    #expect(throws: InvalidName.self) { try ObjectPath.root.appending(element) }
    #expect(throws: InvalidName.self) { try ObjectPath("/a").appending(element) }
  }

  @Test(arguments: [
    ("", "/x/_"), ("a", "/x/a"), ("7", "/x/_37"), ("a7", "/x/a7"), ("_", "/x/_5f"), ("__", "/x/_5f_5f"),
    ("org.example.Gallery", "/x/org_2eexample_2eGallery"), ("é", "/x/_c3_a9"), ("\u{0}", "/x/_00"), ("/", "/x/_2f"),
  ])
  func `a label is spelled as sd_bus_path_encode spells it`(label: String, expected: String) {
    let path = ObjectPath("/x").appending(label: label)
    #expect(path.rawValue == expected)
    #expect(path.label == label)
  }

  @Test func `every label comes back, and makes a path that is valid`() {
    var random = SeededRandom(seed: 11)
    let pieces = [
      "", "a", "Z", "9", "_", "_2e", ".", "/", "é", "e\u{301}", "🎭", "\u{0}", " ", "%", "\u{FFFF}", "org.example",
    ]
    for _ in 0..<5000 {
      let label = random.several(5) { $0.one(of: pieces) }.joined()
      let parent = random.one(of: Self.paths)
      let path = parent.appending(label: label)
      #expect(ObjectPath.fault(in: path.rawValue) == nil)
      // Canonically equivalent strings are different labels.
      #expect(path.label.map { Array($0.utf8) } == Array(label.utf8))
      #expect(path.parent == parent)
    }
  }

  @Test(arguments: [
    "/", "/_2", "/a_", "/_g0", "/_0g", "/_ff", "/_c3", "/_c3_28",
    // These are not the spelling of a label: otherwise two paths would mean the same thing.
    "/7", "/_2E", "/_61", "/a_37", "/__", "/_5f_",
  ])
  func `no label was made into this`(path: ObjectPath) {
    #expect(path.label == nil)
  }

  @Test func `a path that has a label is the path of that label`() {
    var random = SeededRandom(seed: 12)
    var found = 0
    for _ in 0..<5000 {
      let element = "_" + random.several(4) { $0.one(of: ["a", "_", "2", "e", "E", "_2e", "5f", "0"]) }.joined()
      guard let path = try? ObjectPath("/x").appending(element), let label = path.label else { continue }
      found += 1
      #expect(ObjectPath("/x").appending(label: label) == path)
    }
    #expect(found > 100)
  }
}
