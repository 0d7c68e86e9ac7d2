import FoundationEssentials

/// The files of this repository, which tests read and run.
package enum Repository {
  package static let path = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

  package static func text(of file: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(file)")), as: UTF8.self)
  }

  /// The files below a folder whose names have this ending.
  package static func texts(below folder: String, ending: String = ".swift") throws -> [String] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: "\(path)/\(folder)")
    return try files.filter { $0.hasSuffix(ending) }.map { try text(of: "\(folder)/\($0)") }
  }
}
