import SceneTestSupport
import Testing
import WindowEvidence

/// Desktops that a seed makes up: what each window really shows is known, and the judge sees only what a display, the kernel and a bus would tell.
@Suite struct DesktopLawTests {
  @Test func `no desktop has a wrong window at certain`() {
    var (raised, likely) = (0, 0)
    for seed in 0..<UInt64(rounds(4_000)) {
      let desktop = Desktop(seed: seed)
      for file in desktop.files {
        for application in desktop.applications {
          let judgement = desktop.judgement(of: file, for: application)
          guard let named = judgement.shownIn,
            let window = desktop.windows.first(where: { $0.seen.number == named.window })
          else { continue }
          if named.level == .certain { raised += 1 } else { likely += 1 }
          #expect(
            window.shows(file),
            "seed \(seed): \(String(decoding: file.path, as: UTF8.self)) is not in \(String(decoding: window.seen.title, as: UTF8.self))"
          )
          #expect(window.seen.application == application.identifier)
        }
      }
    }
    // Otherwise the law would hold of a judge that never raises a window.
    #expect(raised > 4_000)
    #expect(likely > 100)
  }

  @Test func `the order of other windows changes nothing but which of several certain ones is on top`() {
    for seed in 0..<UInt64(rounds(500)) {
      let desktop = Desktop(seed: seed)
      guard let file = desktop.files.first, let application = desktop.applications.first else { continue }
      var turned = desktop
      turned.windows.reverse()
      let (forth, back) = (desktop.judgement(of: file, for: application), turned.judgement(of: file, for: application))
      #expect(forth.findings == back.findings.reversed())
    }
  }
}

/// A file of a made-up disk. A path may have got another file after a window had opened the first.
private struct StoredFile {
  let path: Bytes
  let node: Node
  let birth: Int64
  let isReplaced: Bool

  var asked: File { File(path: path, node: node, birth: birth) }
}

private struct ShownWindow {
  var seen: Window
  let path: Bytes
  let node: Node
  let kind: Application.Kind

  /// An editor shows its path, whatever file has it now; everything else shows the file that it opened.
  func shows(_ file: StoredFile) -> Bool {
    kind == .editor ? path == file.path || node == file.node : node == file.node
  }
}

private struct Desktop {
  static let home = bytes("/home/ann")
  static let started: Int64 = 1_000_000

  private(set) var files: [StoredFile] = []
  var windows: [ShownWindow] = []
  let applications: [Application]

  private static let names = [
    "a.txt", "a.txt +", "a", "a - b.txt", "b.txt", "*a.txt", "a.txt - Paper", "Paper: a.txt", "a.txt (~)", "index.html",
    "a.txt<b>", "A.TXT",
  ]
  private static let directories = ["/home/ann", "/home/ann/a", "/home/ann/a - b", "/tmp", "/tmp/(x)", "/a.txt"]
  /// How programs write their titles. `N` is the name, `D` the directory, `P` the path, `M` a mark for changes, `A` the program.
  private static let forms = [
    "MP - A", "P", "MN (D) - A", "N M (D) - A", "MN - D - A", "N - A", "N", "A: P", "S", "N — S - A",
  ]

  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    applications = [
      Application(identifier: "paper", names: [bytes("Paper")], kind: .editor, habit: .unknown),
      Application(identifier: "sheet", names: [bytes("Sheet"), bytes("sheet")], kind: .viewer, habit: .unknown),
      Application(
        identifier: "scroll", names: [bytes("Scroll")], kind: .viewer, habit: .oneProcessForEach, writesOwnTitles: true),
      Application(identifier: "reel", names: [bytes("Reel")], kind: .player, habit: .oneProcessForEach),
      Application(identifier: "quill", names: [bytes("Quill")], kind: .editor, habit: .oneProcessForEach),
      Application(identifier: "desk", names: [bytes("Desk")], kind: .editor, habit: .findsFile),
    ]
    makeFiles(&random)
    for number in 0..<(1 + UInt32(random.below(6))) { addWindow(number, &random) }
  }

  func judgement(of file: StoredFile, for application: Application) -> Judgement {
    judge(file.asked, for: application, among: windows.map(\.seen), home: Desktop.home) { path in
      files.contains { $0.path == path }
    }
  }

  private mutating func makeFiles(_ random: inout SeededRandom) {
    var paths: Set<Bytes> = []
    for number in 0..<(2 + random.below(6)) {
      let path = bytes(random.one(of: Desktop.directories) + "/" + random.one(of: Desktop.names))
      guard paths.insert(path).inserted else { continue }
      // Some paths got their file after the programs had started.
      let isReplaced = random.once(in: 4)
      files.append(
        StoredFile(
          path: path, node: Node(device: 1, inode: UInt64(100 + number)),
          birth: isReplaced ? Desktop.started + 500 : 10, isReplaced: isReplaced))
    }
  }

  private mutating func addWindow(_ number: WindowNumber, _ random: inout SeededRandom) {
    let file = random.one(of: files)
    if random.once(in: 5) {
      // A terminal whose title imitates another program's, or a dialog of nobody.
      let title = text(of: random.one(of: Desktop.forms), file.path, program: "Paper", &random)
      let node = Node(device: 9, inode: UInt64(number))
      windows.append(
        ShownWindow(
          seen: Window(number, application: random.once(in: 2) ? nil : "xterm", title: title), path: [],
          node: node, kind: .quoting))
      return
    }
    let application = random.one(of: applications)
    let form = random.one(
      of: application.writesOwnTitles ? Desktop.forms.filter { !$0.contains("S") } : Desktop.forms)
    // The program opened the path before another file took its place.
    let shown = file.isReplaced ? Node(device: 1, inode: 900 + UInt64(number)) : file.node
    let title = text(
      of: form, file.path,
      program: String(decoding: application.names.min() { $0.lexicographicallyPrecedes($1) } ?? [], as: UTF8.self),
      &random)
    var seen = Window(number, application: application.identifier, title: title)
    if random.below(4) > 0 {
      var process = Process(number: Int32(100 + number), started: Desktop.started, ticks: 1)
      if random.once(in: 2) {
        process.held = [.init(shown, path: file.path)]
      } else {
        process.held = random.once(in: 3) ? nil : []
      }
      // Programs hold other files too: covers, subtitles, a dictionary.
      if random.once(in: 3) {
        let stranger = random.one(of: files)
        if application.kind == .player || random.once(in: 2) {
          process.arguments = [file.path]
        }
        if File.name(of: stranger.path) != File.name(of: file.path) && stranger.path.last != file.path.last {
          process.held?.append(.init(Node(device: 1, inode: 50), path: stranger.path))
        }
      }
      (seen.processNumber, seen.process) = (process.number, process)
      if random.once(in: 2) {
        seen.history = .init(
          startedWith: random.once(in: 2) ? file.path : nil, processStarted: 1, titles: [title])
      }
      if application.kind == .player, random.once(in: 3) { seen.playing = file.isReplaced ? nil : file.path }
    }
    windows.append(ShownWindow(seen: seen, path: file.path, node: shown, kind: application.kind))
  }

  private func text(of form: String, _ path: Bytes, program: String, _ random: inout SeededRandom) -> Bytes {
    let mark = random.once(in: 3)
    let directory = File.directory(of: path)
    let isHome = directory.starts(with: Desktop.home) && random.once(in: 2)
    let written = isHome ? bytes("~") + directory.dropFirst(Desktop.home.count) : directory
    var title: Bytes = []
    for letter in form {
      switch letter {
      case "N": title += File.name(of: path)
      case "D": title += written
      case "P": title += isHome ? bytes("~") + path.dropFirst(Desktop.home.count) : path
      case "M": title += mark ? bytes(form.hasPrefix("N M") ? "+" : "*") : []
      case "A": title += bytes(program)
      case "S": title += random.one(of: files).path
      default: title += bytes(String(letter))
      }
    }
    return title
  }
}
