import DBusTestSupport
import DaemonTestSupport
import Testing

/// Completions as a person has them: a real shell, and a tab. Each shell reads the script that is installed for it.
@Suite struct CompletionTests {
  /// Each shell as it begins without anybody's settings, and how it is told of the script.
  private static let shells = [
    (["bash", "--norc", "--noprofile", "-i"], "source '%'"),
    (["zsh", "-f", "-i"], "autoload -Uz compinit && compinit -u -D && source '%'"),
    (["fish", "--no-config", "-i"], "source '%'"),
  ]

  @Test(arguments: shells)
  func `a tab completes commands, options, words, files and what there is at the moment`(
    shell: [String], setup: String
  ) async throws {
    try await withService { house async throws in
      try await house.registerGallery()
      let photo = try await house.drop(photo: "photo-7")
      try house.write("", to: "\(house.home)/a_file.txt")
      let cases = [
        ("stagedoor sess", "sessions"), ("stagedoor close --anim", "--animation"),
        ("stagedoor close --animation de", "decline"), ("stagedoor drop --wait=ha", "handled"),
        ("stagedoor drop a_f", "a_file.txt"), ("stagedoor drop --app org.ex", House.gallery),
        ("stagedoor drop --app=org.ex", House.gallery), ("stagedoor new Gallery De", "Detail"),
        ("stagedoor activate \(photo.session.prefix(9))", photo.session),
        ("stagedoor cancel \(photo.delivery.prefix(9))", photo.delivery),
      ]
      let folder = Command.built("stagedoor").program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
      for (line, word) in cases {
        let script = "\(Repository.path)/docs/completions/\(shell[0])"
        var typed = house.command(
          "python3",
          arguments: [
            "\(Repository.path)/Tests/CommandTests/press_tab.py", word, setup.replacing("%", with: script), line,
          ] + shell)
        typed.directory = house.home
        typed.environment["TERM"] = "xterm"
        typed.environment["PATH"] = "\(folder):\(typed.environment["PATH"] ?? "/usr/bin:/bin")"
        let result = try await typed.run()
        #expect(result.status.isSuccess, "\(shell[0]): \(line): \(result)")
      }
    }
  }
}
