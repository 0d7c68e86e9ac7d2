import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// Compares a text with the stored one. With `STAGEDOOR_RECORD=1` it stores the text instead.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let path = "\(Repository.path)/Tests/CommandTests/Snapshots/\(name).txt"
  if ProcessInfo.processInfo.environment["STAGEDOOR_RECORD"] != nil {
    try Data(text.utf8).write(to: URL(filePath: path))
    return
  }
  let kept = try? String(contentsOf: URL(filePath: path), encoding: .utf8)
  #expect(text == kept, "it differs from \(path)", sourceLocation: sourceLocation)
}

extension String {
  /// The text without identifiers and times, which change with each run.
  var normalized: String {
    replacing(#/\b[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}\b/#) { _ in
      "00000000-0000-0000-0000-000000000000"
    }
    .replacing(#/\b[0-9a-f]{8}\b/#) { _ in "00000000" }
    .replacing(#/\b\d{4}-\d\d-\d\dT[\d:.]+Z\b/#) { _ in "2026-01-01T00:00:00Z" }
  }
}

extension House {
  static let gallery = "org.example.Gallery"
  static let openDetail = "org.example.Gallery.openDetail"

  /// The command as a user in this house would type it.
  func stagedoor(_ arguments: String..., input: String = "") -> Command {
    var command = command(Command.built("stagedoor").program, arguments: arguments)
    command.input = input
    return command
  }

  /// The command on a terminal with this number of columns.
  func stagedoor(columns: Int, input: String = "-", _ arguments: String..., environment more: [String: String] = [:])
    -> Command
  {
    let words =
      ["\(Repository.path)/Tests/CommandTests/terminal.py", "\(columns)", input, Command.built("stagedoor").program]
      + arguments
    var command = command("python3", arguments: words)
    command.environment["TERM"] = "xterm"
    command.environment["NO_COLOR"] = nil
    command.environment.merge(more) { $1 }
    return command
  }

  /// Declares the gallery, which has two kinds of windows and no program.
  func registerGallery() async throws {
    try write(Self.galleryManifest, to: "\(home)/gallery.json")
    _ = try await stagedoor("register", "\(home)/gallery.json").output()
  }

  static let galleryManifest = Manifests.application(
    gallery, types: openDetail,
    configurations: Manifests.configuration("Overview") + ", "
      + Manifests.configuration(
        "Detail", types: openDetail,
        more: #", "StagedoorContentTypes": ["public.image", "text/plain", "x-scheme-handler/https"]"#),
    more:
      #""CFBundleDisplayName": "Gallery", "CFBundleDocumentTypes": [{"LSItemContentTypes": ["public.image", "text/plain", "x-scheme-handler/https"]}],"#
  )

  var home: String { environment["HOME"] ?? "" }

  /// Drops a photo, and returns the session and the delivery.
  func drop(photo: String, _ more: String...) async throws -> (outcome: String, session: String, delivery: String) {
    let arguments = ["drop", "--type", Self.openDetail, "--target", photo, "--deadline", "3600"] + more
    let line = try await command(Command.built("stagedoor").program, arguments: arguments).output()
    let fields = line.split(separator: "\t").map(String.init)
    try #require(fields.count == 3, "\(line)")
    return (fields[0], fields[1], fields[2])
  }
}
