import Testing

@testable import WindowEvidence

private let node = Node(device: 1, inode: 7)
private let other = Node(device: 1, inode: 8)
private let certain = Verdict.raise(window: 1, .certain)
private let likely = Verdict.raise(window: 1, .likely)

private func file(_ path: String = "/home/ann/a.txt", birth: Int64? = 100, also others: String...) -> File {
  File(path: bytes(path), otherPaths: Set(others.map(bytes)), node: node, birth: birth)
}

private func application(
  _ name: String = "Mousepad", kind: Application.Kind = .editor, habit: Application.Habit = .unknown,
  writesOwnTitles: Bool? = nil
) -> Application {
  Application(
    identifier: name.lowercased(), names: [bytes(name)], kind: kind, habit: habit, writesOwnTitles: writesOwnTitles,
    writesDirectories: ["GVIM", "gedit", "Geany"].contains(name))
}

private func process(holds: [(Node, String)] = [], given arguments: String...) -> Process {
  Process(
    number: 50, started: 1_000, ticks: 10, held: holds.map { .init($0.0, path: bytes($0.1)) },
    arguments: arguments.map(bytes))
}

private func window(
  _ title: String, number: WindowNumber = 1, of application: String = "mousepad", _ process: Process? = nil,
  playing: String? = nil, isNamedByService: Bool = false, isLocal: Bool = true, isMain: Bool = true
) -> Window {
  Window(
    number, application: application, title: bytes(title), process: process, isLocal: isLocal, isMain: isMain,
    playing: playing.map(bytes), isNamedByService: isNamedByService)
}

private func judgement(
  _ file: File, _ application: Application, _ windows: [Window], _ existing: [Bytes] = []
) -> Judgement {
  judge(file, for: application, among: windows, home: bytes("/home/ann")) { existing.contains($0) }
}

private func verdict(_ file: File, _ application: Application, _ windows: Window..., existing: String...) -> Verdict {
  judgement(file, application, windows, existing.map(bytes)).verdict
}

@Suite struct JudgeTests {
  // MARK: Certain

  @Test func `a title with the path is certain`() {
    let shown = window("/home/ann/a.txt - Mousepad", number: 2)
    #expect(verdict(file(), application(), window("other - Mousepad"), shown) == .raise(window: 2, .certain))
    #expect(verdict(file(), application(), window("~/a.txt - Mousepad")) == certain)
    #expect(verdict(file(), application("GVIM"), window("a.txt (~) - GVIM", of: "gvim")) == certain)
  }

  @Test func `a file of the root directory is named as any other`() {
    let shown = window("a.txt (/) - GVIM", of: "gvim")
    #expect(verdict(file("/a.txt"), application("GVIM"), shown, existing: "/a.txt", "//a.txt") == certain)
  }

  @Test func `of several certain windows the topmost is raised`() {
    let title = "/home/ann/a.txt - Mousepad"
    #expect(verdict(file(), application(), window(title), window(title, number: 2)) == certain)
  }

  @Test func `a file of another name that leads to the same file counts`() {
    #expect(verdict(file(also: "/data/a.txt"), application(), window("/data/a.txt - Mousepad")) == certain)
  }

  @Test func `a held file is certain in a process with one window, also after it was renamed`() {
    let holder = process(holds: [(node, "/home/ann/old.pdf")])
    let (evince, one) = (application("Evince", kind: .viewer), window("a.txt — A title", of: "evince", holder))
    #expect(verdict(file(), evince, one) == certain)
    #expect(verdict(file(), evince, one, window("b.txt", number: 2, of: "evince", holder)) == .start)
  }

  @Test func `a viewer goes on naming the path that a held file had before it was renamed`() {
    var one = window("/home/ann/old.txt", of: "zathura", process(holds: [(node, "/home/ann/a.txt")]))
    let zathura = application("zathura", kind: .viewer, writesOwnTitles: true)
    #expect(verdict(file(), zathura, one) == certain)
    #expect(verdict(file(), zathura, one, existing: "/home/ann/old.txt") == .start)
    #expect(verdict(file(), application("zathura", habit: .unknown), one) == .start)
    one.process = process(holds: [(node, "/home/ann/a.txt"), (other, "/home/ann/old.txt (deleted)")])
    #expect(verdict(file(), zathura, one) == .start)
  }

  @Test func `gvim's swap file and the name are certain together`() {
    let holder = process(holds: [(other, "/home/ann/.a.txt.swp")])
    for (title, expected) in [("a.txt … - GVIM", certain), ("b.txt … - GVIM", .start)] {
      #expect(verdict(file(), application("GVIM"), window(title, of: "gvim", holder)) == expected)
    }
  }

  @Test func `a player's word counts unless it holds another file instead`() {
    let vlc = application("VLC", kind: .player)
    for (holds, expected) in [([], certain), ([(other, "/home/ann/b.txt")], .start)] {
      let one = window("A song - VLC", of: "vlc", process(holds: holds), playing: "/home/ann/a.txt")
      #expect(verdict(file(), vlc, one) == expected)
    }
  }

  @Test func `the service of an application names the process`() {
    let one = window("a.txt", of: "atril", process(), isNamedByService: true)
    #expect(verdict(file(), application("Atril", kind: .viewer), one) == certain)
  }

  // MARK: Never

  /// A window that is left alone, and why.
  private static let never: [(why: String, application: Application, window: Window)] = [
    ("a name alone is never enough", application(), window("a.txt - Mousepad")),
    ("a window of another application is not read", application(), window("/home/ann/a.txt", of: "xterm")),
    (
      "strangers write the titles", application("Firefox", kind: .quoting),
      window("/home/ann/a.txt - Firefox", of: "firefox")
    ),
    (
      "its title has another directory", application("gedit"),
      window("a.txt (/tmp) - gedit", of: "gedit", process(holds: [(node, "/home/ann/a.txt")]))
    ),
    (
      "its process holds a twin of the name", application(),
      window("/home/ann/a.txt - Mousepad", process(holds: [(other, "/tmp/a.txt")]))
    ),
    ("it is of another machine", application(), window("/home/ann/a.txt - Mousepad", isLocal: false)),
    ("it is a dialog", application(), window("/home/ann/a.txt - Mousepad", isMain: false)),
    (
      "the document may have written the title", application("okular", kind: .viewer),
      window("/home/ann/a.txt", of: "okular", process())
    ),
    ("a file may be called like a name with the home directory", application(), window("a.txt (~) - Mousepad")),
  ]

  @Test func `a window that may show something else is left alone`() {
    for (why, application, window) in Self.never { #expect(verdict(file(), application, window) == .start, "\(why)") }
  }

  @Test func `a neighbour whose name the title may mean makes it ambiguous`() {
    let (gvim, one) = (application("GVIM"), window("a.txt + (~) - GVIM", of: "gvim"))
    #expect(verdict(file(), gvim, one) == certain)
    #expect(verdict(file(), gvim, one, existing: "/home/ann/a.txt +") == .start)
  }

  @Test func `a viewer that is older than the file shows an earlier one`() {
    let zathura = application("zathura", kind: .viewer, writesOwnTitles: true)
    for (birth, expected) in [(999, certain), (1_000, .start), (nil, .start)] as [(Int64?, Verdict)] {
      #expect(verdict(file(birth: birth), zathura, window("/home/ann/a.txt", of: "zathura", process())) == expected)
    }
    #expect(verdict(file(), zathura, window("/home/ann/a.txt", of: "zathura")) == .start)
  }

  @Test func `a clock that is set makes no other process, and moves its start`() {
    var (one, shown) = (emacs(title), window("/home/ann/a.txt", of: "zathura", process()))
    one.process?.started = 50
    shown.process?.started = 50
    #expect(verdict(file(), emacs, one) == likely)
    #expect(verdict(file(), application("zathura", kind: .viewer, writesOwnTitles: true), shown) == .start)
  }

  // MARK: Likely

  private let emacs = application("emacs", habit: .oneProcessForEach)
  private let title = "a.txt - GNU Emacs at host"

  private func emacs(_ title: String, titles: [String]? = nil, started: String? = "/home/ann/a.txt") -> Window {
    var one = window(title, of: "emacs", process(given: "/home/ann/a.txt"))
    one.history = .init(
      startedWith: started.map(bytes), processStarted: 10, titles: (titles ?? [self.title]).map(bytes))
    return one
  }

  @Test func `a window that was watched since we started it is likely while every title names the file`() {
    #expect(verdict(file(), emacs, emacs(title)) == likely)
    #expect(verdict(file(), emacs, emacs(title, titles: [title, "b.txt - GNU Emacs at host"])) == .start)
    #expect(verdict(file(), emacs, emacs("a.txt<b> - GNU Emacs at host")) == .start)
    var (unseen, replaced) = (emacs(title), emacs(title))
    unseen.history = nil
    replaced.history?.processStarted = 1
    for window in [unseen, replaced] { #expect(verdict(file(), emacs, window) == .start) }
  }

  @Test func `a link's file is shown under the name with which the program was started`() {
    let link = file("/data/link.txt", also: "/home/ann/a.txt")
    #expect(verdict(link, emacs, emacs(title)) == likely)
    #expect(verdict(link, emacs, emacs("link.txt - GNU Emacs at host")) == .start)
  }

  @Test func `an absolute argument is as good as our own start, and a relative one is not`() {
    var one = emacs(title, started: nil)
    #expect(verdict(file(), emacs, one) == likely)
    one.process = process(given: "a.txt")
    #expect(verdict(file(), emacs, one) == .start)
  }

  @Test func `a viewer that holds the file shows it, though the file seems to be newer`() {
    var one = emacs("a.txt - Okular", titles: ["a.txt - Okular"])
    let okular = application("emacs", kind: .viewer, habit: .oneProcessForEach)
    #expect(verdict(file(birth: 1_000), okular, one) == .start)
    one.process?.held = [.init(node, path: bytes("/home/ann/a.txt"))]
    #expect(verdict(file(birth: 1_000), okular, one) == certain)
  }

  @Test func `likely needs an application that opens each document in a process of its own`() {
    #expect(verdict(file(), application("emacs"), emacs(title)) == .start)
  }

  // MARK: Finds it by itself

  @Test func `an application that finds its files is run again if it has a window`() {
    let geany = application("Geany", habit: .findsFile)
    for (title, application, expected) in [
      ("b.txt - /tmp - Geany", "geany", .runAgain(window: nil)), ("a.txt - ~ - Geany", "geany", .runAgain(window: 1)),
      ("a.txt - ~ - Geany", "xterm", .start),
    ] as [(String, String, Verdict)] {
      #expect(verdict(file(), geany, window(title, of: application)) == expected)
    }
  }

  @Test func `an application that finds a window by the path is not asked about a file of another name`() {
    let evince = application("Evince", kind: .viewer, habit: .findsWindow)
    let holder = process(holds: [(node, "/home/ann/a.txt")])
    #expect(verdict(file(), evince, window("old.pdf", of: "evince", holder)) == certain)
    for (isNamed, expected) in [(false, Verdict.runAgain(window: nil)), (true, .runAgain(window: 1))] {
      let one = window("old.pdf", of: "evince", process(), isNamedByService: isNamed)
      #expect(verdict(file(), evince, one) == expected)
    }
  }

  @Test func `a window that nobody knows is not said to be another application's`() {
    var unknown = window("/home/ann/a.txt - Mousepad")
    unknown.application = nil
    let windows = [unknown, window("/home/ann/a.txt - Geany", number: 2, of: "geany")]
    let found = judgement(file(), application(), windows)
    #expect(found.verdict == .start)
    #expect(found.findings.map(\.vetoes) == [[.unknownApplication], [.otherApplication]])
  }

  /// A list of windows asks so: it would read all titles once more for each window.
  @Test func `one window is judged as among all, and no other title is read for it`() {
    let windows = ["a.txt + (~) - GVIM", "b.txt (~) - GVIM", "a.txt (~) - GVIM"].enumerated().map { number, title in
      window(title, number: UInt32(number), of: "gvim")
    }
    let neighbours = ["/home/ann/a.txt +"].map(bytes)
    let all = judgement(file(), application("GVIM"), windows, neighbours).findings
    for (number, window) in windows.enumerated() {
      var asked: [Bytes] = []
      let found = finding(
        of: file(), for: application("GVIM"), in: window, among: windows, home: bytes("/home/ann")
      ) { path in
        asked.append(path)
        return neighbours.contains(path)
      }
      #expect(found == all[number])
      #expect(asked.contains(neighbours[0]) == (number == 0))
    }
  }

  @Test func `every finding names its evidence and what speaks against it`() {
    let windows = [
      window("/home/ann/a.txt - Mousepad"), window("/etc/a.txt - Mousepad", number: 2),
      window("a.txt - Mousepad", number: 3),
    ]
    let found = judgement(file(), application(), windows)
    #expect(
      found.findings == [
        Finding(window: 1, evidence: [.titleNamesPath], vetoes: []),
        Finding(window: 2, evidence: [], vetoes: [.titleNamesOther]),
        Finding(window: 3, evidence: [], vetoes: [.noEvidence]),
      ])
  }
}
