import DBus
import DesktopFiles
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit
import TextRules

/// Checks everything that the service needs, and says how to repair each fault.
enum DoctorCommand {
  private struct Finding {
    enum Kind: String { case good, note, wrong }
    let kind: Kind
    let what, text: String

    static func good(_ what: String, _ text: String) -> Finding { Finding(kind: .good, what: what, text: text) }
    static func note(_ what: String, _ text: String) -> Finding { Finding(kind: .note, what: what, text: text) }
    static func wrong(_ what: String, _ text: String) -> Finding { Finding(kind: .wrong, what: what, text: text) }
  }

  private static let fields: [Field<Finding>] = [
    Field("what", value: { .text($0.what) }), Field("state", value: { .text($0.kind.rawValue) }),
    Field("text", value: { .text($0.text) }),
  ]

  static func run(_ invocation: Invocation) async throws {
    var findings: [Finding] = [.good("command", "stagedoor \(CommandTable.versionNumber)")]
    let (ofBus, service) = await bus(invocation)
    let (ofActivation, started) = activation()
    findings += ofBus + ofActivation
    if let service { findings += running(service, started) }
    findings += units() + manifests() + rules() + habits()
    findings.append(state(isServed: service != nil))
    if DefaultHandler.isPowerless { findings.append(.note("windows", DefaultHandler.powerless)) }
    if invocation.has(.json) {
      try Listing(invocation, fields).list(findings, orSay: "")
    } else {
      let screen = invocation.screen
      let width = findings.map(\.what.columns).max() ?? 0
      for finding in findings where finding.kind == .wrong || !invocation.has(.quiet) {
        let room = screen.isTerminal ? max(20, screen.width - width - 9) : Int.max
        let lines = finding.text.printable.wrapped(room)
        let kind = screen.styled(finding.kind.rawValue.padded(5), Style(of: finding.kind.rawValue))
        try Output.line("\(kind)  \(finding.what.padded(width))  \(lines.first ?? "")")
        for line in lines.dropFirst() { try Output.line(String(repeating: " ", count: width + 9) + line) }
      }
    }
    if findings.contains(where: { $0.kind == .wrong }) { throw Status.failed }
  }

  // MARK: The service

  /// The bus and the service on it, and the process of the service.
  private static func bus(_ invocation: Invocation) async -> ([Finding], process: pid_t?) {
    let client: Client
    do throws(Problem) { client = try await Client(invocation) } catch { return ([.wrong("bus", error.sentence)], nil) }
    let connection = client.stagedoor.connection
    let bus = Finding.good("bus", "there is a session bus")
    // The first call starts the service.
    let ran = (try? await connection.owner(of: Client.service)) ?? nil != nil
    do throws(StagedoorError) {
      let version = try await client.stagedoor.version()
      let process = await process(on: connection)
      let which = process.map { ", process \($0)" } ?? ""
      let how = ran ? "it runs\(which)" : "the bus has just started it\(which)"
      let (good, other) = (
        "\(how), and speaks version \(version) of the contract",
        "it speaks version \(version) of the contract, and this command version 1; install both from one package"
      )
      return ([bus, version == 1 ? .good("service", good) : .wrong("service", other)], process)
    } catch {
      let reason =
        switch error.code {
        case .serviceUnknown:
          if let file = ActivationFile.all(of: Client.service).first, program(in: file) != nil {
            ActivationFile.sentence(ofUnknown: file, of: Client.service, starting: "stagedoord")
          } else {
            "nobody serves \(Client.service), and the bus cannot start it; install it, or run stagedoord"
          }
        case _ where error.code.saysStartFailed: "the bus cannot start it: \(error.message)"
        default: "it does not answer: \(error)"
        }
      return ([bus, .wrong("service", reason)], nil)
    }
  }

  private static func process(on connection: Connection) async -> pid_t? {
    guard let owner = (try? await connection.owner(of: Client.service)) ?? nil else { return nil }
    return (try? await connection.credentials(of: owner).processID).map { pid_t(truncatingIfNeeded: $0) }
  }

  /// What `/proc` says of the service's process.
  private static func running(_ process: pid_t, _ started: String?) -> [Finding] {
    let gone = " (deleted)"
    let opened = SmallFile.names(in: "/proc/\(process)/fd").compactMap { LinkTarget.of("/proc/\(process)/fd/\($0)") }
    var findings: [Finding] = []
    if let store = opened.first(where: { $0.hasSuffix("/stagedoor.db\(gone)") }) {
      findings.append(
        .wrong(
          "store",
          "\(store.dropLast(gone.utf8.count)) was deleted while the service runs, and it stores nothing any more; "
            + "end process \(process), and start it again: it makes a new store"))
    }
    guard let program = LinkTarget.of("/proc/\(process)/exe") else { return findings }
    if program.hasSuffix(gone) {
      let present = started ?? path(of: "stagedoord")
      let advice = present == nil ? "end process \(process)" : "`stagedoord --replace` takes over with the present one"
      findings.append(
        .note(
          "service",
          "its program \(program.dropLast(gone.utf8.count)) was replaced or deleted since it started; \(advice)"))
    } else if let started, LinkTarget.last(of: started) ?? started != program {
      findings.append(.note("service", "process \(process) is \(program), and the bus would start \(started)"))
    }
    return findings
  }

  // MARK: How it starts

  /// The activation files, and the program that the bus starts.
  private static func activation() -> ([Finding], program: String?) {
    let files = ActivationFile.all(of: Client.service)
    guard let first = files.first else {
      let text =
        "no \(ActivationFile.name(of: Client.service)) in a data directory, so somebody has to start stagedoord; `make install` puts it there"
      return ([.note("activation", text)] + onPath(besides: nil), nil)
    }
    let (program, finding) = installed(first)
    var findings = [finding]
    for file in files.dropFirst() {
      if let other = self.program(in: file), other != program {
        findings.append(
          .note("activation", "\(file) starts \(described(other)), but \(first) comes before it; remove one of them"))
      }
    }
    return (findings + onPath(besides: program), program)
  }

  /// The program that the first activation file names, if doctor knows the program.
  private static func installed(_ file: String) -> (program: String?, Finding) {
    guard let program = program(in: file) else {
      return (nil, .wrong("activation", "\(file) starts nothing; install Stagedoor again"))
    }
    guard access(program, X_OK) == 0 else {
      let fault = access(program, F_OK) == 0 ? "may not be executed" : "does not exist"
      return (nil, .wrong("activation", "\(file) starts \(program), which \(fault); install Stagedoor again"))
    }
    guard isOurs(program) else {
      return (nil, .note("activation", "\(file) starts \(program), which is not called stagedoord and was not tried"))
    }
    let version = version(of: program)
    let own = CommandTable.versionNumber
    if version == "stagedoord \(own)" {
      return (program, .good("activation", "\(file) starts \(program), version \(own)"))
    }
    let other = "\(described(program, version)), and this is stagedoor \(own)"
    return (program, .wrong("activation", "\(file) starts \(other); install both from one package"))
  }

  /// Another version that a person would start by its name.
  private static func onPath(besides program: String?) -> [Finding] {
    guard let found = path(of: "stagedoord"), found != program.map({ LinkTarget.last(of: $0) ?? $0 }) else { return [] }
    let version = version(of: found)
    if version == "stagedoord \(CommandTable.versionNumber)" { return [] }
    return [.note("path", "the stagedoord on the PATH is \(described(found, version))")]
  }

  private static func path(of name: String) -> String? { Environment.program(name).flatMap { LinkTarget.last(of: $0) } }

  /// The program of an activation file; behind `env` it is another one.
  private static func program(in file: String) -> String? {
    let lines = String(decoding: SmallFile.read(file, limit: 64 << 10) ?? [], as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("Exec=") }.map { String($0.dropFirst(5)) }
    guard var words = line.flatMap({ CommandWords.words(of: $0) })?[...], let first = words.first else { return nil }
    guard first.split(separator: "/").last == "env" else { return first }
    words = words.dropFirst().drop { $0.hasPrefix("-") || $0.utf8.contains(UInt8(ascii: "=")) }
    return words.first.map { $0.hasPrefix("/") ? $0 : path(of: $0) ?? $0 }
  }

  /// Only a program of this name is run: an activation file may name anything.
  private static func isOurs(_ program: String) -> Bool { program.split(separator: "/").last == "stagedoord" }

  private static func described(_ program: String) -> String {
    isOurs(program) ? described(program, version(of: program)) : program
  }

  private static func described(_ program: String, _ version: String?) -> String {
    "\(program), which " + (version.map { "is \($0)" } ?? "does not say its version")
  }

  private static func version(of program: String) -> String? {
    PrintedLine.first(of: [Array(program.utf8), Array("--version".utf8)])
  }

  private static func units() -> [Finding] {
    let directories: [String] = [
      Directories.userConfiguration().map { "\($0)/systemd/user" }, Directories.userData().map { "\($0)/systemd/user" },
      "/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
    ].compactMap(\.self)
    let units: [String] = directories.map { "\($0)/stagedoord.service" }
    guard let unit = units.first(where: { access($0, R_OK) == 0 }) else {
      return [
        .note("unit", "no stagedoord.service; the bus needs none to start the service, if there is an activation file")
      ]
    }
    return [.good("unit", unit)]
  }

  // MARK: Files

  /// The manifests as the service reads them: of two manifests of one application the service reads the first, even if it is wrong.
  private static func manifests() -> [Finding] {
    var installed = ManifestFile.installed
    let (found, broken, doubles) = installed.read()
    var findings = found.values.map { manifest -> (path: String, Finding) in
      let path = manifest.file.string
      guard let warning = ManifestWarnings.all(manifest.manifest).first else { return (path, .good("manifest", path)) }
      return (path, .note("manifest", "\(path): \(warning); `stagedoor check` lists every warning"))
    }
    findings += broken.map {
      ($0.path, .wrong("manifest", "\($0.path): \($0.complaints[0]); `stagedoor check` lists every fault"))
    }
    findings += doubles.map {
      let path = $0.isPassedOver.string
      return (path, .note("manifest", "\(path): \($0.counts) comes before it; remove one of them"))
    }
    if findings.isEmpty {
      return [.note("manifest", "no application is installed; `stagedoor install-manifest Info.plist` installs one")]
    }
    return findings.sorted { $0.path < $1.path }.map(\.1)
  }

  /// The rules as the service reads them.
  private static func rules() -> [Finding] {
    var installed = GivenRules.installed
    let (rules, broken, warnings) = installed.read()
    var findings = broken.flatMap { file in file.complaints.map { Finding.wrong("rules", "\(file.path):\($0)") } }
    if !broken.isEmpty {
      findings.append(.note("rules", "a running service keeps the version before a broken one, if it read one"))
    }
    findings += warnings.map { .note("rules", $0) }
    let files = Set(rules.entries.map(\.file)).count
    if files > 0 { findings.append(.good("rules", "rules: \(rules.entries.count), files: \(files)")) }
    return findings
  }

  /// The person's lines about applications, as the understudy reads them.
  private static func habits() -> [Finding] {
    let settings = Directories.configuration().first.map { "\($0)/stagedoor" }
    return Habits(in: settings).complaints.map { .wrong("understudy", $0) }
  }

  private static func state(isServed: Bool) -> Finding {
    guard let path = Directories.state() else {
      return .wrong(
        "state", "there is no directory for the service's state: set HOME, or XDG_STATE_HOME to an absolute path")
    }
    var status = stat()
    if stat(path, &status) != 0 {
      return isServed
        ? .note("state", "\(path) does not exist: the service that runs stores nothing, or stores elsewhere")
        : .good("state", "\(path) is made when the service first starts")
    }
    if status.st_mode & S_IFMT != S_IFDIR || access(path, R_OK | W_OK | X_OK) != 0 {
      return .wrong("state", "\(path) cannot be written; make it a directory of yours")
    }
    if status.st_mode & 0o077 != 0 { return .note("state", "others can read \(path); run `chmod 700 \(path)`") }
    return .good("state", path)
  }
}
