import DBusTestSupport
import Foundation
import StagedoorKit
import Testing

extension StageTests {
  /// The first thing that the repository shows: drops typed in a terminal.
  @Suite struct FilmTests {
    private let cats = Play("Cats")

    @Test func `two drops open two windows, and the second drop of the same cat brings its window to the front`()
      async throws
    {
      try await Desktop.run(cats) { desktop in
        var environment = desktop.environment
        let command = Command.built("stagedoor", environment: environment).program
        environment["PATH"] = "\(URL(filePath: command).deletingLastPathComponent().path):/usr/local/bin:/usr/bin:/bin"
        environment["PS1"] = "$ "
        let terminal = Command(
          "xterm", "-T", "Terminal", "-fa", "DejaVu Sans Mono", "-fs", "13", "-geometry", "84x10+0+0", "-bg", "#fdf6e3",
          "-fg", "#333333", "-e", "bash", "--norc", "--noprofile", environment: environment)
        try await terminal.whileRunning { _ in
          try await desktop.place("Terminal", at: 30, 500)
          let film = try Film(on: desktop, "960x730+12+0")
          for (name, x, y) in [("Tom", 60, 14), ("Luna", 300, 26)] {
            try await type("stagedoor drop --type \(Cats.view) --target \(name)", on: desktop, film)
            let window = try await desktop.window(titled: name)
            try await desktop.xdotool("windowmove", "--sync", window, "\(x)", "\(y)")
            try await desktop.windows(of: cats, "the window of \(name)") {
              $0.last?.title == name && $0.lastHasFocus
            }
            try await desktop.pause(0.8)
            try await film.frame(for: 1.2)
          }
          try await type("stagedoor drop --type \(Cats.view) --target Tom", on: desktop, film)
          let windows = try await desktop.windows(of: cats, "Tom in front") { $0.firstHasFocus }
          #expect(windows.map(\.title) == ["Tom", "Luna"])
          try await desktop.pause(0.8)
          try await film.frame(for: 4)
          try await film.develop("../../docs/drop.gif")
        }
        try await desktop.action("quit", of: cats.identifier)
      }
    }

    private enum Cats { static let view = "org.stagedoor.examples.Cats.viewCat" }

    /// Types a command into the terminal, so that a film shows it.
    private func type(_ command: String, on desktop: Desktop, _ film: Film) async throws {
      try await desktop.xdotool("windowactivate", "--sync", try await desktop.window(titled: "Terminal"))
      try await desktop.xdotool("mousemove", "1200", "760")
      var rest = command[...]
      while !rest.isEmpty {
        try await desktop.type(String(rest.prefix(6)))
        rest = rest.dropFirst(6)
        try await film.frame(for: 0.12)
      }
      try await film.frame(for: 0.5)
      try await desktop.key("Return")
    }
  }
}

/// A moving picture of a part of the screen. It is made only while the pictures of the pages are taken.
private actor Film {
  private let desktop: Desktop
  private let part: String
  private let folder: URL
  private var frames: [String] = []
  private let isTaken = ProcessInfo.processInfo.environment["STAGE_PICTURES"] != nil

  init(on desktop: Desktop, _ part: String) throws {
    (self.desktop, self.part) = (desktop, part)
    folder = URL(filePath: "\(desktop.environment["TMPDIR"] ?? "")/film")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Adds what the screen shows now.
  func frame(for seconds: Double) async throws {
    if !isTaken { return }
    let file = folder.appending(path: "\(frames.count / 3).png").path
    _ = try await Command(
      "import", "-window", "root", "-crop", part, "+repage", file, environment: desktop.environment
    ).output()
    frames += ["-delay", "\(Int(seconds * 100))", file]
  }

  func develop(_ path: String) async throws {
    if !isTaken { return }
    let file = Desktop.package.appending(path: path)
    _ = try await Command(
      "convert",
      arguments: ["-loop", "0"] + frames + [
        "-resize", "720x", "+dither", "-colors", "64", "+map", "-layers", "OptimizeFrame", file.path,
      ], environment: desktop.environment
    ).output()
  }
}
