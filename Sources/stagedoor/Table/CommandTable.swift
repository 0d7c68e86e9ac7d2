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

  static let all: [CommandEntry] = handingIn + windows + deliveries + applications + helping
}

private let payloadOptions: [Option] = [
  .type, .target, .title, .info, .text, .directory, .url, .payload, .contentType, .fileName, .copy, .stream, .app,
  .configuration,
  .session,
  .new,
  .existing, .existingOnly, .from, .isPrivate, .deadline,
]
private let answer = WindowCommands.answer.map(\.name)
private let payloadExclusions: [[Option]] = [
  [.session, .new, .existing, .existingOnly], [.session, .app], [.session, .configuration],
]

extension CommandTable {
  private static let handingIn: [CommandEntry] = [
    CommandEntry(
      name: "drop", group: .handingIn, summary: "hand something in, and say which window got it",
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
      arguments: [
        Argument(
          kind: .files, help: "a file, or its URL; - is standard input", isOptional: true, isRepeated: true)
      ],
      options: payloadOptions + [.wait, .token, .json, .print(answer), .quiet], exclusive: payloadExclusions,
      examples: [
        .init(
          purpose: "a photo, to the window that shows it",
          line: "stagedoor drop --type org.example.Gallery.openDetail --target photo-7"),
        .init(purpose: "a file, to a new window", line: "stagedoor drop --new Beach.png"),
        .init(purpose: "a piece of text, by your rules", line: "stagedoor drop --text main.c:42"),
        .init(purpose: "what a program prints", line: "dmesg | stagedoor drop --name dmesg.txt -"),
        .init(
          purpose: "nothing: bring the last window to the front, or open one", line: "stagedoor drop --app Gallery"),
      ],
      statuses: [.notInTime, .applicationFailed, .cancelled], run: DropCommand.run),
    CommandEntry(
      name: "open", group: .handingIn, summary: "show a file: in the window that shows it already, or by opening it",
      description: [
        "It asks stagedoor-understudy, which finds the windows of applications that know nothing of Stagedoor. If a window certainly shows "
          + "the file, it comes to the front. Otherwise the application that you chose for the type opens the file.",
        "If the understudy is missing, has no display, or does not answer within 300 milliseconds, xdg-open opens the file, and a note says so. "
          + "Links go to xdg-open.",
        "With --make-default, a double click in a file manager goes through it too, for each type that an installed application for documents "
          + "takes. Your own choices become the second ones, which it opens files with. No other line of mimeapps.list changes, and "
          + "--undo-default undoes it exactly.",
      ],
      arguments: [Argument(kind: .openable, help: "a file, or a URL", isOptional: true, isRepeated: true)],
      options: [.newOpening, .appOpening, .explainOpening, .makeDefault, .undoDefault, .json],
      exclusive: [
        [.newOpening, .explainOpening, .makeDefault, .undoDefault], [.appOpening, .makeDefault, .undoDefault],
      ],
      examples: [
        .init(purpose: "a file that may be open already", line: "stagedoor open notes.txt"),
        .init(purpose: "which windows were considered, and why", line: "stagedoor open --explain notes.txt"),
        .init(purpose: "let double clicks go through it", line: "stagedoor open --make-default"),
      ],
      statuses: [.applicationFailed], run: OpenCommand.run),
    CommandEntry(
      name: "drag", group: .handingIn, summary: "open a small window to drag files from",
      description: [
        "It runs stagedoor-drag, which a package of its own installs: a window with a row for each file, and one for all of them. Drag a row to any "
          + "window. The command ends when its window closes."
      ],
      arguments: [Argument(kind: .files, help: "a file to drag", isRepeated: true)], options: [.once],
      examples: [.init(purpose: "a report, to any window", line: "stagedoor drag report.pdf")],
      run: DragCommand.run),
    CommandEntry(
      name: "explain", group: .handingIn, summary: "say where something would go, and why",
      description: [
        "It takes the arguments of `stagedoor drop` and draws the decision: the application, the configuration and the key, each with its "
          + "reason; every window that was considered, with its tier; and the chosen one.",
        "A window in the tier \"prefers\" wants it, one in \"can\" may take it, and one in \"out\" does not take it. A refusal is a decision "
          + "too, with status 4.",
        "Of a text it names the rule that made the payload, or the first condition of each rule that does not hold.",
        "With --manifest it decides by these manifests and --rules alone, without a service, as if there were no windows yet. With --delivery it draws the "
          + "decision of a delivery that was made.",
      ],
      arguments: [
        Argument(
          kind: .files, help: "a file, or its URL; - is standard input, of which the beginning is read",
          isOptional: true,
          isRepeated: true)
      ],
      options: payloadOptions + [
        .manifests, .rules, .define, .ofDelivery, .record, .caseName, .json, .print(ExplainCommand.fields.map(\.name)),
        .quiet,
      ], exclusive: payloadExclusions,
      examples: [
        .init(
          purpose: "why a photo goes to its window",
          line: "stagedoor explain --type org.example.Gallery.openDetail --target photo-7"),
        .init(
          purpose: "keep the decision, to be tested later", line: "stagedoor explain --record cases.json Beach.png"),
        .init(purpose: "which rule takes a text", line: "stagedoor explain --text 'ls(1)'"),
        .init(purpose: "before a manifest is installed", line: "stagedoor explain --manifest Info.plist Beach.png"),
      ],
      run: ExplainCommand.run),
    CommandEntry(
      name: "rules", group: .handingIn, summary: "list your rules for texts and links, or check files of rules",
      description: [
        "A rule says what a text or a link is about. Rules are in files that end in .rules, in stagedoor/rules in the directories of "
          + "configuration. The list has them in the order in which they are tried, with the deliveries that each has made since the "
          + "service started.",
        "`stagedoor rules check FILE...` prints each fault as FILE:LINE:COLUMN, and needs no service.",
      ],
      arguments: [
        Argument(kind: .words("check", "check"), help: "check the files instead", isOptional: true),
        Argument(kind: .rules, help: "a file of rules; - is standard input", isOptional: true, isRepeated: true),
      ],
      options: [.json, .print(RulesCommand.fields.map(\.name)), .quiet],
      examples: [
        .init(purpose: "before you install them", line: "stagedoor rules check mine.rules"),
        .init(purpose: "rules that no text has fulfilled", line: "stagedoor rules --print rule,matches | grep -w 0"),
      ],
      run: RulesCommand.run),
    CommandEntry(
      name: "new", group: .handingIn, summary: "open a new window of an application", description: [],
      arguments: [
        Argument(kind: .application, help: "the application"),
        Argument(
          kind: .configuration, help: "the kind of window; otherwise the manifest's first", isOptional: true),
      ],
      options: [.json, .print(answer), .quiet],
      examples: [
        .init(
          purpose: "open a window and keep its identifier", line: "window=$(stagedoor new --print session Gallery)")
      ],
      run: WindowCommands.new),
  ]

  private static let windows: [CommandEntry] = [
    CommandEntry(
      name: "sessions", group: .windows, summary: "list the sessions: windows, open or not",
      description: [
        "The oldest comes first. A session whose application has no manifest at present takes no part in routing; its state is \"no manifest\"."
      ], options: [.ofApp, .limit, .json, .print(SessionsCommand.fields.map(\.name))],
      examples: [
        .init(purpose: "what the gallery shows", line: "stagedoor sessions --app org.example.Gallery"),
        .init(purpose: "titles, for a menu", line: "stagedoor sessions --print title,session"),
      ], run: SessionsCommand.run),
    CommandEntry(
      name: "windows", group: .windows,
      summary: "list all open windows, of applications that know nothing of Stagedoor too",
      description: [
        "stagedoor-understudy sees the windows on the display, the topmost first; the sessions without a window there follow. \"certain\" and "
          + "\"likely\" say how surely a window shows the file.",
        "`stagedoor activate` takes the identifiers. In a sandbox you see the windows of your own application only.",
      ], options: [.watchWindows, .menuOfWindows, .json, .print(WindowsCommand.fields.map(\.name))],
      exclusive: [[.menuOfWindows, .json, .print()]],
      examples: [
        .init(
          purpose: "choose one, and bring it to the front",
          line: "stagedoor activate \"$(stagedoor windows --menu | rofi -dmenu -show-icons | cut -f1)\""),
        .init(purpose: "for a bar", line: "stagedoor windows --watch --json"),
      ], run: WindowsCommand.run),
    CommandEntry(
      name: "show", group: .windows, summary: "show all about a session, a delivery or an application", description: [],
      arguments: [Argument(kind: .anything, help: "its identifier")], options: [.json],
      examples: [.init(purpose: "an application", line: "stagedoor show org.example.Gallery")], run: ShowCommand.run),
    CommandEntry(
      name: "activate", group: .windows, summary: "bring a window to the front", description: [],
      arguments: [Argument(kind: .session, help: "the window")], options: [.json, .print(answer), .quiet],
      run: WindowCommands.activate),
    CommandEntry(
      name: "refresh", group: .windows, summary: "ask windows to show their current content",
      description: [
        "A window in the background hears it at once, and a visible window when it goes to the background."
      ],
      arguments: [Argument(kind: .session, help: "the window", isRepeated: true)], options: [.quiet],
      run: WindowCommands.refresh),
    CommandEntry(
      name: "close", group: .windows, summary: "end sessions for good, and close their windows",
      description: [
        "On a terminal it asks first, unless each window is named by its whole identifier."
      ],
      arguments: [Argument(kind: .session, help: "the window", isOptional: true, isRepeated: true)],
      options: [.ofApp, .all, .yes, .animation, .quiet], exclusive: [[.ofApp, .all]],
      statuses: [.cancelled], run: WindowCommands.close),
    CommandEntry(
      name: "watch", group: .windows, summary: "print what happens, as it happens",
      description: [
        "Each line is an event. With --since it begins with stored events. No event is missed and none comes twice, even if the service "
          + "restarts in the meantime.",
        "In a sandbox, name your own application with --app.",
      ],
      options: [.ofApp, .since, .past, .json, .print(WatchCommand.fields.map(\.name))],
      examples: [
        .init(purpose: "everything that is kept, and then what happens", line: "stagedoor watch --since 0 --json"),
        .init(purpose: "what has happened to an application", line: "stagedoor watch --past --app Gallery"),
      ],
      run: WatchCommand.run),
  ]

  private static let deliveries: [CommandEntry] = [
    CommandEntry(
      name: "deliveries", group: .deliveries, summary: "list what was handed in, the newest first", description: [],
      options: [.ofApp, .state, .unclaimed, .limit, .json, .print(DeliveriesCommand.fields.map(\.name))],
      exclusive: [[.state, .unclaimed]],
      examples: [.init(purpose: "what still waits for its application", line: "stagedoor deliveries --state held")],
      run: DeliveriesCommand.run),
    CommandEntry(
      name: "wait", group: .deliveries, summary: "wait for the end of a delivery",
      description: ["The status says how it ended: 0 means that the application has it."],
      arguments: [Argument(kind: .delivery, help: "the delivery")],
      options: [.waitDeadline, .json, .quiet],
      examples: [
        .init(
          purpose: "go on when the window has it",
          line: "stagedoor wait \"$(stagedoor drop --print delivery Beach.png)\"")
      ],
      statuses: [.notInTime, .applicationFailed, .cancelled], run: WaitCommand.run),
    CommandEntry(
      name: "cancel", group: .deliveries, summary: "cancel what still waits for its application",
      description: ["If one of the deliveries does not wait any more, none is cancelled."],
      arguments: [Argument(kind: .heldDelivery, help: "the delivery", isRepeated: true)], options: [.quiet],
      run: WindowCommands.cancel),
    CommandEntry(
      name: "redirect", group: .deliveries, summary: "hand a delivery to another window of its application",
      description: [],
      arguments: [
        Argument(kind: .delivery, help: "the delivery"), Argument(kind: .session, help: "where it belongs"),
      ], options: [.json, .print(answer), .quiet], run: WindowCommands.redirect),
    CommandEntry(
      name: "reset", group: .deliveries, summary: "cancel what waits, close all windows, and forget the choices",
      description: [
        "It asks first; where nobody can answer, it needs --yes. Installed manifests stay, and the history of deliveries expires by itself."
      ], options: [.yes, .quiet], statuses: [.cancelled], run: WindowCommands.reset),
  ]

  private static let applications: [CommandEntry] = [
    CommandEntry(
      name: "apps", group: .applications, summary: "list the applications, or those that take a type",
      description: ["An item goes to the first application listed for its type."],
      arguments: [Argument(kind: .type, help: "an activity type or a MIME type", isOptional: true)],
      options: [.ofFile, .json, .print(AppsCommand.fields.map(\.name))],
      examples: [
        .init(purpose: "who opens pictures", line: "stagedoor apps image/png"),
        .init(purpose: "who opens this file", line: "stagedoor apps --file Beach.png"),
      ], run: AppsCommand.run),
    CommandEntry(
      name: "prefer", group: .applications, summary: "choose the application for a type that several take",
      description: ["Without APP it prints the type and the chosen application, and without TYPE all choices."],
      arguments: [
        Argument(kind: .type, help: "an activity type or a MIME type", isOptional: true),
        Argument(kind: .application, help: "the application", isOptional: true),
      ], options: [.none, .json, .print(PreferCommand.fields.map(\.name)), .quiet],
      examples: [.init(purpose: "the service chooses again", line: "stagedoor prefer --none image/png")],
      run: PreferCommand.run),
    CommandEntry(
      name: "host", group: .applications, summary: "make commands the windows of an application",
      description: [
        "Each new window runs the command of --connect. When the command ends, its session ends. In a command, {title}, {target}, {type}, "
          + "{info.KEY} and {session} stand for what was delivered, and {file} for the files, each as one argument. An item that is not a "
          + "file to open in its place is saved as a temporary file, until the window closes.",
        "Blanks separate words; single or double quotes keep blanks in a word. No shell reads the command, so {…} has to be an argument of "
          + "its own, and cannot be in a script. The command finds the values in its environment too: STAGEDOOR_TITLE, STAGEDOOR_TARGET, "
          + "STAGEDOOR_TYPE, STAGEDOOR_SESSION, STAGEDOOR_INFO_KEY and STAGEDOOR_FILE.",
        "A manifest declares the application: see `stagedoor install-manifest`.",
      ],
      options: [.hostApp, .connect, .onContinue, .onClose, .commandLimit],
      examples: [
        .init(
          purpose: "each text file in an editor of its own",
          line: "stagedoor host --app org.example.Notes --connect 'xterm -e vi {file}'")
      ],
      isMain: true, run: { try await HostCommand.run($0) }),
    CommandEntry(
      name: "register", group: .applications, summary: "declare an application for as long as the service runs",
      description: [],
      arguments: [Argument(kind: .manifest, help: "its manifest, as JSON or XML; - is standard input")],
      options: [.define, .quiet], run: RegisterCommands.register),
    CommandEntry(
      name: "unregister", group: .applications, summary: "undo register; the sessions stay", description: [],
      arguments: [Argument(kind: .application, help: "the application")], options: [.quiet],
      run: RegisterCommands.unregister),
    CommandEntry(
      name: "check", group: .applications, summary: "list everything that is wrong with manifests and rules",
      description: [
        "Each fault is printed with its place and what to write instead. Warnings alone end with status 0."
      ],
      arguments: [Argument(kind: .manifest, help: "a manifest, or a file that ends in .rules", isRepeated: true)],
      options: [.define, .quiet],
      examples: [.init(purpose: "before you install it", line: "stagedoor check Info.plist")],
      isLocal: true, run: CheckCommand.run),
    CommandEntry(
      name: "test", group: .applications, summary: "repeat recorded decisions, and compare them",
      description: [
        "`stagedoor explain --record` makes a file of cases: what was handed in, the windows at that time, and the decision. Keep the file "
          + "beside the manifest. The sentences that give reasons are not compared.",
        "Of a text, a case also has the answers of the disk to the rules, and so it needs none of the files. --rules names a project's rules.",
      ],
      arguments: [Argument(kind: .cases, help: "a file of cases", isRepeated: true)],
      options: [.manifests, .rules, .define, .update, .junit, .json, .quiet],
      examples: [
        .init(purpose: "after a change of the manifest", line: "stagedoor test --manifest Info.plist cases.json")
      ],
      isLocal: true, run: TestCommand.run),
    CommandEntry(
      name: "install-manifest", group: .applications, summary: "install manifests for this user",
      description: [
        "All are checked first, and none is installed if one is wrong. A running service knows them when this command ends, or the command says "
          + "after five seconds that it does not."
      ],
      arguments: [Argument(kind: .manifest, help: "a manifest, whatever it is called", isRepeated: true)],
      options: [.define, .quiet], isLocal: true, run: InstallCommands.install),
    CommandEntry(
      name: "uninstall-manifest", group: .applications, summary: "remove manifests that this user installed",
      description: [
        "The sessions stay, but take no part in routing until the manifest is back. A running service has forgotten it when this command ends, or "
          + "the command says after five seconds that it has not."
      ],
      arguments: [Argument(kind: .application, help: "the whole identifier of the application", isRepeated: true)],
      options: [.quiet], isLocal: true, run: InstallCommands.uninstall),
  ]

  private static let helping: [CommandEntry] = [
    CommandEntry(
      name: "doctor", group: .help, summary: "look for what is missing, and say what to do about it",
      description: [
        "It looks at the versions, the bus, the service, its activation file and unit, the manifests, the rules, and the place of the service's state."
      ],
      options: [.json, .quiet], isLocal: true, run: DoctorCommand.run
    ),
    CommandEntry(
      name: "help", group: .help, summary: "show the help of the program or of a command", description: [],
      arguments: [Argument(kind: .commandName, help: "a command", isOptional: true)], isLocal: true,
      run: HelpCommands.help),
    CommandEntry(
      name: "completions", group: .help, summary: "print the completions for a shell", description: [],
      arguments: [Argument(kind: .words("SHELL", "bash", "zsh", "fish"), help: "bash, zsh or fish")],
      examples: [.init(purpose: "in ~/.bashrc", line: "source <(stagedoor completions bash)")], isLocal: true,
      run: HelpCommands.completions),
    CommandEntry(
      name: "__complete", group: .help, summary: "what can stand at the cursor", description: [],
      arguments: [Argument(kind: .text, help: "a shell, and the words", isRepeated: true)], isLocal: true,
      isHidden: true,
      run: CompleteCommand.run),
    CommandEntry(
      name: "__manual", group: .help, summary: "the page of the manual", description: [], isLocal: true, isHidden: true,
      run: HelpCommands.manual),
  ]
}

enum HelpCommands {
  static func help(_ invocation: Invocation) async throws -> Status {
    let command: CommandEntry?
    do throws(Misuse) { command = try invocation.argument(0).map(CommandTable.visibleCommand) } catch {
      throw Problem.usage(error.description)
    }
    let screen = invocation.screen
    try Output.write(command?.help(screen) ?? CommandTable.help(screen))
    return .done
  }

  static func completions(_ invocation: Invocation) async throws -> Status {
    try Output.write(CompletionScripts.script(invocation.arguments[0]))
    return .done
  }

  static func manual(_ invocation: Invocation) async throws -> Status {
    try Output.write(ManualPage.text)
    return .done
  }
}
