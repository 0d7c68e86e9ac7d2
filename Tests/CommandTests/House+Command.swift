import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

/// Runs `body` in a house with a service that knows the gallery, and keeps nothing on the disk.
func withGallery(_ body: (House) async throws -> Void) async throws {
  try await withService { house async throws in
    try await house.registerGallery()
    try await body(house)
  }
}

extension House {
  var home: String { environment["HOME"] ?? "" }

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
    columns: Int, input: String = "-", _ words: String..., environment more: [String: String] = [:]
  ) -> Command {
    stagedoor(columns: columns, input: input, words, environment: more)
  }

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
  func shell(_ line: String) -> Command {
    var command = command("sh", "-c", line, Command.built("stagedoor").program)
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
  func drop(photo: String, _ more: String...) async throws -> (outcome: String, session: String, delivery: String) {
    let words = ["drop", "--type", Self.openDetail, "--target", photo, "--deadline", "3600"] + more
    let line = try await stagedoor(words).output()
    let fields = line.split(separator: "\t").map(String.init)
    try #require(fields.count == 3, "\(line)")
    return (fields[0], fields[1], fields[2])
  }

  /// Runs `body` while commands are the gallery's windows.
  func hosting<Result>(
    _ connect: String, _ more: String..., body: (RunningCommand) async throws -> Result
  ) async throws -> Result {
    let host = stagedoor(["host", "--app", Self.gallery, "--connect", connect] + more)
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
