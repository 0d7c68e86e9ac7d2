import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit
import TextRules

/// Checks everything that the service needs, and says how to repair what is missing or wrong.
enum DoctorCommand {
  private struct Finding {
    enum Kind: String { case good, note, wrong }
    let kind: Kind
    let what: String
    let text: String

    init(_ kind: Kind, _ what: String, _ text: String) {
      self.kind = kind
      self.what = what
      self.text = text
    }
  }

  static func run(_ invocation: Invocation) async throws -> Status {
    var findings = [Finding(.good, "command", "stagedoor \(CommandTable.versionNumber)")]
    let (ofBus, service) = await bus(invocation)
    let (ofActivation, started) = activation()
    findings += ofBus + ofActivation
    if let service { findings += running(service, started) }
    findings += units() + manifests() + rules()
    findings.append(state())
    if DefaultHandler.isPowerless { findings.append(Finding(.note, "windows", DefaultHandler.powerless)) }
    if invocation.has(.json) {
      var list = Printed.List()
      for finding in findings {
        try list.add(
          Printed.object([
            ("what", .text(finding.what)), ("state", .text(finding.kind.rawValue)), ("text", .text(finding.text)),
          ]))
      }
      try list.end()
    } else {
      let screen = invocation.screen
      let width = findings.map(\.what.columns).max() ?? 0
      for finding in findings where finding.kind == .wrong || !invocation.has(.quiet) {
        let style: Style = finding.kind == .good ? .good : finding.kind == .note ? .waiting : .bad
        let room = screen.isTerminal ? max(20, screen.width - width - 9) : Int.max
        let lines = finding.text.printable.wrapped(room)
        try Output.line(
          "\(screen.styled(finding.kind.rawValue.padded(5), style))  \(finding.what.padded(width))  \(lines.first ?? "")"
        )
        for line in lines.dropFirst() { try Output.line(String(repeating: " ", count: width + 9) + line) }
      }
    }
    return findings.contains { $0.kind == .wrong } ? .failed : .done
  }

  // MARK: The service

  /// The bus and the service on it, and the process of the service.
  private static func bus(_ invocation: Invocation) async -> ([Finding], process: pid_t?) {
    let client: Client
    do throws(Problem) { client = try await Client(invocation) } catch {
      return ([Finding(.wrong, "bus", error.sentence)], nil)
    }
    let connection = client.stagedoor.connection
    var findings = [Finding(.good, "bus", "there is a session bus")]
    // The first call starts the service.
    let ran = (try? await connection.owner(of: Client.service)) ?? nil != nil
    do throws(StagedoorError) {
      let version = try await client.stagedoor.version()
      let process = await process(on: connection)
      let which = process.map { ", process \($0)" } ?? ""
      let how = ran ? "it runs\(which)" : "the bus has just started it\(which)"
      findings.append(
        version == 1
          ? Finding(.good, "service", "\(how), and speaks version \(version) of the contract")
          : Finding(
            .wrong, "service",
            "it speaks version \(version) of the contract, and this command version 1; install both from one package"))
      return (findings, process)
    } catch  where error.code == .serviceUnknown {
      findings.append(
        Finding(
          .wrong, "service",
          "nobody serves \(Client.service), and the bus cannot start it; install it, or run stagedoord"))
    } catch  where error.code.saysStartFailed {
      findings.append(Finding(.wrong, "service", "the bus cannot start it: \(error.message)"))
    } catch {
      findings.append(Finding(.wrong, "service", "it does not answer: \(error)"))
    }
    return (findings, nil)
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
        Finding(
          .wrong, "store",
          "\(store.dropLast(gone.utf8.count)) was deleted while the service runs, and it stores nothing any more; "
            + "end process \(process), and start it again: it makes a new store"))
    }
    guard let program = LinkTarget.of("/proc/\(process)/exe") else { return findings }
    if program.hasSuffix(gone) {
      findings.append(
        Finding(
          .note, "service",
          "its program \(program.dropLast(gone.utf8.count)) was replaced or deleted since it started; "
            + "`stagedoord --replace` takes over with the present one"))
    } else if let started, real(started) != program {
      findings.append(
        Finding(.note, "service", "process \(process) is \(program), and the bus would start \(started)"))
    }
    return findings
  }

  private static func real(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  // MARK: How it starts

  /// The activation files, and the program that the bus starts.
  private static func activation() -> ([Finding], program: String?) {
    let service = "dbus-1/services/\(Client.service).service"
    let places: [String] = Directories.data().map { "\($0)/\(service)" }
    let files = places.filter { access($0, R_OK) == 0 }
    guard let first = files.first else {
      let text = "no \(service) in a data directory, so somebody has to start stagedoord; `make install` puts it there"
      return ([Finding(.note, "activation", text)] + onPath(besides: nil), nil)
    }
    let (program, finding) = installed(first)
    var findings = [finding]
    for file in files.dropFirst() {
      if let other = self.program(in: file), other != program {
        findings.append(
          Finding(
            .note, "activation", "\(file) starts \(described(other)), but \(first) comes before it; remove one of them")
        )
      }
    }
    return (findings + onPath(besides: program), program)
  }

  /// The file that counts, and the program that it names, if doctor knows the program.
  private static func installed(_ file: String) -> (program: String?, Finding) {
    guard let program = program(in: file) else {
      return (nil, Finding(.wrong, "activation", "\(file) starts nothing; install Stagedoor again"))
    }
    guard access(program, X_OK) == 0 else {
      return (
        nil, Finding(.wrong, "activation", "\(file) starts \(program), which is not there; install Stagedoor again")
      )
    }
    guard isOurs(program) else {
      return (
        nil, Finding(.note, "activation", "\(file) starts \(program), which is not called stagedoord and was not tried")
      )
    }
    let version = version(of: program)
    let isSame = version == "stagedoord \(CommandTable.versionNumber)"
    return (
      program,
      Finding(
        isSame ? .good : .wrong, "activation",
        isSame
          ? "\(file) starts \(program), version \(CommandTable.versionNumber)"
          : "\(file) starts \(described(program, version)), and this is stagedoor \(CommandTable.versionNumber); install both from one package"
      )
    )
  }

  /// Another version that a person would start by its name.
  private static func onPath(besides program: String?) -> [Finding] {
    guard let found = path(of: "stagedoord"), found != program.map(real) else { return [] }
    let version = version(of: found)
    if version == "stagedoord \(CommandTable.versionNumber)" { return [] }
    return [Finding(.note, "path", "the stagedoord on the PATH is \(described(found, version))")]
  }

  private static func path(of name: String) -> String? {
    let places: [String] = (Environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
    return places.first { access($0, X_OK) == 0 }.map(real)
  }

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

  /// The first line that a program prints when it is asked for its version; `nil` if none comes within two seconds.
  private static func version(of program: String) -> String? {
    guard let (readEnd, writeEnd) = try? OwnedFileDescriptor.pipe() else { return nil }
    let (process, error) = Spawn.start([program, "--version"], in: .group) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, writeEnd.withRawValue { $0 }, STDOUT_FILENO)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    writeEnd.close()
    if error != 0 { return nil }
    let text = firstLine(of: readEnd.withRawValue { $0 }, until: ContinuousClock.now + .seconds(2))
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return text
  }

  private static func firstLine(of descriptor: Int32, until deadline: ContinuousClock.Instant) -> String? {
    var bytes: [UInt8] = []
    while bytes.count < 4096 {
      let rest = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
      var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard rest > 0, poll(&input, 1, Int32(rest.rounded(.up))) > 0,
        let chunk = try? InputFile.chunk(of: descriptor, "its output")
      else { return nil }
      bytes += chunk
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return String(decoding: bytes[..<end], as: UTF8.self) }
    }
    return nil
  }

  private static func units() -> [Finding] {
    let directories: [String] = [
      Environment["HOME"].map { "\($0)/.config/systemd/user" }, Directories.userData().map { "\($0)/systemd/user" },
      "/etc/systemd/user", "/usr/local/lib/systemd/user",
      "/usr/lib/systemd/user",
    ].compactMap(\.self)
    let units: [String] = directories.map { "\($0)/stagedoord.service" }
    guard let unit = units.first(where: { access($0, R_OK) == 0 }) else {
      let text = "no stagedoord.service; the bus needs none to start the service, if there is an activation file"
      return [Finding(.note, "unit", text)]
    }
    return [Finding(.good, "unit", unit)]
  }

  // MARK: Files

  /// The manifests as the service reads them: of two manifests of one application the service reads the first, even if it is wrong.
  private static func manifests() -> [Finding] {
    let (found, broken, doubles) = ManifestFile.installed.read()
    var findings: [(path: String, finding: Finding)] = []
    func add(_ kind: Finding.Kind, _ path: String, _ text: String) {
      findings.append((path, Finding(kind, "manifest", text)))
    }
    for manifest in found.values {
      let path = manifest.file.string
      if let warning = ManifestWarnings.all(manifest.manifest).first {
        add(.note, path, "\(path): \(warning); `stagedoor check` lists every warning")
      } else {
        add(.good, path, path)
      }
    }
    for manifest in broken {
      add(.wrong, manifest.path, "\(manifest.path): \(manifest.complaints[0]); `stagedoor check` lists every fault")
    }
    for double in doubles {
      add(
        .note, double.isPassedOver.string,
        "\(double.isPassedOver): \(double.counts) comes before it; remove one of them")
    }
    if findings.isEmpty {
      add(.note, "", "no application is installed; `stagedoor install-manifest Info.plist` installs one")
    }
    return findings.sorted { $0.path < $1.path }.map(\.finding)
  }

  /// The rules as the service reads them.
  private static func rules() -> [Finding] {
    var installed = GivenRules.installed
    let (rules, broken, warnings) = installed.read()
    var findings = broken.flatMap { file in
      file.complaints.map { Finding(.wrong, "rules", "\(file.path):\($0)") }
    }
    if !broken.isEmpty {
      findings.append(
        Finding(.note, "rules", "a running service keeps the version before a broken one, if it read one"))
    }
    findings += warnings.map { Finding(.note, "rules", $0) }
    let files = Set(rules.entries.map(\.file)).count
    if files > 0 { findings.append(Finding(.good, "rules", "rules: \(rules.entries.count), files: \(files)")) }
    return findings
  }

  private static func state() -> Finding {
    guard let path = Directories.state() else {
      return Finding(.wrong, "state", "there is no place for it: set HOME, or XDG_STATE_HOME to an absolute path")
    }
    var status = stat()
    if stat(path, &status) != 0 {
      return Finding(.good, "state", "\(path) is made when the service first starts")
    }
    if status.st_mode & S_IFMT != S_IFDIR || access(path, R_OK | W_OK | X_OK) != 0 {
      return Finding(.wrong, "state", "\(path) cannot be written; make it a directory of yours")
    }
    if status.st_mode & 0o077 != 0 {
      return Finding(.note, "state", "others can read \(path); run `chmod 700 \(path)`")
    }
    return Finding(.good, "state", path)
  }
}
