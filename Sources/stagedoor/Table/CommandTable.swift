// Every command, in the order of the help.

import ServiceSupport

enum CommandTable {
  static let versionNumber = "0.1.0"
  static let summary = """
    Hands files, links and activities to the windows that they belong to. Lists, watches, opens and closes these windows. The service \
    behind it is stagedoord, which the bus starts when it is needed.
    """
  static let aboutIdentifiers = """
    Sessions and deliveries have UUIDs. Applications have names such as org.example.Gallery. You may shorten an identifier as long as it \
    stays unambiguous: a UUID to its beginning, a name to its beginning or its last part. Only `host` and `uninstall-manifest` take whole \
    names.
    """
  static let aboutAnswers = """
    On a terminal, lists have headings and fit its width. In a pipe or a file, tabs separate whole values. --json is for programs: if the \
    command fails, it prints an object with status, error and message. --print chooses fields by their keys in JSON. --quiet prints only \
    what is wrong.
    """
  static let environment = [
    ("DBUS_SESSION_BUS_ADDRESS", "The session bus."),
    ("NO_COLOR", "If it is set, there is no colour, unless --color asks for it."),
    ("COLUMNS", "The width of lists and help, instead of the terminal's."),
    (
      "XDG_ACTIVATION_TOKEN",
      "The desktop's permission to bring a window to the front. The application gets it; without it, DESKTOP_STARTUP_ID."
    ),
    ("XDG_DATA_HOME", "Where the user's manifests and MIME types are. XDG_DATA_DIRS names the system's places."),
    ("XDG_CONFIG_HOME", "Where the user's rules are. XDG_CONFIG_DIRS names the system's places."),
    ("XDG_STATE_HOME", "Where the service keeps its state. `stagedoor doctor` looks at it."),
    ("TMPDIR", "Where `stagedoor host` saves items that are not files; otherwise /tmp."),
  ]
  static let files = [
    ("~/.config/stagedoor/rules/NAME.rules", "Rules of the user. Those of the system are in /etc/xdg/stagedoor/rules."),
    (
      "~/.local/share/stagedoor/applications/IDENTIFIER.plist",
      "A manifest that install-manifest installed, or IDENTIFIER.json."
    ),
    ("/usr/share/mime", "The shared MIME database, which knows the types of files."),
  ]

  /// The sections of the help, in the order of the work.
  static let sections: [(title: String, commands: [CommandEntry])] = [
    ("Hand something in", handingIn), ("Windows", windows), ("Deliveries", deliveries), ("Applications", applications),
    ("Help", helping),
  ]
  static let all = sections.flatMap(\.commands)
}

/// A command that needs the service, or at least a bus.
private func asking(
  _ run: @escaping @Sendable (Invocation, Client) async throws -> Void
) -> @Sendable (Invocation) async throws -> Void {
  { try await run($0, try await Client($0)) }
}

private let payloadOptions: [Option] = [
  .type, .target, .title, .info, .text, .directory, .url, .payload, .contentType, .fileName, .copy, .stream, .app,
  .configuration, .session, .new, .existing, .existingOnly, .from, .isPrivate, .deadline,
]
private let answer = WindowCommands.answer.map(\.name)
private let payloadExclusions: [[Option]] = [
  [.session, .new, .existing, .existingOnly], [.session, .app], [.session, .configuration],
]

extension CommandTable {
  private static let handingIn: [CommandEntry] = [
    CommandEntry(
      name: "drop", summary: "hand something in, and say which window got it", run: asking(DropCommand.run),
      description: [
        "It prints the outcome, the session and the delivery. The outcome is \"created\" for a new window, \"activated\" for an existing one, "
          + "and \"restored\" for one that is opened again. Several things go to one window together.",
        "An activity says what to do (--type), and with what (--target). Without an activity, the types of the files decide; they come from "
          + "the shared MIME database.",
        "Standard input of more than 32 KiB, or any with --stream, is handed over while it comes in; a terminal shows the progress. The command "
          + "ends when the application has read it. Ctrl-C cancels it if no application has it yet.",
        "Your rules say what a text is about, unless an option says it: see `stagedoor rules`.",
        "In a sandbox, a file is handed in by a descriptor: the application gets its content, and not the file in its place.",
      ],
      arguments: [.any(.files, "a file, or its URL; - is standard input")],
      options: payloadOptions + [.wait, .token, .json, .print(answer), .quiet], exclusive: payloadExclusions,
      examples: [
        "a photo, to the window that shows it": "stagedoor drop --type org.example.Gallery.openDetail --target photo-7",
        "a file, to a new window": "stagedoor drop --new Beach.png",
        "a piece of text, by your rules": "stagedoor drop --text main.c:42",
        "the output of a program": "dmesg | stagedoor drop --name dmesg.txt -",
        "nothing: bring the last window to the front, or open one": "stagedoor drop --app Gallery",
      ],
      statuses: [.notInTime, .applicationFailed, .cancelled]),
    CommandEntry(
      name: "open", summary: "show a file: in the window that shows it already, or by opening it",
      run: OpenCommand.run,
      description: [
        "It asks stagedoor-understudy, which finds the windows of applications that know nothing of Stagedoor. If a window certainly shows "
          + "the file, it comes to the front. Otherwise the application that you chose for the type opens the file.",
        "If the understudy is missing, has no display, or does not answer within 300 milliseconds, xdg-open opens the file, and a note says so. "
          + "The command ends when xdg-open does, on some desktops with the application. Links go to xdg-open.",
        "--explain ends with the verdict: \"raise\" brings a window to the front; \"run again\" runs the application with the file, and the "
          + "application finds its own window; \"start\" starts the application with the file; \"activate\" asks an application that "
          + "takes part to bring its window to the front.",
        "With --make-default, a double click in a file manager goes through it too, for each type that an installed application for documents "
          + "takes. Your own choices become the second ones, which it opens files with. No other line of mimeapps.list changes, and "
          + "--undo-default undoes it exactly.",
      ],
      arguments: [.any(.openable, "a file, or a URL")],
      options: [.newOpening, .appOpening, .explainOpening, .makeDefault, .undoDefault, .json],
      exclusive: [
        [.newOpening, .explainOpening, .makeDefault, .undoDefault], [.appOpening, .makeDefault, .undoDefault],
      ],
      examples: [
        "a file that may be open already": "stagedoor open notes.txt",
        "which windows were considered, and why": "stagedoor open --explain notes.txt",
        "let double clicks go through it": "stagedoor open --make-default",
      ],
      statuses: [.applicationFailed]),
    CommandEntry(
      name: "drag", summary: "open a small window to drag files from", run: DragCommand.run,
      description: [
        "It runs stagedoor-drag, which a package of its own installs: a window with a row for each file, and one for all of them. Drag a row to any "
          + "window. The command ends when its window closes."
      ],
      arguments: [.several(.file, "a file to drag")], options: [.once],
      examples: ["a report, to any window": "stagedoor drag report.pdf"]),
    CommandEntry(
      name: "explain", summary: "show which window would get something, and why", run: ExplainCommand.run,
      description: [
        "It takes the arguments of `stagedoor drop` and draws the decision: the application, the configuration and the key, each with its "
          + "reason; every window that was considered, with its tier; and the chosen one.",
        "A window in the tier \"prefers\" wants it, one in \"can\" may take it, and one in \"out\" does not take it. Of an activity or data without a key "
          + "every window is in \"can\", and none gets it without --existing or --existing-only. A refusal is a decision too, with status 4.",
        "Of a text it names the rule that made the payload, or the first condition of each rule that does not hold.",
        "With --manifest it decides by these manifests and --rules alone, without a service, as if there were no windows yet. With --delivery it draws the "
          + "decision of a delivery that was made.",
      ],
      arguments: [.any(.files, "a file, or its URL; - is standard input, of which the beginning is read")],
      options: payloadOptions + [
        .manifests, .rules, .define, .ofDelivery, .record, .caseName, .json, .print(ExplainCommand.fields.map(\.name)),
        .quiet,
      ], exclusive: payloadExclusions,
      examples: [
        "why a photo opens in its window": "stagedoor explain --type org.example.Gallery.openDetail --target photo-7",
        "keep the decision, to be tested later": "stagedoor explain --record cases.json Beach.png",
        "which rule takes a text": "stagedoor explain --text 'ls(1)'",
        "before a manifest is installed": "stagedoor explain --manifest Info.plist Beach.png",
      ]),
    CommandEntry(
      name: "rules", summary: "list your rules for texts and links, or check files of rules", run: RulesCommand.run,
      description: [
        "A rule says what a text or a link is about. Rules are in files that end in .rules, in stagedoor/rules in the directories of "
          + "configuration. The list has them in the order in which they are tried, with the deliveries that each has made since the "
          + "service started.",
        "`stagedoor rules check FILE...` prints each fault as FILE:LINE:COLUMN, and needs no service.",
      ],
      arguments: [
        .optional(.words("check", "check"), "check the files instead"),
        .any(.rules, "a file of rules; - is standard input"),
      ],
      options: [.json, .print(RulesCommand.fields.map(\.name)), .quiet],
      examples: [
        "before you install them": "stagedoor rules check mine.rules",
        "rules that no text has fulfilled": "stagedoor rules --print rule,matches | grep -w 0",
      ]),
    CommandEntry(
      name: "new", summary: "open a new window of an application", run: asking(WindowCommands.new),
      arguments: [
        .one(.application, "the application"),
        .optional(.configuration, "the kind of window; otherwise the manifest's first"),
      ],
      options: [.json, .print(answer), .quiet],
      examples: ["open a window and keep its identifier": "window=$(stagedoor new --print session Gallery)"]),
  ]

  private static let windows: [CommandEntry] = [
    CommandEntry(
      name: "sessions", summary: "list the sessions: windows, open or not", run: asking(SessionsCommand.run),
      description: [
        "The oldest comes first. A session whose application has no manifest at present takes no part in routing; its state is \"no manifest\"."
      ], options: [.ofApp, .limit, .json, .print(SessionsCommand.fields.map(\.name))],
      examples: [
        "the windows of the gallery": "stagedoor sessions --app org.example.Gallery",
        "titles, for a menu": "stagedoor sessions --print title,session",
      ]),
    CommandEntry(
      name: "windows", summary: "list all open windows, of applications that know nothing of Stagedoor too",
      run: asking(WindowsCommand.run),
      description: [
        "stagedoor-understudy sees the windows on the display, the topmost first; the windows of sessions that it does not see follow. \"certain\" and "
          + "\"likely\" say how surely a window shows the file.",
        "`stagedoor activate` takes the identifiers. In a sandbox you see the windows of your own application only: name it with "
          + "--app.",
      ], options: [.ofApp, .watchWindows, .menuOfWindows, .json, .print(WindowsCommand.fields.map(\.name))],
      exclusive: [[.menuOfWindows, .json, .print()]],
      examples: [
        "choose one, and bring it to the front":
          "stagedoor activate \"$(stagedoor windows --menu | rofi -dmenu -show-icons | cut -f1)\"",
        "for a bar": "stagedoor windows --watch --json",
      ]),
    CommandEntry(
      name: "show", summary: "show all about a session, a delivery or an application", run: asking(ShowCommand.run),
      arguments: [.one(.anything, "its identifier")], options: [.json],
      examples: ["an application": "stagedoor show org.example.Gallery"]),
    CommandEntry(
      name: "activate", summary: "bring a window to the front", run: asking(WindowCommands.activate),
      arguments: [.one(.session, "the window")], options: [.json, .print(answer), .quiet]),
    CommandEntry(
      name: "refresh", summary: "ask windows to show their current content", run: asking(WindowCommands.refresh),
      description: [
        "A window in the background gets the request at once, and a visible window when it enters the background."
      ],
      arguments: [.several(.session, "the window")], options: [.quiet]),
    CommandEntry(
      name: "close", summary: "end sessions for good, and close their windows", run: WindowCommands.close,
      description: [
        "On a terminal it asks first, unless each window is named by its whole identifier. Where nobody can answer, --all needs --yes."
      ],
      arguments: [.any(.session, "the window")],
      options: [.ofApp, .all, .yes, .animation, .quiet], exclusive: [[.ofApp, .all]],
      statuses: [.cancelled]),
    CommandEntry(
      name: "watch", summary: "print the events, as they happen", run: asking(WatchCommand.run),
      description: [
        "Each line is an event. With --since it begins with stored events. No event is missed and none comes twice, even if the service "
          + "restarts in the meantime. A service that keeps its state in memory numbers its events anew at each start.",
        "In a sandbox, name your own application with --app.",
      ],
      options: [.ofApp, .since, .past, .json, .print(WatchCommand.fields.map(\.name))],
      examples: [
        "all stored events, and then the new ones": "stagedoor watch --since 0 --json",
        "the stored events of an application": "stagedoor watch --past --app Gallery",
      ]),
  ]

  private static let deliveries: [CommandEntry] = [
    CommandEntry(
      name: "deliveries", summary: "list the deliveries, the newest first", run: asking(DeliveriesCommand.run),
      options: [.ofApp, .state, .unclaimed, .limit, .json, .print(DeliveriesCommand.fields.map(\.name))],
      exclusive: [[.state, .unclaimed]],
      examples: ["the deliveries that wait for their applications": "stagedoor deliveries --state held"]),
    CommandEntry(
      name: "wait", summary: "wait for the end of a delivery", run: asking(WaitCommand.run),
      description: ["The status says how it ended: 0 means that the application has it."],
      arguments: [.one(.delivery, "the delivery")],
      options: [.waitDeadline, .json, .quiet],
      examples: ["go on when the window has it": "stagedoor wait \"$(stagedoor drop --print delivery Beach.png)\""],
      statuses: [.notInTime, .applicationFailed, .cancelled]),
    CommandEntry(
      name: "cancel", summary: "cancel deliveries that are held or forwarded", run: asking(WindowCommands.cancel),
      description: ["If one of the deliveries is neither, none is cancelled."],
      arguments: [.several(.cancellableDelivery, "the delivery")], options: [.quiet]),
    CommandEntry(
      name: "redirect", summary: "hand a delivery to another window of its application",
      run: asking(WindowCommands.redirect),
      arguments: [.one(.delivery, "the delivery"), .one(.session, "where it belongs")],
      options: [.json, .print(answer), .quiet]),
    CommandEntry(
      name: "reset", summary: "cancel waiting deliveries, close all windows, and forget the choices",
      run: asking(WindowCommands.reset),
      description: [
        "It asks first; where nobody can answer, it needs --yes. Installed manifests stay, and the history of deliveries expires by itself."
      ], options: [.yes, .quiet], statuses: [.cancelled]),
  ]

  private static let applications: [CommandEntry] = [
    CommandEntry(
      name: "apps", summary: "list the applications, or those that take a type", run: asking(AppsCommand.run),
      description: ["The first application in the list gets an item of the type."],
      arguments: [.optional(.type, "an activity type or a MIME type")],
      options: [.ofFile, .json, .print(AppsCommand.fields.map(\.name))],
      examples: [
        "who opens pictures": "stagedoor apps image/png",
        "who opens this file": "stagedoor apps --file Beach.png",
      ]),
    CommandEntry(
      name: "prefer", summary: "choose the application for a type that several take", run: PreferCommand.run,
      description: ["Without APP it prints the type and the chosen application, and without TYPE all choices."],
      arguments: [.optional(.type, "an activity type or a MIME type"), .optional(.application, "the application")],
      options: [.none, .json, .print(PreferCommand.fields.map(\.name)), .quiet],
      examples: ["the service chooses again": "stagedoor prefer --none image/png"]),
    CommandEntry(
      name: "host", summary: "make commands the windows of an application", run: { try await HostCommand.run($0) },
      description: [
        "Each new window runs the command of --connect. When the command ends, its session ends. In a command, {title}, {target}, {type}, "
          + "{info.KEY} and {session} stand for the values of the delivery, and {file} for the files, each as one argument. An item that is not a "
          + "file to open in its place is saved as a temporary file, until the window closes.",
        "Blanks separate words; single or double quotes keep blanks in a word. No shell reads the command, so {…} has to be an argument of "
          + "its own, and cannot be in a script. The command finds the values in its environment too: STAGEDOOR_TITLE, STAGEDOOR_TARGET, "
          + "STAGEDOOR_TYPE, STAGEDOOR_SESSION, STAGEDOOR_INFO_KEY and STAGEDOOR_FILE.",
        "A manifest declares the application: see `stagedoor install-manifest`.",
      ],
      options: [.hostApp, .connect, .onContinue, .onClose, .commandLimit],
      examples: [
        "each text file in an editor of its own":
          "stagedoor host --app org.example.Notes --connect 'xterm -e vi {file}'"
      ],
      isMain: true),
    CommandEntry(
      name: "register", summary: "declare an application for as long as the service runs",
      run: ManifestCommands.register,
      arguments: [.one(.manifest, "its manifest, as JSON or XML; - is standard input")],
      options: [.define, .quiet]),
    CommandEntry(
      name: "unregister", summary: "undo register; the sessions stay", run: asking(ManifestCommands.unregister),
      arguments: [.one(.application, "the application")], options: [.quiet]),
    CommandEntry(
      name: "check", summary: "list everything that is wrong with manifests and rules", run: CheckCommand.run,
      description: [
        "Each fault is printed with its place and what to write instead. Warnings alone end with status 0."
      ],
      arguments: [.several(.manifest, "a manifest, or a file that ends in .rules")],
      options: [.define, .quiet],
      examples: ["before you install it": "stagedoor check Info.plist"],
      isLocal: true),
    CommandEntry(
      name: "test", summary: "repeat recorded decisions, and compare them", run: TestCommand.run,
      description: [
        "`stagedoor explain --record` makes a file of cases: the payload, the windows at that time, and the decision. Keep the file "
          + "beside the manifest. The sentences that give reasons are not compared.",
        "Of a text, a case also has the answers of the disk to the rules, and so it needs none of the files. --rules names a project's rules.",
      ],
      arguments: [.several(.cases, "a file of cases")],
      options: [.manifests, .rules, .define, .update, .junit, .json, .quiet],
      examples: ["after a change of the manifest": "stagedoor test --manifest Info.plist cases.json"],
      isLocal: true),
    CommandEntry(
      name: "install-manifest", summary: "install manifests for this user", run: ManifestCommands.install,
      description: [
        "All are checked first, and none is installed if one is wrong. A running service knows them when this command ends, or the command says "
          + "after five seconds that it does not."
      ],
      arguments: [.several(.manifest, "a manifest, whatever it is called")],
      options: [.define, .quiet], isLocal: true),
    CommandEntry(
      name: "uninstall-manifest", summary: "remove manifests that this user installed", run: ManifestCommands.uninstall,
      description: [
        "The sessions stay, but take no part in routing until the manifest is back. A running service has forgotten it when this command ends, or "
          + "the command says after five seconds that it has not."
      ],
      arguments: [.several(.application, "the whole identifier of the application")],
      options: [.quiet], isLocal: true),
  ]

  /// The scripts for the shells. Each asks the program for the word at the cursor: `stagedoor __complete SHELL WORD...` knows the table, and asks
  /// the service for its present sessions, deliveries and applications.
  private static var completions: [String: String] {
    ["bash": PackageResources.bash, "zsh": PackageResources.zsh, "fish": PackageResources.fish].mapValues {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private static let helping: [CommandEntry] = [
    CommandEntry(
      name: "doctor", summary: "check the installation, and say how to repair it", run: DoctorCommand.run,
      description: [
        "It looks at the versions, the bus, the service, its activation file and unit, the manifests, the rules, the "
          + "lines of understudy.conf, and the place of the service's state."
      ],
      options: [.json, .quiet], isLocal: true),
    CommandEntry(
      name: "help", summary: "show the help of the program or of a command", run: showHelp,
      arguments: [.optional(.commandName, "a command")], isLocal: true),
    CommandEntry(
      name: "completions", summary: "print the completions for a shell",
      run: { try Output.write(completions[$0.arguments[0]] ?? "") },
      arguments: [.one(.words("SHELL", "bash", "zsh", "fish"), "bash, zsh or fish")],
      examples: ["in ~/.bashrc": "source <(stagedoor completions bash)"], isLocal: true),
    CommandEntry(
      name: "__complete", summary: "the possible words at the cursor", run: CompleteCommand.run,
      arguments: [.several(.text, "a shell, and the words")], isLocal: true, isHidden: true),
    CommandEntry(
      name: "__manual", summary: "the page of the manual", run: { _ in try Output.write(ManualPage.text) },
      isLocal: true, isHidden: true),
  ]
}
