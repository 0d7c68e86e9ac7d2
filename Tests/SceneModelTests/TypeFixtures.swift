import FoundationEssentials
import SceneModel
import SceneTestSupport

/// The databases that tests of types read.
enum TypeFixtures {
  /// A part of the shared MIME database.
  static var database: TypeDatabase {
    get throws { try database(in: "\(Page.repository)/Tests/SceneModelTests/Fixtures/mime") }
  }

  /// The place of a desktop's own database.
  static let installed = "/usr/share/mime"
  static var isInstalled: Bool { (try? database(in: installed)) != nil }

  static func database(in directory: String) throws -> TypeDatabase {
    TypeDatabase(
      name: directory, subclasses: Array(try Data(contentsOf: URL(filePath: "\(directory)/subclasses"))),
      aliases: Array(try Data(contentsOf: URL(filePath: "\(directory)/aliases"))))
  }

  /// All names of a database.
  static func names(in database: TypeDatabase) -> [String] {
    let lines = [database.subclasses, database.aliases].flatMap { $0.split(separator: UInt8(ascii: "\n")) }
    let words = lines.filter { $0.first != UInt8(ascii: "#") }.flatMap { $0.split(separator: UInt8(ascii: " ")) }
    return Set(words.map { String(decoding: $0, as: UTF8.self) }).sorted()
  }
}

extension TypeDatabase {
  init(_ name: String = "mime", subclasses: String = "", aliases: String = "") {
    self.init(name: name, subclasses: Array(subclasses.utf8), aliases: Array(aliases.utf8))
  }
}

extension TypeCatalog {
  func conforms(_ type: String, to other: String) throws -> Bool {
    conforms(try .asked(type), to: try .asked(other))
  }

  func canonical(_ type: String) throws -> String { canonical(try .asked(type)).text.string }
}

extension ContentType {
  static func asked(_ text: String) throws -> ContentType { try ContentType(Text(text), as: .asked, at: .document) }
}
