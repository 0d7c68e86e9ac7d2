import FoundationEssentials
import SceneModel
import SceneTestSupport
import Testing

@Suite struct PropertyListFixtureTests {
  @Test(arguments: Fixture.all)
  func `a manifest says the same in both forms`(name: String) throws {
    let xml = try PropertyList.read(Fixture.xml(name))
    let binary = try PropertyList.read(Fixture.binary(name))
    #expect(xml.format == .xml)
    #expect(binary.format == .binary)
    #expect(xml.value == binary.value)
  }

  @Test func `every kind of value is read`() throws {
    let expected: Value = [
      "array": [true, false, [], [:], ""], "data": .data(Array(0..<64)),
      "date": .date(Instant(microseconds: 1_777_636_800_000_000)),
      "early": .date(Instant(microseconds: 946_684_799_000_000)),
      "integers": [
        0, 255, 256, 65536, 4_294_967_295, 4_294_967_296, .integer(.max), -1, .integer(.min),
      ],
      "long and unlike any other: é, 猫, 🎭": " kept as it <is>:\n\ttabs\t& lines ", "real": [0.5, -1e300, 5.0],
    ]
    #expect(try PropertyList.read(Fixture.xml("EveryKind")).value == expected)
  }

  @Test(arguments: Fixture.manifests)
  func `Apple's layout comes back byte by byte, but for the order of keys`(name: String) throws {
    let read = try Fixture.xml(name)
    let written = PropertyList.write(try PropertyList.read(read).value, as: .xml)
    func lines(_ bytes: [UInt8]) -> [String] {
      String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
    }
    #expect(lines(read) == lines(written))
  }
}

/// Real manifests. The binary ones are made from the others:
///
/// ```sh
/// python3 -c 'import plistlib, sys; plistlib.dump(plistlib.load(open(sys.argv[1], "rb")), open(sys.argv[2], "wb"),
///   fmt=plistlib.FMT_BINARY)' Gallery.plist Gallery.binary.plist
/// ```
enum Fixture {
  static let manifests = ["BuiltApp", "Gallery", "Notes", "SwiftUIProject", "UIKitProject"]
  static let all = manifests + ["EveryKind"]

  static func xml(_ name: String) throws -> [UInt8] { try bytes("\(name).plist") }
  static func binary(_ name: String) throws -> [UInt8] { try bytes("\(name).binary.plist") }

  private static func bytes(_ file: String, beside source: String = #filePath) throws -> [UInt8] {
    let folder = try #require(source.lastIndex(of: "/"))
    let data = try #require(FileManager.default.contents(atPath: source[..<folder] + "/Fixtures/" + file))
    return [UInt8](data)
  }
}

@Suite struct PropertyListRoundTripTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `every value comes back as it was`(seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    for _ in 0..<rounds(1250) {
      let value = generator.value()
      for format in PropertyList.Format.allCases {
        let form = TaggedForm.propertyList(format)
        let bytes = PropertyList.write(value, as: format)
        let tree = try PropertyList.read(bytes)
        #expect(tree.format == format)
        #expect(tree.value == value.tagged(in: form))
        #expect(try Value(tagged: tree.value, in: form) == value)
      }
      #expect(try Value(tagged: value.tagged(in: .json), in: .json) == value)
    }
  }

  @Test(arguments: PropertyList.Format.allCases)
  func `the sign of a zero is kept`(format: PropertyList.Format) throws {
    guard case .double(let zero) = try PropertyList.readTagged(PropertyList.write(-0.0, as: format)) else {
      Issue.record("no double")
      return
    }
    #expect(zero.sign == .minus)
  }

  @Test func `large binary documents have longer references`() throws {
    for count in [100, 300, 70_000] {
      let value = Value.array((0..<count).map { .integer(Int64($0)) })
      #expect(try PropertyList.readTagged(PropertyList.write(value, as: .binary)) == value)
    }
  }
}
