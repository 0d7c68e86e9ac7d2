import DBusTestSupport
import DaemonTestSupport
import Testing

/// The pages that are generated from the table of commands.
@Suite struct HelpTests {
  static let commands = [
    "drop", "open", "drag", "explain", "rules", "new", "sessions", "windows", "show", "activate", "refresh", "close",
    "watch", "deliveries", "wait", "cancel", "redirect", "apps", "prefer", "host", "register", "unregister", "check",
    "test", "install-manifest", "uninstall-manifest", "reset", "doctor", "help", "completions",
  ]

  private func command(_ words: [String]) -> Command { Command(Command.built("stagedoor").program, arguments: words) }

  private func shown(_ words: [String], columns: Int = 80) async throws -> String {
    var command = command(words)
    command.environment["COLUMNS"] = "\(columns)"
    return try await command.output() + "\n"
  }

  /// All pages are laid out by the same code, and the manual has the words of the others: this command has every part that there is.
  @Test func `the help of the program is as it is kept, and that of a command narrow and wide`() async throws {
    try expectSnapshot(try await shown(["--help"]), "help")
    var pages = ""
    for columns in [40, 120] {
      pages += "== \(columns) columns ==\n" + (try await shown(["wait", "--help"], columns: columns))
    }
    try expectSnapshot(pages, "help-wait")
  }

  @Test(arguments: [[]] + commands.map { [$0] })
  func `the help of each command says the same in each width, and fits into it`(words: [String]) async throws {
    var said: Set<[Substring]> = []
    for columns in [40, 80, 120] {
      let page = try await shown(words + ["--help"], columns: columns)
      // A line of an example is typed unchanged, so it is not broken.
      let prose = page.split(separator: "\n").filter {
        !$0.hasPrefix("  stagedoor") && !$0.contains(" | stagedoor") && !$0.contains("=$(")
      }
      #expect(prose.allSatisfy { $0.count <= max(columns, 30) }, "a line is longer than \(columns) columns")
      #expect(try await shown(["help"] + words, columns: columns) == page)
      said.insert(page.split(whereSeparator: \.isWhitespace))
    }
    #expect(said.count == 1)
  }

  @Test func `the program lists these commands and no other`() async throws {
    let offered = try await Command.built("stagedoor", "__complete", "fish", "").output()
    #expect(offered.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }.sorted() == Self.commands.sorted())
  }

  @Test func `the page of the manual is what the table says`() async throws {
    #expect(
      try await shown(["__manual"]) == Repository.text(of: "docs/stagedoor.1"),
      "`stagedoor __manual >docs/stagedoor.1` writes it")
  }

  @Test func `without a command it says on standard error how it is used, with status 2`() async throws {
    for words in [[], ["--color", "never"]] {
      let result = try await command(words).expect(ends: 2)
      #expect(result.standardError.hasPrefix("usage: stagedoor COMMAND") && result.standardOutput == "", "\(result)")
    }
  }

  @Test func `help is asked for in front of a command and behind it, and names the program's options`() async throws {
    let page = try await shown(["drop", "--help"])
    for (one, other) in [("--help", "drop"), ("-h", "drop"), ("help", "drop"), ("drop", "-h")] {
      #expect(try await shown([one, other]) == page, "\(one) \(other)")
    }
    let program = try await shown(["--help"])
    for option in ["--help", "--version", "--color WHEN"] { #expect(program.contains(option), "\(option)") }
    #expect(try await shown(["-V"]) == shown(["--version"]))
  }

  @Test func `it says its version, which is that of the service`() async throws {
    let command = try await Command.built("stagedoor", "--version").output()
    let service = try await Command.built("stagedoord", "--version").output()
    #expect(command.split(separator: " ").last == service.split(separator: " ").last)
  }

  private static let places = "there are {title}, {target}, {type}, {session}, {file} and {info.KEY}"
  private static let host = ["host", "--app", "org.example.Notes", "--connect"]

  @Test(arguments: [
    (["dorp"], "there is no command \"dorp\"; did you mean drop?"),
    (["list"], "there is no command \"list\"; did you mean rules, sessions, windows, deliveries, apps or check?"),
    (["frobnicate"], "there is no command \"frobnicate\"; `stagedoor --help` lists the commands"),
    (["drop", "--tagret", "x"], "there is no option --tagret; did you mean --target?"),
    (["drop", "-z"], "there is no option -z; `stagedoor drop --help` lists the options"),
    (["drop", "--type"], "--type needs a value: --type TYPE"),
    (["drop", "--new=yes", "x"], "--new takes no value; leave out \"=yes\""),
    (["drop", "--new", "--existing", "x"], "--new and --existing cannot go together; give one of them"),
    (["drop", "--type", "a", "--type", "b"], "--type is given twice; give it once"),
    (["drop", "-i", "key"], "-i takes KEY=VALUE, not \"key\""),
    (["drop", "--deadline", "soon"], "--deadline takes a number of seconds above 0, up to 3600, not \"soon\""),
    (["drop", "--wait=later"], "--wait must be routed or handled, not \"later\""),
    (["show"], "ID is missing: stagedoor show [OPTION]... ID"),
    (["show", "a", "b"], "\"b\" is one argument too many: stagedoor show [OPTION]... ID"),
    (
      ["host", "--app", "org.example.Notes"],
      "--connect is missing: stagedoor host --app APP --connect COMMAND [OPTION]..."
    ),
    (["completions", "tcsh"], "SHELL must be bash, zsh or fish, not \"tcsh\""),
    (["drop", "-jq"], "--json and --quiet cannot go together; give one of them"),
    (["sessions", "-q"], "there is no option -q; `stagedoor sessions --help` lists the options"),
    (["apps", "--print", "name,path"], "--print takes application, name or hostAttached, not \"path\""),
    (["--help", "dorp"], "there is no command \"dorp\"; did you mean drop?"),
    (["close"], "name windows, or all of an application with --app, or all with --all"),
    (["sessions", "-n", "0"], "-n takes a whole number from 1 to 4294967295, not \"0\""),
    (["watch", "--since", "now"], "--since takes a whole number of 0 or more, not \"now\""),
    (["--color", "never", "show"], "ID is missing: stagedoor show [OPTION]... ID"),
    (["--colour", "x"], "there is no option --colour; did you mean --color?"),
    (["show", "\u{1b}[2J", "x"], "\"x\" is one argument too many: stagedoor show [OPTION]... ID"),
    (["\u{1b}[2J"], "there is no command \"\\u{1b}[2J\"; `stagedoor --help` lists the commands"),
    (["close", "a", ""], "SESSION takes an identifier, not \"\""),
    (["sessions", "--app", ""], "--app takes an identifier, not \"\""),
    (["drop", "--session="], "--session takes an identifier, not \"\""),
    (["redirect", "", "a"], "DELIVERY takes an identifier, not \"\""),
    (["help", "__complete"], "there is no command \"__complete\"; `stagedoor --help` lists the commands"),
    (host + ["{file}"], "--connect begins with a program; {file} can only be one of its arguments"),
    (
      host + ["true", "--close", "'x {title}'"],
      "--close begins with a program; {title} can only be one of its arguments"
    ),
    (host + ["xterm {nope}"], "--connect: there is no {nope}; \(places)"),
    (host + ["xterm --title={tilte}"], "--connect: there is no {tilte}; \(places)"),
    (host + ["\"open"], "--connect takes a command; a quote in \"\"open\" is not closed, or there is nothing in it"),
    (
      ["host", "--app", "Gallery", "--connect", "true"],
      "--app takes a whole identifier such as org.example.Gallery, and not \"Gallery\""
    ),
  ])
  func `a command line that is invalid is one sentence and status 2`(words: [String], sentence: String) async throws {
    let name = words.first { Self.commands.contains($0) }.map { " \($0)" } ?? ""
    let result = try await command(words).expect(ends: 2)
    #expect(result.standardError == "stagedoor\(name): \(sentence)\n")
    #expect(result.standardOutput == "")
  }

  @Test(arguments: [
    "sh -c {title}", "sh -c 'echo {title}'", "bash -lc {title}", "bash -c -l {title}", "/bin/dash -ec 'echo {title}'",
    "bash --norc -xc {title} x", "fish --command={title}", "zsh -o shwordsplit -c {title}", "env -S {title}",
    "env -S 'sh -c' {title}", "env -vS{title}", "xterm -e {title}", "xterm -e sh -c {title}", "su -c{title}",
    "ssh host notify {title}", "eval {title}", "watch {title}", "perl -ne {title}", "python3.11 -Bc {title}",
    "python3 -W ignore -c {title}", "node --eval={title}", "ruby -e{title}", "sed -e {title} a", "vim -c {title}",
  ])
  func `what was delivered is given to no program that would run it`(command: String) async throws {
    let result = try await self.command(Self.host + [command]).expect(
      ends: 2, with: "sh -c '…' sh {title}; or read $STAGEDOOR_TITLE in the script\n")
    #expect(result.standardError.contains(" would run the value of {title}; "), "\(result)")
  }

  @Test(.house) func `other programs get what was delivered`() async throws {
    for command in [
      "sh -c 'echo \"$1\"' sh {title}", "xterm -title {title} -e vi {file}", "bash script {title}", "grep -e {title} a",
      "perl -w script.pl {title}", "awk -f script {file}", "python3 notes.py --color {title}", "env A=b vi {file}",
    ] {
      // The command is valid, and there is no service.
      try await expect(Self.host + [command], ends: 3)
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `the completions that are installed are those that the program prints`(shell: String) async throws {
    #expect(try await shown(["completions", shell]) == Repository.text(of: "Sources/stagedoor/Completions/\(shell)"))
  }

  @Test(arguments: [
    (["bash", "dro"], ["drop"]), (["bash", "drop", "--na"], ["--name"]),
    (["bash", "drop", "--wait", "h"], ["handled"]),
    (["bash", "drop", "--wait", "=", "r"], ["routed"]), (["bash", "drop", "--wait", "="], ["routed", "handled"]),
    (["zsh", "drop", "--wait=h"], ["--wait=handled"]), (["fish", "check", ""], [":files"]),
    (["fish", "host", "--connect", ""], [":programs"]), (["fish", "completions", "z"], ["zsh"]),
    (["fish", "help", "unre"], ["unregister"]), (["fish", "--color", "never", "dro"], ["drop"]),
    (["fish", "drop", "--", "--na"], [":files"]),
  ])
  func `what can stand at the cursor is offered without a bus`(words: [String], offered: [String]) async throws {
    let output = try await command(["__complete"] + words).output()
    #expect(output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) } == offered)
  }
}
