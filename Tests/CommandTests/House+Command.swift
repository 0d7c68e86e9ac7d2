import DBusTestSupport
// Every test here lives in a house.
@_exported import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

extension Trait where Self == InHouse {
  /// A service that knows the gallery.
  static var gallery: Self {
    InHouse { test in
      try await withService { house in
        try await house.registerGallery()
        try await InHouse.$house.withValue(house) { try await test() }
      }
    }
  }
}

// MARK: - What the command says

/// The output of the command, which succeeds.
@discardableResult func said(_ words: String..., input: String = "") async throws -> String {
  try await said(words, input: input)
}

@discardableResult func said(_ words: [String], input: String = "") async throws -> String {
  try await house.stagedoor(words, input: input).output()
}

func ran(_ words: String..., input: String = "") async throws -> Command.Result { try await ran(words, input: input) }

func ran(_ words: [String], input: String = "") async throws -> Command.Result {
  try await house.stagedoor(words, input: input).run()
}

@discardableResult func expect(
  _ words: [String], input: String = "", ends status: Int32, _ sentence: String? = nil, with part: String = "",
  output: String = "", sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Command.Result {
  try await house.stagedoor(words, input: input).expect(
    ends: status, sentence, with: part, output: output, sourceLocation: sourceLocation)
}

extension Command {
  /// Runs the command, which ends with this status, says this sentence, or one with this part, and has this in its output.
  @discardableResult func expect(
    ends status: Int32, _ sentence: String? = nil, with part: String = "", output: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Result {
    let result = try await run()
    let said = result.standardError
    let isSaid = sentence.map { said == "stagedoor \(arguments[0]): \($0)\n" } ?? (part.isEmpty || said.contains(part))
    #expect(
      result.status == .exited(status) && isSaid && (output.isEmpty || result.standardOutput.contains(output)),
      "\(self): \(result)", sourceLocation: sourceLocation)
    return result
  }
}

extension House {
  // MARK: Programs

  /// The command as a user in this house would type it, at home.
  func stagedoor(_ words: String..., input: String = "") -> Command { stagedoor(words, input: input) }

  func stagedoor(_ words: [String], input: String = "") -> Command {
    var command = command(Command.built("stagedoor").program, arguments: words)
    command.input = input
    command.directory = home
    return command
  }

  /// The command on a terminal with this number of columns. Its standard input is a file, or "-" for the terminal.
  func stagedoor(
    columns: Int, input: String = "-", _ words: [String], environment more: [String: String] = [:]
  ) -> Command {
    let terminal = "\(Repository.path)/Tests/CommandTests/terminal.py"
    let program = Command.built("stagedoor").program
    var command = command("python3", arguments: [terminal, "\(columns)", input, program] + words)
    command.environment["TERM"] = "xterm"
    command.environment["NO_COLOR"] = nil
    command.environment.merge(more) { $1 }
    return command
  }

  /// A line for a shell, which starts in the home. The command is `$0`.
  func shell(_ line: String, in shell: String = "sh", _ words: String...) -> Command {
    var command = command(shell, arguments: ["-c", line, Command.built("stagedoor").program] + words)
    command.directory = home
    return command
  }

  // MARK: The gallery

  static let gallery = "org.example.Gallery"
  static let openDetail = "org.example.Gallery.openDetail"

  /// Declares the gallery, which has two kinds of windows and no program.
  func registerGallery() async throws {
    try write(Self.galleryManifest, to: "\(home)/gallery.json")
    _ = try await stagedoor("register", "\(home)/gallery.json").output()
  }

  /// Declares another application with the same windows.
  func registerOther() async throws {
    let other = Self.galleryManifest.replacing("\"\(Self.gallery)\"", with: "\"org.example.Other\"")
    _ = try await stagedoor("register", "-", input: other).output()
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

  /// Drops a photo, and returns the session and the delivery.
  @discardableResult func drop(
    photo: String, _ more: String...
  ) async throws -> (outcome: String, session: String, delivery: String) {
    let words = ["drop", "--type", Self.openDetail, "--target", photo, "--deadline", "3600"] + more
    let line = try await stagedoor(words).output()
    let fields = line.split(separator: "\t").map(String.init)
    try #require(fields.count == 3, "\(line)")
    return (fields[0], fields[1], fields[2])
  }

  /// Runs `body` while commands are the gallery's windows.
  @discardableResult func hosting<Result>(
    _ connect: String, _ more: String..., savingIn folder: String? = nil,
    body: (RunningCommand) async throws -> Result
  ) async throws -> Result {
    var host = stagedoor(["host", "--app", Self.gallery, "--connect", connect] + more)
    if let folder { host.environment["TMPDIR"] = folder }
    return try await host.whileRunning { host async throws in try await body(host) }
  }

  /// The identifiers of the sessions, the oldest first.
  func sessions() async throws -> [String] {
    try await stagedoor("sessions", "--print", "session").output().split(separator: "\n").map(String.init)
  }
}

extension Command {
  /// The folder of the programs that are built here.
  static let builtFolder = URL(filePath: Command.built("stagedoor").program).deletingLastPathComponent().path
}

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
