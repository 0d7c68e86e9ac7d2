import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// What `stagedoor doctor` finds, and what the other commands say where nothing can start the service.
@Suite struct DoctorTests {
  private func lines(_ arguments: String..., path: String? = nil) async throws -> [String] {
    var doctor = house.stagedoor(["doctor"] + arguments)
    if let path { doctor.environment["PATH"] = "\(path):/usr/bin:/bin" }
    let result = try await doctor.run()
    #expect(result.standardError == "")
    return result.standardOutput.split(separator: "\n").map(String.init)
  }

  /// The doctor prints a line with this beginning and this part.
  private func expectLine(
    _ start: String, _ part: String = "", path: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await lines(path: path)
    #expect(
      found.contains { $0.hasPrefix(start) && "\($0)\n".contains(part) }, "\(found)", sourceLocation: sourceLocation)
  }

  /// Writes an activation file into the system's data directory, which the private bus does not read.
  private func write(activation command: String, _ place: String = "XDG_DATA_DIRS") throws {
    let path = "\(house.environment[place] ?? "")/dbus-1/services/org.stagedoor.Interchange1.service"
    try house.write("[D-BUS Service]\nName=org.stagedoor.Interchange1\nExec=\(command)\n", to: path)
  }

  private func program(_ name: String, _ script: String) throws -> String {
    let path = "\(house.home)/\(name)"
    try house.writeProgram(path, script)
    return path
  }

  @Test(.house, arguments: ["exit 1", "kill -9 $$", nil])
  func `a service that the bus cannot start is no service, and doctor is named`(script: String?) async throws {
    let path = try program("starter", script ?? "")
    try await house.bus.install(House.name, executable: path)
    if script == nil { try FileManager.default.removeItem(atPath: path) }
    let result = try await expect(["sessions"], ends: 3, with: "); `stagedoor doctor` looks for the reason\n")
    #expect(result.standardError.hasPrefix("stagedoor sessions: the bus cannot start the service ("), "\(result)")
    try await expectLine("wrong  service     the bus cannot start it: ")
  }

  @Test(.service) func `windows says how the bus gets a display, which an understudy needs`() async throws {
    try await house.bus.install("org.stagedoor.Understudy1", executable: try program("no-display", "exit 1"))
    try await expect(["windows"], ends: 0, with: "exited with status 1), which needs a display: ")
  }

  @Test(.house) func `doctor names the lines of understudy.conf that say nothing`() async throws {
    let path = "\(house.home)/config/stagedoor/understudy.conf"
    try house.write("toyview viewer one -\nother viewr one -\n", to: path)
    try await expectLine("wrong  understudy  ", "\(path):2: there is no kind viewr; did you mean viewer?\n")
  }

  @Test(.house) func `doctor says whether the service ran, or the bus has just started it`() async throws {
    try await house.installService("--durability", "memory")
    try await expectLine("good   service     the bus has just started it, process ")
    try await expectLine("good   service     it runs, process ")
  }

  @Test(.house) func `a program that does not say its version is not waited for, and ends`() async throws {
    try write(activation: try program("stagedoord", "echo $$ >\(house.home)/pid; sleep 1000"))
    let begun = ContinuousClock.now
    try await expectLine("wrong  activation", "does not say its version")
    #expect(begun.duration(to: .now) < usualLimit)
    let process = try String(contentsOfFile: "\(house.home)/pid", encoding: .utf8).split(separator: "\n")[0]
    try await eventually("it to end") { !FileManager.default.fileExists(atPath: "/proc/\(process)") }
  }

  @Test(.house) func `doctor runs nothing that is not called stagedoord`() async throws {
    try write(activation: try program("other", "touch \(house.home)/ran; echo stagedoord 0.1.0"))
    try await expectLine("note   activation", "was not tried")
    #expect(!FileManager.default.fileExists(atPath: "\(house.home)/ran"))
  }

  @Test(.house) func `a program behind env is found on the PATH`() async throws {
    let version = try await Command.built("stagedoord", "--version").output()
    _ = try program("stagedoord", "echo '\(version)'")
    try write(activation: "/usr/bin/env A=b stagedoord --durability normal")
    try await expectLine("good   activation", "starts \(house.home)/stagedoord, version", path: house.home)
  }

  @Test(.house) func `another version that the bus or a shell would start is told of`() async throws {
    let version = try await Command.built("stagedoord", "--version").output()
    let old = try program("b/stagedoord", "echo stagedoord 0.0.9")
    try write(activation: try program("a/stagedoord", "echo '\(version)'"), "XDG_DATA_HOME")
    try write(activation: old)
    let path = "\(house.home)/b"
    try await expectLine("note   activation", "starts \(old), which is stagedoord 0.0.9, but ", path: path)
    try await expectLine("note   path", "the stagedoord on the PATH is \(old), which is stagedoord 0.0.9\n", path: path)
  }

  @Test(.house) func `with --quiet what is wrong is printed and nothing else, such as a store that was deleted`()
    async throws
  {
    try await house.serving { _ async throws in
      _ = try await ran("sessions")
      try await expectLine("note")
      #expect(try await lines("--quiet") == [])
      try FileManager.default.removeItem(atPath: "\(house.state)/stagedoor.db")
      let found = try await lines("--quiet")
      #expect(
        found.count == 1 && found[0].contains("\(house.state)/stagedoor.db was deleted while the service runs"),
        "\(found)")
    }
  }

  @Test(.house) func `a service that stores nothing makes no directory`() async throws {
    let state = "state       \(house.environment["XDG_STATE_HOME"] ?? "")/stagedoor"
    try await expectLine("good   \(state) is made when the service first starts")
    try await house.serving("--durability", "memory") { _ async throws in
      try await expectLine("note   \(state) does not exist: the service that runs stores nothing")
    }
  }

  @Test(.house) func `the unit is looked for where systemd looks for it`() async throws {
    try await expectLine("note   unit")
    let unit = "\(house.environment["XDG_CONFIG_HOME"] ?? "")/systemd/user/stagedoord.service"
    try house.write("", to: unit)
    try await expectLine("good   unit", "\(unit)\n")
  }
}
