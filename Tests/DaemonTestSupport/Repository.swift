import FoundationEssentials

/// The files that these tests run.
package enum Repository {
  package static let path = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

  package static func text(of file: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(file)")), as: UTF8.self)
  }

  /// The Swift files below a folder.
  package static func texts(below folder: String) throws -> [String] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: "\(path)/\(folder)")
    return try files.filter { $0.hasSuffix(".swift") }.map { try text(of: "\(folder)/\($0)") }
  }
}
