import DaemonTestSupport
import FoundationEssentials
import Testing

/// The pages that list others are complete.
@Suite struct PageListTests {
  private func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(Repository.path)/\(folder)").filter { !$0.hasPrefix(".") }
  }

  @Test func `the page on the architecture has every module`() throws {
    let page = try Repository.text(of: "docs/architecture.md")
    for module in try names(in: "Sources") { #expect(page.contains("`Sources/\(module)")) }
  }

  @Test func `the README leads to every page`() throws {
    let page = try Repository.text(of: "README.md")
    for name in try names(in: "docs") where name.hasSuffix(".md") { #expect(page.contains("(docs/\(name))")) }
  }
}
