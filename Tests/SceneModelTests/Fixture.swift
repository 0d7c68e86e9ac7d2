import FoundationEssentials
import Testing

/// Real manifests. The binary ones are made from the others:
///
/// ```sh
/// python3 -c 'import plistlib, sys; plistlib.dump(plistlib.load(open(sys.argv[1], "rb")), open(sys.argv[2], "wb"),
///   fmt=plistlib.FMT_BINARY)' Gallery.plist Gallery.binary.plist
/// ```
enum Fixture {
  static let manifests = [
    "BuiltApp", "Dates", "Gallery", "Journalyst", "MultiWindowCats", "Notes", "SwiftUIProject", "UIKitProject",
  ]
  static let all = manifests + ["EveryKind"]

  static func xml(_ name: String) throws -> [UInt8] { try bytes("\(name).plist") }
  static func binary(_ name: String) throws -> [UInt8] { try bytes("\(name).binary.plist") }

  private static func bytes(_ file: String, beside source: String = #filePath) throws -> [UInt8] {
    let folder = try #require(source.lastIndex(of: "/"))
    let data = try #require(FileManager.default.contents(atPath: source[..<folder] + "/Fixtures/" + file))
    return [UInt8](data)
  }
}
