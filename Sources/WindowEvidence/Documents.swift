/// The paths of files that a window may show: those that its title names, that its process holds or was given, and with which it was started.
package func filesToAsk(about window: Window, of application: Application, home: Bytes) -> Set<Bytes> {
  if application.kind == .quoting || !window.isLocal { return [] }
  var paths: Set<Bytes> = []
  if application.writesOwnTitles {
    let title = Title(window.title, names: application.names, home: home, hasDirectory: application.writesDirectories)
    paths = title.wholePaths
  }
  paths.formUnion((window.process?.held ?? []).prefix(256).map(\.path))
  paths.formUnion((window.process?.arguments ?? []).filter { $0.first == UInt8(ascii: "/") })
  if let path = window.history?.startedWith { paths.insert(path) }
  if let path = window.playing { paths.insert(path) }
  return paths
}

/// The one file that a window shows, among files that were judged; `nil` if none or several may be meant.
package func document(
  of window: WindowNumber, among cases: [(file: File, judgement: Judgement)]
) -> (file: File, level: Level)? {
  let shown = cases.compactMap { file, judgement in
    judgement.findings.first { $0.window == window && $0.level != .unsure }.map { (file: file, finding: $0) }
  }
  let byTitle = shown.filter { !$0.finding.evidence.isDisjoint(with: [.titleNamesPath, .titleNamesNameAndDirectory]) }
  let certain = shown.filter { $0.finding.level == .certain }
  for group in [byTitle, certain, shown] {
    if group.count == 1, let only = group.first { return (only.file, only.finding.level) }
    if !group.isEmpty { return nil }
  }
  return nil
}
