import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// What `stagedoor doctor` finds, and what the other commands say where nothing can start the service.
@Suite struct DoctorTests {
  private func lines(_ house: House, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation)
    async throws -> [String]
  {
    let result = try await house.stagedoor(["doctor"] + arguments).run()
    #expect(result.standardError == "", sourceLocation: sourceLocation)
    return result.standardOutput.split(separator: "\n").map(String.init)
  }

  /// Writes an activation file into the system's data directory, which the private bus does not read.
  private func write(activation command: String, in house: House, _ place: String = "XDG_DATA_DIRS") throws {
    let path = "\(house.environment[place] ?? "")/dbus-1/services/org.stagedoor.Interchange1.service"
    try house.write("[D-BUS Service]\nName=org.stagedoor.Interchange1\nExec=\(command)\n", to: path)
  }

  private func program(_ name: String, _ script: String, in house: House) throws -> String {
    let path = "\(house.home)/\(name)"
    try house.writeProgram(path, script)
    return path
  }

  @Test(arguments: ["exit 1", "kill -9 $$", nil])
  func `a service that the bus cannot start is no service, and the sentence names doctor`(script: String?) async throws
  {
    try await withHouse { house async throws in
      let path = try program("starter", script ?? "", in: house)
      try await house.bus.install(House.name, executable: path)
      if script == nil { try FileManager.default.removeItem(atPath: path) }
      let result = try await house.stagedoor("sessions").run()
      #expect(result.status == .exited(3), "\(result)")
      #expect(result.standardError.hasPrefix("stagedoor sessions: the bus cannot start the service ("), "\(result)")
      #expect(result.standardError.hasSuffix("); `stagedoor doctor` looks for the reason\n"), "\(result)")
      let found = try await lines(house)
      #expect(found.contains { $0.hasPrefix("wrong  service     the bus cannot start it: ") }, "\(found)")
    }
  }

  @Test func `an understudy that the bus cannot start needs a display, and windows says how the bus gets one`()
    async throws
  {
    try await withService { house async throws in
      try await house.bus.install(
        "org.stagedoor.Understudy1", executable: try program("no-display", "exit 1", in: house))
      let result = try await house.stagedoor("windows").run()
      #expect(
        result.status.isSuccess && result.standardError.contains("exited with status 1), which needs a display: "),
        "\(result)")
    }
  }

  @Test func `doctor says whether the service ran, or the bus has just started it`() async throws {
    try await withHouse { house async throws in
      try await house.installService("--durability", "memory")
      let first = try await lines(house)
      #expect(first.contains { $0.contains("service     the bus has just started it, process ") }, "\(first)")
      let second = try await lines(house)
      #expect(second.contains { $0.contains("service     it runs, process ") }, "\(second)")
    }
  }

  @Test func `a program that does not say its version is not waited for, and what it started ends`() async throws {
    try await withHouse { house async throws in
      let mute = try program("stagedoord", "echo $$ >\(house.home)/pid; sleep 1000", in: house)
      try write(activation: mute, in: house)
      let begun = ContinuousClock.now
      let found = try await lines(house)
      #expect(begun.duration(to: .now) < usualLimit)
      #expect(
        found.contains { $0.hasPrefix("wrong  activation") && $0.contains("does not say its version") }, "\(found)")
      let process = try String(contentsOfFile: "\(house.home)/pid", encoding: .utf8).split(separator: "\n")[0]
      try await eventually("it to end") { !FileManager.default.fileExists(atPath: "/proc/\(process)") }
    }
  }

  @Test func `doctor runs nothing that is not called stagedoord`() async throws {
    try await withHouse { house async throws in
      let other = try program("other", "touch \(house.home)/ran; echo stagedoord 0.1.0", in: house)
      try write(activation: other, in: house)
      let found = try await lines(house)
      #expect(found.contains { $0.hasPrefix("note   activation") && $0.contains("was not tried") }, "\(found)")
      #expect(!FileManager.default.fileExists(atPath: "\(house.home)/ran"))
    }
  }

  @Test func `a program behind env is found on the PATH`() async throws {
    try await withHouse { house async throws in
      let version = try await Command.built("stagedoord", "--version").output()
      _ = try program("stagedoord", "echo '\(version)'", in: house)
      try write(activation: "/usr/bin/env A=b stagedoord --durability normal", in: house)
      var doctor = house.stagedoor("doctor")
      doctor.environment["PATH"] = "\(house.home):/usr/bin:/bin"
      let found = try await doctor.run().standardOutput
      #expect(
        found.contains("good   activation") && found.contains("starts \(house.home)/stagedoord, version"), "\(found)")
    }
  }

  @Test func `another version that the bus or a shell would start is told of`() async throws {
    try await withHouse { house async throws in
      let version = try await Command.built("stagedoord", "--version").output()
      let good = try program("a/stagedoord", "echo '\(version)'", in: house)
      let old = try program("b/stagedoord", "echo stagedoord 0.0.9", in: house)
      try write(activation: good, in: house, "XDG_DATA_HOME")
      try write(activation: old, in: house)
      var doctor = house.stagedoor("doctor")
      doctor.environment["PATH"] = "\(house.home)/b:/usr/bin:/bin"
      let found = try await doctor.run().standardOutput.split(separator: "\n")
      #expect(
        found.contains {
          $0.hasPrefix("note   activation") && $0.contains("starts \(old), which is stagedoord 0.0.9, but ")
        }, "\(found)")
      #expect(
        found.contains {
          $0.hasPrefix("note   path") && $0.hasSuffix("the stagedoord on the PATH is \(old), which is stagedoord 0.0.9")
        }, "\(found)")
    }
  }

  @Test func `a store that was deleted under the service is wrong`() async throws {
    try await withHouse { house async throws in
      try await house.serving { _ async throws in
        _ = try await house.stagedoor("sessions").run()
        #expect(try await !lines(house).contains { $0.contains("store") && $0.hasPrefix("wrong") })
        try FileManager.default.removeItem(atPath: "\(house.state)/stagedoor.db")
        let found = try await lines(house, "--quiet")
        #expect(found.count == 1, "\(found)")
        #expect(
          found.first?.contains("\(house.state)/stagedoor.db was deleted while the service runs") ?? false, "\(found)")
      }
    }
  }

  @Test func `the unit is looked for where systemd looks for it`() async throws {
    try await withHouse { house async throws in
      #expect(try await lines(house).contains { $0.hasPrefix("note   unit") })
      let unit = "\(house.environment["XDG_CONFIG_HOME"] ?? "")/systemd/user/stagedoord.service"
      try house.write("", to: unit)
      let found = try await lines(house)
      #expect(found.contains { $0.hasPrefix("good   unit") && $0.hasSuffix(unit) }, "\(found)")
    }
  }

  @Test func `with --quiet it prints what is wrong and nothing else`() async throws {
    try await withService { house async throws in
      #expect(try await lines(house).contains { $0.hasPrefix("note") })
      #expect(try await lines(house, "-q") == [])
    }
  }
}
