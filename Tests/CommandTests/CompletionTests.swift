import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// Completions as a user gets them: a real shell, and a tab. Each shell reads its installed script.
@Suite struct CompletionTests {
  /// Each shell without personal settings, and the way to load the script into it.
  private static let shells = [
    (["bash", "--norc", "--noprofile", "-i"], "source '%'"),
    (["zsh", "-f", "-i"], "autoload -Uz compinit && compinit -u -D && source '%'"),
    (["fish", "--no-config", "-i"], "source '%'"),
  ]

  @Test(.gallery, arguments: shells)
  func `a tab completes commands, options, words, files and what there is at the moment`(
    shell: [String], setup: String
  ) async throws {
    let photo = try await house.drop(photo: "photo-7")
    try house.write("", to: "\(house.home)/a_file.txt")
    let cases = [
      ("stagedoor sess", "sessions"), ("stagedoor close --anim", "--animation"),
      ("stagedoor close --animation de", "decline"), ("stagedoor drop --wait=ha", "handled"),
      ("stagedoor drop a_f", "a_file.txt"), ("stagedoor drop --app org.ex", House.gallery),
      ("stagedoor drop --app=org.ex", House.gallery), ("stagedoor new Gallery De", "Detail"),
      ("stagedoor drop --app=Gallery -c De", "Detail"), ("stagedoor --color=never sess", "sessions"),
      ("stagedoor activate \(photo.session.prefix(9))", photo.session),
      ("stagedoor cancel \(photo.delivery.prefix(9))", photo.delivery),
    ]
    for (line, word) in cases { try await house.type(line, until: word, "", in: shell, setup).expect(ends: 0) }
  }

  @Test(.service, arguments: shells)
  func `what somebody else has named is one word, and nothing of it runs`(shell: [String], setup: String) async throws {
    let names = ["Detail;touch ${HOME}/pwned;", "Cat $(touch pwned)`touch pwned` 'Detail\"\\|&><"]
    let configurations = names.map { name in
      Manifests.configuration(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))
    }
    let manifest = Manifests.application(
      House.gallery, types: House.openDetail, configurations: configurations.joined(separator: ", "))
    try await said("register", "-", input: manifest)
    for (line, word, name) in [
      ("stagedoor new Gallery Det", "pwned", names[0]), ("stagedoor new Gallery Cat", "&", names[1]),
    ] {
      try await house.type(line, until: word, "created", in: shell, setup).expect(ends: 0)
      #expect(try await said("sessions").contains("\t\(name)\t"), "\(shell[0]): \(name)")
    }
    #expect(!FileManager.default.fileExists(atPath: "\(house.home)/pwned"))
  }

  @Test(.house) func `a tab starts no service`() async throws {
    try await house.installService("--durability", "memory")
    #expect(try await said("__complete", "bash", "close", "") == "")
    #expect(try await house.watcher.owner(of: House.name) == nil)
  }
}

extension House {
  /// Types a line and a tab into a shell, and waits for a word; then enters the line, if there is an answer to wait for.
  fileprivate func type(
    _ line: String, until word: String, _ answer: String, in shell: [String], _ setup: String
  ) -> Command {
    let script = "\(Repository.path)/Sources/stagedoor/Completions/\(shell[0])"
    let typist = "\(Repository.path)/Tests/CommandTests/press_tab.py"
    var typed = command("python3", arguments: [typist, word, answer, setup.replacing("%", with: script), line] + shell)
    typed.directory = home
    typed.environment["TERM"] = "xterm"
    typed.lookFirst(in: Command.builtFolder)
    return typed
  }
}
