import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

/// Checks everything that the service needs, and says how to repair what is missing or wrong.
enum DoctorCommand {
  private struct Finding {
    enum Kind: String { case good, note, wrong }
    let kind: Kind
    let what: String
    let text: String
  }

  static func run(_ invocation: Invocation) async throws -> Status {
    var findings = [Finding(kind: .good, what: "command", text: "stagedoor \(CommandTable.versionNumber)")]
    findings += await bus(invocation)
    findings += activation()
    findings += manifests()
    findings.append(state())
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
      for finding in findings where finding.kind != .good || !invocation.has(.quiet) {
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

  private static func bus(_ invocation: Invocation) async -> [Finding] {
    let client: Client
    do throws(Problem) { client = try await Client(invocation) } catch {
      return [Finding(kind: .wrong, what: "bus", text: error.sentence)]
    }
    var findings = [Finding(kind: .good, what: "bus", text: "there is a session bus")]
    do throws(StagedoorError) {
      let version = try await client.stagedoor.version()
      findings.append(
        version == 1
          ? Finding(kind: .good, what: "service", text: "it runs, and speaks version \(version) of the contract")
          : Finding(
            kind: .wrong, what: "service",
            text:
              "it speaks version \(version) of the contract, and this command version 1; install both from one package")
      )
    } catch  where error.code == .serviceUnknown {
      findings.append(
        Finding(
          kind: .wrong, what: "service",
          text: "nobody serves org.stagedoor.Interchange1, and the bus cannot start it; install it, or run stagedoord"))
    } catch {
      findings.append(Finding(kind: .wrong, what: "service", text: "it does not answer: \(error)"))
    }
    return findings
  }

  private static func activation() -> [Finding] {
    let service = "dbus-1/services/org.stagedoor.Interchange1.service"
    var findings: [Finding] = []
    let places: [String] = Directories.data().map { "\($0)/\(service)" }
    if let path = places.first(where: { access($0, R_OK) == 0 }) {
      let lines = String(decoding: (try? InputFile.read(path, limit: 64 << 10)) ?? [], as: UTF8.self).split(
        separator: "\n")
      let program = lines.first { $0.hasPrefix("Exec=") }.map { String($0.dropFirst(5).prefix { $0 != " " }) }
      findings.append(installed(path, program))
    } else {
      findings.append(
        Finding(
          kind: .note, what: "activation",
          text:
            "no \(service) in a data directory, so somebody has to start stagedoord; `make install` puts it there")
      )
    }
    let directories: [String] = [
      Directories.userData().map { "\($0)/systemd/user" }, "/etc/systemd/user", "/usr/local/lib/systemd/user",
      "/usr/lib/systemd/user",
    ].compactMap(\.self)
    let units: [String] = directories.map { "\($0)/stagedoord.service" }
    if let unit = units.first(where: { access($0, R_OK) == 0 }) {
      findings.append(Finding(kind: .good, what: "unit", text: unit))
    } else {
      findings.append(
        Finding(
          kind: .note, what: "unit",
          text: "no stagedoord.service; without it the bus starts the service itself, which is enough"))
    }
    return findings
  }

  /// The program that the bus starts, and whether it has the version of this command.
  private static func installed(_ path: String, _ program: String?) -> Finding {
    guard let program else {
      return Finding(kind: .wrong, what: "activation", text: "\(path) starts nothing; install Stagedoor again")
    }
    guard access(program, X_OK) == 0 else {
      return Finding(
        kind: .wrong, what: "activation",
        text: "\(path) starts \(program), which is not there; install Stagedoor again")
    }
    let version = version(of: program)
    if version != "stagedoord \(CommandTable.versionNumber)" {
      let found = version.map { "is \($0)" } ?? "does not say its version"
      return Finding(
        kind: .wrong, what: "activation",
        text:
          "\(path) starts \(program), which \(found), and this is stagedoor \(CommandTable.versionNumber); install both from one package"
      )
    }
    return Finding(
      kind: .good, what: "activation", text: "\(path) starts \(program), version \(CommandTable.versionNumber)")
  }

  /// The output of a program that is asked for its version.
  private static func version(of program: String) -> String? {
    guard let (readEnd, writeEnd) = try? OwnedFileDescriptor.pipe() else { return nil }
    let (process, error) = Spawn.start([program, "--version"], in: .group) { actions in
      posix_spawn_file_actions_adddup2(&actions, writeEnd.withRawValue { $0 }, STDOUT_FILENO)
    }
    writeEnd.close()
    if error != 0 { return nil }
    let text = try? InputFile.read(readEnd.withRawValue { $0 }, program, limit: 4096)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return text.map { String(decoding: $0, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "" }
  }

  /// The manifests as the service reads them: of two manifests of one application the service reads the first, even if it is wrong.
  private static func manifests() -> [Finding] {
    let (found, broken, doubles) = ManifestFile.installed.read()
    var findings: [(path: String, finding: Finding)] = []
    func add(_ kind: Finding.Kind, _ path: String, _ text: String) {
      findings.append((path, Finding(kind: kind, what: "manifest", text: text)))
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

  private static func state() -> Finding {
    guard let path = Directories.state() else {
      return Finding(
        kind: .wrong, what: "state", text: "there is no place for it: set HOME, or XDG_STATE_HOME to an absolute path")
    }
    var status = stat()
    if stat(path, &status) != 0 {
      return Finding(kind: .good, what: "state", text: "\(path) is made when the service first starts")
    }
    if status.st_mode & S_IFMT != S_IFDIR || access(path, R_OK | W_OK | X_OK) != 0 {
      return Finding(kind: .wrong, what: "state", text: "\(path) cannot be written; make it a directory of yours")
    }
    if status.st_mode & 0o077 != 0 {
      return Finding(kind: .note, what: "state", text: "others can read \(path); run `chmod 700 \(path)`")
    }
    return Finding(kind: .good, what: "state", text: path)
  }
}
