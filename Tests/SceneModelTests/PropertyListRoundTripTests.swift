import FoundationEssentials
import SceneModel
import SceneTestSupport
import Testing

@Suite struct PropertyListFixtureTests {
  @Test(arguments: Fixture.all)
  func `a manifest says the same in both forms`(name: String) throws {
    #expect(try PropertyList.read(Fixture.xml(name)) == PropertyList.read(Fixture.binary(name)))
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
    #expect(try PropertyList.read(Fixture.xml("EveryKind")) == expected)
  }
}

/// Real manifests. The binary ones are made from the others:
///
/// ```sh
/// python3 -c 'import plistlib, sys; plistlib.dump(plistlib.load(open(sys.argv[1], "rb")), open(sys.argv[2], "wb"),
///   fmt=plistlib.FMT_BINARY)' Gallery.plist Gallery.binary.plist
/// ```
enum Fixture {
  static let all = ["BuiltApp", "EveryKind", "Gallery", "Notes", "SwiftUIProject", "UIKitProject"]

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
        let fitting = value.fitting(format)
        #expect(try PropertyList.read(PropertyList.write(fitting, as: format)) == fitting)
      }
      #expect(try Value(tagged: value.tagged) == value)
    }
  }

  @Test(arguments: PropertyList.Format.allCases)
  func `the sign of a zero is kept`(format: PropertyList.Format) throws {
    guard case .double(let zero) = try PropertyList.read(PropertyList.write(-0.0, as: format)) else {
      Issue.record("no double")
      return
    }
    #expect(zero.sign == .minus)
  }
}
