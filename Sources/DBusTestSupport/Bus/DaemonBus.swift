internal import DBus
internal import Glibc

struct DaemonBus: BusBackend {
  let address: BusAddress
  let process: Supervised
  private let folder: PrivateFolder

  init(in folder: PrivateFolder, limits: [String: Int]) async throws {
    self.folder = folder
    try PrivateFolder.make("\(folder.path)/services")
    try folder.write(Self.configuration(in: folder.path, limits: limits), to: "bus.conf")
    let pipe = try OwnedFileDescriptor.pipe()
    let process = try await Supervised(
      [
        try Programs.required("dbus-daemon"), "--config-file=\(folder.path)/bus.conf", "--nofork", "--nopidfile",
        "--nosyslog", "--print-address=3",
      ],
      descriptor: pipe.writeEnd, removing: folder.path)
    self.process = process
    do {
      // The daemon prints its address when clients can connect; if the daemon ends first, the pipe ends without a line.
      let lines = try OutputReader(pipe.readEnd)
      let line = try await withLimit(usualLimit, "the address of dbus-daemon") { try await lines.nextLine() }
      guard let line else { throw BusFailure("dbus-daemon ended before it printed its address", log: process.output) }
      address = BusAddress(line)
    } catch {
      await process.stop()
      throw error
    }
  }

  func stop() async { await process.stop() }

  func install(_ service: ActivatableService) async throws {
    // The word is quoted for the daemon's shell-like parser, then escaped for the file.
    let assignments = service.environment.map { "\($0.key)=\($0.value)" }
    let words = (assignments.isEmpty ? [] : ["/usr/bin/env"] + assignments) + service.command
    let line = words.map(Self.quoted).joined(separator: " ")
    try folder.write(
      "[D-BUS Service]\nName=\(service.name)\nExec=\(Self.escaped(line))\n", to: "services/\(service.name).service")
    let connection = try await Connection.open(address)
    try await ending(with: { await connection.close() }) {
      try await connection.call(to: .bus, at: .bus, .bus, "ReloadConfig")
    }
  }

  /// The configuration uses nothing of the machine: no folders with services, no policy, and limits that no test reaches by accident.
  private static func configuration(in folder: String, limits changed: [String: Int]) -> String {
    let usual = [
      "max_incoming_bytes": 1_000_000_000, "max_outgoing_bytes": 1_000_000_000, "max_message_size": 1_000_000_000,
      "max_incoming_unix_fds": 250_000, "max_outgoing_unix_fds": 250_000, "max_message_unix_fds": 4096,
      "service_start_timeout": 120_000, "auth_timeout": 240_000, "pending_fd_timeout": 150_000,
      "max_completed_connections": 100_000, "max_incomplete_connections": 10_000,
      "max_connections_per_user": 100_000, "max_pending_service_starts": 10_000, "max_names_per_connection": 50_000,
      "max_match_rules_per_connection": 50_000, "max_replies_per_connection": 50_000,
    ]
    let elements = usual.merging(changed) { $1 }.map { "  <limit name=\"\($0.key)\">\($0.value)</limit>\n" }.joined()
    return """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <keep_umask/>
        <listen>unix:path=\(folder)/bus</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(folder)/services</servicedir>
        <policy context="default">
          <allow user="*"/>
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
        </policy>
      \(elements)</busconfig>
      """
  }

  private static func quoted(_ word: String) -> String {
    "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { character in
      switch character {
      case "\\": #"\\"#
      case "\n": #"\n"#
      case "\r": #"\r"#
      case "\t": #"\t"#
      default: "\(character)"
      }
    }.joined()
  }
}
