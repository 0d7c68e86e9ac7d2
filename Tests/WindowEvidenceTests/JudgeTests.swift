import Testing
import WindowEvidence

@Suite struct JudgeTests {
  private let node = Node(device: 1, inode: 7)
  private let other = Node(device: 1, inode: 8)

  private func file(_ path: String = "/home/ann/a.txt", birth: Int64? = 100) -> File {
    File(path: bytes(path), node: node, birth: birth)
  }

  private func application(
    _ name: String = "Mousepad", kind: Application.Kind = .editor, habit: Application.Habit = .unknown,
    writesOwnTitles: Bool? = nil
  ) -> Application {
    Application(
      identifier: name.lowercased(), names: [bytes(name)], kind: kind, habit: habit, writesOwnTitles: writesOwnTitles,
      writesDirectories: ["GVIM", "gedit", "Geany"].contains(name))
  }

  private func window(_ number: Int = 1, _ title: String, of application: String = "mousepad") -> Window {
    Window("\(number)", application: application, title: bytes(title))
  }

  private func process(_ number: Int32 = 50, holds: [(Node, String)] = [], arguments: [String] = []) -> Process {
    Process(
      number: number, started: 1_000, held: holds.map { .init($0.0, path: bytes($0.1)) },
      arguments: arguments.map { .init(bytes($0), isAbsolute: true) })
  }

  private func verdict(
    _ file: File, _ application: Application, _ windows: Window..., existing: String...
  ) -> Verdict {
    let home = bytes("/home/ann")
    let asked = pathsToAsk(file, for: application, among: windows, home: home)
    return judge(
      file, for: application, among: windows, home: home, existing: asked.intersection(existing.map(bytes))
    ).verdict
  }

  // MARK: Certain

  @Test func `a title with the path is certain`() {
    #expect(
      verdict(file(), application(), window(1, "other - Mousepad"), window(2, "/home/ann/a.txt - Mousepad"))
        == .raise(window: "2", .certain))
    #expect(verdict(file(), application(), window(1, "~/a.txt - Mousepad")) == .raise(window: "1", .certain))
    #expect(
      verdict(file(), application("GVIM"), window(1, "a.txt (~) - GVIM", of: "gvim")) == .raise(window: "1", .certain))
  }

  @Test func `a file of the root directory is named as any other`() {
    let shown = window(1, "a.txt (/) - GVIM", of: "gvim")
    #expect(
      verdict(file("/a.txt"), application("GVIM"), shown, existing: "/a.txt", "//a.txt")
        == .raise(window: "1", .certain))
  }

  @Test func `of several certain windows the topmost is raised`() {
    let title = "/home/ann/a.txt - Mousepad"
    #expect(verdict(file(), application(), window(2, title), window(1, title)) == .raise(window: "2", .certain))
  }

  @Test func `a file of another name that leads to the same file counts`() {
    var file = file()
    file.otherPaths = [bytes("/data/a.txt")]
    #expect(verdict(file, application(), window(1, "/data/a.txt - Mousepad")) == .raise(window: "1", .certain))
  }

  @Test func `a held file is certain in a process with one window, also after it was renamed`() {
    var one = window(1, "a.txt — A title", of: "evince")
    one.process = process(holds: [(node, "/home/ann/old.pdf")])
    let evince = application("Evince", kind: .viewer)
    #expect(verdict(file(), evince, one) == .raise(window: "1", .certain))
    var second = window(2, "b.txt", of: "evince")
    second.process = one.process
    #expect(verdict(file(), evince, one, second) == .start)
  }

  @Test func `a viewer goes on naming the path that a held file had before it was renamed`() {
    var one = window(1, "/home/ann/old.txt", of: "zathura")
    one.process = process(holds: [(node, "/home/ann/a.txt")])
    let zathura = application("zathura", kind: .viewer, writesOwnTitles: true)
    #expect(verdict(file(), zathura, one) == .raise(window: "1", .certain))
    #expect(verdict(file(), zathura, one, existing: "/home/ann/old.txt") == .start)
    #expect(verdict(file(), application("zathura", habit: .unknown), one) == .start)
    one.process = process(holds: [(node, "/home/ann/a.txt"), (other, "/home/ann/old.txt (deleted)")])
    #expect(verdict(file(), zathura, one) == .start)
  }

  @Test func `gvim's swap file and the name are certain together`() {
    var one = window(1, "a.txt … - GVIM", of: "gvim")
    one.process = process(holds: [(other, "/home/ann/.a.txt.swp")])
    #expect(verdict(file(), application("GVIM"), one) == .raise(window: "1", .certain))
    one.title = bytes("b.txt … - GVIM")
    #expect(verdict(file(), application("GVIM"), one) == .start)
  }

  @Test func `a player's word counts unless it holds another file instead`() {
    var one = window(1, "A song - VLC media player", of: "vlc media player")
    one.playing = bytes("/home/ann/a.txt")
    one.process = process()
    let vlc = application("VLC media player", kind: .player)
    #expect(verdict(file(), vlc, one) == .raise(window: "1", .certain))
    one.process = process(holds: [(other, "/home/ann/b.txt")])
    #expect(verdict(file(), vlc, one) == .start)
  }

  @Test func `the service of an application names the process`() {
    var one = window(1, "a.txt", of: "atril")
    one.process = process()
    one.isNamedByService = true
    #expect(verdict(file(), application("Atril", kind: .viewer), one) == .raise(window: "1", .certain))
  }

  // MARK: Never

  @Test func `a name alone is never enough`() {
    #expect(verdict(file(), application(), window(1, "a.txt - Mousepad")) == .start)
  }

  @Test func `a window of another application is not read`() {
    #expect(verdict(file(), application(), window(1, "/home/ann/a.txt", of: "xterm")) == .start)
  }

  @Test func `programs whose titles strangers write are not read`() {
    let firefox = application("Firefox", kind: .quoting)
    #expect(verdict(file(), firefox, window(1, "/home/ann/a.txt - Firefox", of: "firefox")) == .start)
  }

  @Test func `a title with another directory speaks against a window`() {
    var one = window(1, "a.txt (/tmp) - gedit", of: "gedit")
    one.process = process(holds: [(node, "/home/ann/a.txt")])
    #expect(verdict(file(), application("gedit"), one) == .start)
  }

  @Test func `a neighbour whose name the title may mean makes it ambiguous`() {
    let title = "a.txt + (~) - GVIM"
    let gvim = application("GVIM")
    #expect(verdict(file(), gvim, window(1, title, of: "gvim")) == .raise(window: "1", .certain))
    #expect(verdict(file(), gvim, window(1, title, of: "gvim"), existing: "/home/ann/a.txt +") == .start)
  }

  @Test func `a process that holds a twin of the name is left alone`() {
    var one = window(1, "/home/ann/a.txt - Mousepad")
    one.process = process(holds: [(other, "/tmp/a.txt")])
    #expect(verdict(file(), application(), one) == .start)
  }

  @Test func `a viewer that is older than the file shows an earlier one`() {
    var one = window(1, "/home/ann/a.txt", of: "zathura")
    one.process = process()
    let zathura = application("zathura", kind: .viewer, writesOwnTitles: true)
    #expect(verdict(file(birth: 999), zathura, one) == .raise(window: "1", .certain))
    #expect(verdict(file(birth: 1_000), zathura, one) == .start)
    #expect(verdict(file(birth: nil), zathura, one) == .start)
    one.process = nil
    #expect(verdict(file(), zathura, one) == .start)
  }

  @Test func `windows of other machines and dialogs are left alone`() {
    var one = window(1, "/home/ann/a.txt - Mousepad")
    one.isLocal = false
    #expect(verdict(file(), application(), one) == .start)
    one.isLocal = true
    one.isMain = false
    #expect(verdict(file(), application(), one) == .start)
  }

  @Test func `a title that the document may have written is not read`() {
    var one = window(1, "/home/ann/a.txt", of: "okular")
    one.process = process()
    #expect(verdict(file(), application("okular", kind: .viewer), one) == .start)
  }

  @Test func `a file may be called like a name with the home directory`() {
    #expect(verdict(file(), application(), window(1, "a.txt (~) - Mousepad")) == .start)
  }

  // MARK: Likely

  private func emacs(_ title: String, titles: [String], started: String? = "/home/ann/a.txt") -> Window {
    var one = window(1, title, of: "emacs")
    one.process = process(arguments: ["/home/ann/a.txt"])
    one.history = .init(startedWith: started.map(bytes), processStarted: 1_000, titles: titles.map(bytes))
    return one
  }

  private var emacs: Application { application("emacs", habit: .oneProcessForEach) }

  @Test func `a window that was watched since we started it is likely while every title names the file`() {
    let title = "a.txt - GNU Emacs at host"
    #expect(verdict(file(), emacs, emacs(title, titles: [title])) == .raise(window: "1", .likely))
    #expect(verdict(file(), emacs, emacs(title, titles: [title, "b.txt - GNU Emacs at host"])) == .start)
    #expect(verdict(file(), emacs, emacs("a.txt<b> - GNU Emacs at host", titles: [title])) == .start)
    var unseen = emacs(title, titles: [title])
    unseen.history = nil
    #expect(verdict(file(), emacs, unseen) == .start)
    var replaced = emacs(title, titles: [title])
    replaced.history?.processStarted = 1
    #expect(verdict(file(), emacs, replaced) == .start)
  }

  @Test func `a link's file is shown under the name with which the program was started`() {
    var link = file("/data/link.txt")
    link.otherPaths = [bytes("/home/ann/a.txt")]
    let title = "a.txt - GNU Emacs at host"
    #expect(verdict(link, emacs, emacs(title, titles: [title])) == .raise(window: "1", .likely))
    #expect(verdict(link, emacs, emacs("link.txt - GNU Emacs at host", titles: [title])) == .start)
  }

  @Test func `an absolute argument is as good as our own start, and a relative one is not`() {
    let title = "a.txt - GNU Emacs at host"
    #expect(verdict(file(), emacs, emacs(title, titles: [title], started: nil)) == .raise(window: "1", .likely))
    var relative = emacs(title, titles: [title], started: nil)
    relative.process?.arguments = [.init(bytes("/home/ann/a.txt"), isAbsolute: false)]
    #expect(verdict(file(), emacs, relative) == .start)
  }

  @Test func `a viewer that holds the file shows it, though the file seems to be newer`() {
    let title = "a.txt - Okular"
    var one = emacs(title, titles: [title])
    let okular = application("emacs", kind: .viewer, habit: .oneProcessForEach)
    #expect(verdict(file(birth: 1_000), okular, one) == .start)
    one.process?.held = [.init(node, path: bytes("/home/ann/a.txt"))]
    #expect(verdict(file(birth: 1_000), okular, one) == .raise(window: "1", .certain))
  }

  @Test func `likely needs an application that opens each document in a process of its own`() {
    let title = "a.txt - GNU Emacs at host"
    var unknown = emacs
    unknown.habit = .unknown
    #expect(verdict(file(), unknown, emacs(title, titles: [title])) == .start)
  }

  // MARK: Finds it by itself

  @Test func `an application that finds its files is run again if it has a window`() {
    let geany = application("Geany", habit: .findsFile)
    #expect(verdict(file(), geany, window(1, "b.txt - /tmp - Geany", of: "geany")) == .runAgain(window: nil))
    #expect(verdict(file(), geany, window(1, "a.txt - ~ - Geany", of: "geany")) == .runAgain(window: "1"))
    #expect(verdict(file(), geany, window(1, "a.txt - ~ - Geany", of: "xterm")) == .start)
  }

  @Test func `an application that finds a window by the path is not asked about a file of another name`() {
    var one = window(1, "old.pdf", of: "evince")
    one.process = process(holds: [(node, "/home/ann/a.txt")])
    let evince = application("Evince", kind: .viewer, habit: .findsWindow)
    #expect(verdict(file(), evince, one) == .raise(window: "1", .certain))
    one.process = process()
    #expect(verdict(file(), evince, one) == .runAgain(window: nil))
    one.isNamedByService = true
    #expect(verdict(file(), evince, one) == .runAgain(window: "1"))
  }

  @Test func `every finding names its evidence and what speaks against it`() {
    let judgement = judge(
      file(), for: application(), among: [window(1, "/home/ann/a.txt - Mousepad"), window(2, "/etc/a.txt - Mousepad")],
      home: bytes("/home/ann"), existing: [])
    #expect(
      judgement.findings == [
        Finding(window: "1", evidence: [.titleNamesPath], vetoes: []),
        Finding(window: "2", evidence: [], vetoes: [.titleNamesOther]),
      ])
  }
}
