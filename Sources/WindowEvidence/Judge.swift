/// Says which window shows a file, from evidence alone.
///
/// The judge prefers a second window to a wrong one. A window is *certain* only by evidence that names this very file; it is *likely* only if it was
/// watched since it appeared and nothing has ever spoken against it; everything else is *unsure*, and the application is started.
///
/// - Parameters:
///   - windows: All windows, the topmost first.
///   - home: The person's home directory, which some titles write as `~`.
///   - exists: Whether something is at a path that a title may mean.
package func judge(
  _ file: File, for application: Application, among windows: [Window], home: Bytes, exists: (Bytes) -> Bool
) -> Judgement {
  let judge = Judge(file: file, application: application, windows: windows, home: home)
  let findings = windows.map { judge.finding($0, exists) }
  return Judgement(verdict: judge.verdict(findings), findings: findings)
}

/// What speaks for and against one of the windows. The others only count those of its process.
package func finding(
  of file: File, for application: Application, in window: Window, among windows: [Window], home: Bytes,
  exists: (Bytes) -> Bool
) -> Finding {
  Judge(file: file, application: application, windows: windows, home: home).finding(window, exists)
}

private struct Judge {
  let file: File
  let application: Application
  let windows: [Window]
  let home: Bytes

  func verdict(_ findings: [Finding]) -> Verdict {
    let best = findings.first { $0.level == .certain } ?? findings.first { $0.level == .likely }
    switch (application.habit, best) {
    // The application knows the file by the name with which it was opened, and by no other.
    case (.findsWindow, let best?) where best.evidence.contains(.holdsFile):
      return .raise(window: best.window, best.level)
    // The window may show the file in a tab behind another, which only the application can bring to the front.
    case (.findsFile, let best?), (.findsWindow, let best?): return .runAgain(window: best.window)
    case (.findsFile, nil), (.findsWindow, nil):
      return windows.contains(where: isOurs) ? .runAgain(window: nil) : .start
    case (_, let best?): return .raise(window: best.window, best.level)
    case (_, nil): return .start
    }
  }

  private func isOurs(_ window: Window) -> Bool { window.application == application.identifier && window.isLocal }

  func finding(_ window: Window, _ exists: (Bytes) -> Bool) -> Finding {
    // The title of a window that is none of the chosen application's is not read: it may imitate one.
    var finding = Finding(window: window.number, evidence: [], vetoes: foreign(window))
    if !finding.vetoes.isEmpty { return finding }
    let title = Title(
      window.title, names: application.names, home: home, hasDirectory: application.writesDirectories)
    if application.writesOwnTitles { read(title, exists, &finding) }
    look(at: window, &finding)
    // The file was renamed. An editor may name a file that it has yet to write.
    if application.kind != .editor, finding.evidence.contains(.holdsFile), holdsOnlyFile(window),
      !title.wholePaths.contains(where: exists)
    {
      finding.vetoes.remove(.titleNamesOther)
    }
    recall(window, &finding)
    if finding.evidence.isEmpty, finding.vetoes.isEmpty { finding.vetoes.insert(.noEvidence) }
    return finding
  }

  private func foreign(_ window: Window) -> Set<Veto> {
    var vetoes: Set<Veto> = []
    if window.application != application.identifier {
      vetoes.insert(window.application == nil ? .unknownApplication : .otherApplication)
    }
    if application.kind == .quoting { vetoes.insert(.quotesStrangers) }
    if !window.isLocal { vetoes.insert(.otherMachine) }
    if !window.isMain { vetoes.insert(.notMain) }
    return vetoes
  }

  // MARK: The title

  private func read(_ title: Title, _ exists: (Bytes) -> Bool, _ finding: inout Finding) {
    let ours = title.claims.filter(isFile)
    if ours.isEmpty {
      if !title.wholePaths.isEmpty { finding.vetoes.insert(.titleNamesOther) }
      return
    }
    let isPath = ours.contains { if case .path = $0 { true } else { false } }
    finding.evidence.insert(isPath ? .titleNamesPath : .titleNamesNameAndDirectory)
    if otherReadings(title).contains(where: exists) { finding.vetoes.insert(.titleIsAmbiguous) }
  }

  /// The paths that a title which names the file may mean beside the file's: `*a.txt` may be the changed `a.txt`, or a file of this name.
  private func otherReadings(_ title: Title) -> Set<Bytes> {
    var paths = title.wholePaths
    for case .bareName(let name) in title.claims {
      for path in file.paths { paths.insert(File.path(of: name, in: File.directory(of: path))) }
    }
    return paths.subtracting(file.paths)
  }

  /// Whether a claim names the file with its directory.
  private func isFile(_ claim: Title.Claim) -> Bool {
    switch claim {
    case .path(let path): file.paths.contains(path)
    case .name(let name, let directory):
      file.paths.contains { File.name(of: $0) == name && File.directory(of: $0) == directory }
    case .bareName: false
    }
  }

  // MARK: The process

  private func look(at window: Window, _ finding: inout Finding) {
    guard let process = window.process else {
      // Nobody can say how old the program is.
      if application.kind != .editor { finding.evidence.subtract(Judge.byTitle) }
      return
    }
    let held = process.held ?? []
    let holdsFile = held.contains { $0.node == file.node }
    if holdsFile && windowCount(of: process) == 1 { finding.evidence.insert(.holdsFile) }
    if held.contains(where: { $0.node != file.node && File.name(of: $0.path) == file.name }) {
      finding.vetoes.insert(.holdsTwin)
    }
    if Title.hasWord(file.name, in: window.title), held.contains(where: isSwapFile) {
      finding.evidence.insert(.holdsSwapFile)
    }
    if let playing = window.playing, file.paths.contains(playing), holdsFile || !held.contains(where: isLikeFile) {
      finding.evidence.insert(.playsFile)
    }
    if window.isNamedByService && windowCount(of: process) == 1 { finding.evidence.insert(.namedByService) }
    // A viewer goes on showing what it has read, under a name that now belongs to another file.
    if application.kind != .editor, !holdsFile, (file.birth ?? .max) >= process.started {
      if !finding.evidence.isDisjoint(with: Judge.byTitle) { finding.vetoes.insert(.fileIsNewer) }
    }
  }

  /// Whether a window's process holds the file, and no other of its kind.
  private func holdsOnlyFile(_ window: Window) -> Bool {
    let held = (window.process?.held ?? []).filter { $0.node == file.node || isLikeFile($0) }
    return !held.isEmpty && held.allSatisfy { $0.node == file.node }
  }

  private static let byProcess: Set<Evidence> = [.holdsFile, .playsFile, .namedByService]
  private static let byTitle: Set<Evidence> = [.titleNamesPath, .titleNamesNameAndDirectory]

  private func windowCount(of process: Process) -> Int {
    windows.count { $0.isMain && $0.processNumber == process.number }
  }

  /// vim's swap file of `a.txt` is `.a.txt.swp`, beside the file.
  private func isSwapFile(_ held: Process.HeldFile) -> Bool {
    file.paths.contains { path in
      let swap = Bytes(".".utf8) + File.name(of: path) + Bytes(".sw".utf8)
      let name = File.name(of: held.path)
      return File.directory(of: held.path) == File.directory(of: path) && name.starts(with: swap)
        && name.count == swap.count + 1
    }
  }

  /// Whether a file has the ending of ours: a player holds the file that it plays, and perhaps a cover or subtitles.
  private func isLikeFile(_ held: Process.HeldFile) -> Bool { ending(of: held.path) == ending(of: file.path) }

  private func ending(of path: Bytes) -> Bytes {
    let name = File.name(of: File.unmarked(path))
    return name.lastIndex(of: UInt8(ascii: ".")).map { Bytes(name[$0...]) } ?? []
  }

  // MARK: What has been seen

  /// The weaker evidence: how the window began, and every title since.
  private func recall(_ window: Window, _ finding: inout Finding) {
    guard application.habit == .oneProcessForEach, let history = window.history, let process = window.process,
      windowCount(of: process) == 1
    else { return }
    let started = history.startedWith.flatMap { file.paths.contains($0) ? $0 : nil }
    let given = process.arguments.count == 1 ? process.arguments.first { file.paths.contains($0) } : nil
    // The file may have been asked for by a link of another name.
    guard let name = (started ?? given).map(File.name) else { return }
    if let before = history.processStarted, before != process.ticks { finding.vetoes.insert(.processChanged) }
    let all = history.titles + [window.title]
    guard history.isComplete else { return }
    guard all.allSatisfy({ Title.hasWord(name, in: $0) }) else {
      // The window showed something else in between, or does so now. A player may write the name of a song there.
      if finding.evidence.isDisjoint(with: Judge.byProcess) { finding.vetoes.insert(.titleLostName) }
      return
    }
    if (file.birth ?? .max) >= process.started, application.kind != .editor {
      // The kernel's clock for processes is coarser than that for files.
      if finding.evidence.isDisjoint(with: Judge.byProcess) { finding.vetoes.insert(.fileIsNewer) }
      return
    }
    finding.evidence.insert(started != nil ? .startedWithFile : .argumentNamesFile)
  }
}
