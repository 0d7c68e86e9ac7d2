import FoundationEssentials

/// The files that these tests read.
enum Repository {
  static let path = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

  static func text(of file: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(file)")), as: UTF8.self)
  }
}
