import DBusTestSupport
import DaemonTestSupport
import Testing

/// Compares the manual page with the program that it describes. `make check` looks for groff's complaints.
@Suite struct ManualTests {
  @Test func `the manual has the options that the program has, and its version`() async throws {
    let page = try Repository.text(of: "docs/stagedoord.1").replacing("\\-", with: "-")
    let help = try await Command.built("stagedoord", "--help").output()
    #expect(help.hasPrefix("usage: stagedoord [OPTION]...\n"))
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(options(in: help).count > 6)
    #expect(options(in: page, but: ["--session", "--print-reply", "--dest", "--user"]) == options(in: help))
    let version = try await Command.built("stagedoord", "--version").run()
    #expect(version.status == .exited(0) && version.standardOutput == "stagedoord 0.1.0\n")
    #expect(page.contains("\"Stagedoor 0.1.0\""))
  }

  @Test func `the manual has a row for each status and each value that the help names`() async throws {
    let page = try Repository.text(of: "docs/stagedoord.1")
    let help = try await Command.built("stagedoord", "--help").output()
    for word in ["full", "normal", "memory", "error", "warning", "info", "debug", "SIGTERM", "SIGINT", "SIGHUP"] {
      #expect(page.contains(word) && help.contains(word), "\(word)")
    }
    for status in 0...3 { #expect(page.contains(".TP\n.B \(status)\n") && help.contains(" \(status) ")) }
  }

  private func options(in text: String, but others: Set<String> = []) -> Set<String> {
    Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) }).subtracting(others)
  }
}
