import DBus
import DBusTestSupport
import Testing

/// The page for authors of hosts is correct.
@Suite struct HostPageTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `the smallest host on the page is one, and finds the service again`(kind: PrivateBus.Kind) async throws {
    let parts = try Repository.text(of: "docs/hosts.md").split(separator: "```", omittingEmptySubsequences: false)
    let programs = parts.filter { $0.hasPrefix("python\n") }.map { $0.dropFirst("python\n".count) }
    try #require(programs.count == 1)
    try await withHouse(kind) { house in
      try house.write(Manifests.gallery, to: "\(house.applications)/org.example.Gallery.json")
      var command = house.command("/usr/bin/python3", "-c", String(programs[0]))
      command.directory = Repository.path
      try await command.whileRunning { host in
        let first = try await house.serving { _ in
          let first = try await house.hand("openDetail", "photo-7", options: #""wait": "handled""#)
          try await host.line { $0.hasPrefix("ConnectScene \(first.session) Default {") }
          try await host.line { $0 == "ActivateScene \(first.session) {}" }
          return first
        }
        try await house.serving { _ in
          let again = try await house.hand("openDetail", "photo-7", options: #""wait": "handled""#)
          #expect(again.session == first.session)
          // The host said that it still shows the session.
          try await host.line { $0.hasPrefix("ContinueScene \(first.session) {") }
          try await house.destroy(first.session)
          try await host.line { $0 == "DestroyScene \(first.session) standard" }
          try await host.line { $0 == "DidDiscardSceneSessions ['\(first.identifier)']" }
        }
      }
    }
  }

  @Test func `the page has every call that comes to a host`() throws {
    let page = try Repository.text(of: "docs/hosts.md").split(separator: "\n")
    let table = page.drop { !$0.hasPrefix("| call | when") }.dropFirst(2).prefix { $0.hasPrefix("|") }
    let named = table.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    let node = try Introspection.Node(xml: try Repository.text(of: "dbus/org.stagedoor.SceneHost1.xml"))
    let interface = try #require(node.interface("org.stagedoor.SceneHost1"))
    #expect(Set(named) == Set(interface.methods.map(\.name.rawValue)))
  }
}
