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

/// The one file that a window shows, among files and what was found of each; `nil` if none or several may be meant.
package func document(among findings: [(file: File, finding: Finding)]) -> (file: File, level: Level)? {
  let shown = findings.filter { $0.finding.level != .unsure }
  let byTitle = shown.filter { !$0.finding.evidence.isDisjoint(with: [.titleNamesPath, .titleNamesNameAndDirectory]) }
  let certain = shown.filter { $0.finding.level == .certain }
  for group in [byTitle, certain, shown] {
    if group.count == 1, let only = group.first { return (only.file, only.finding.level) }
    if !group.isEmpty { return nil }
  }
  return nil
}
