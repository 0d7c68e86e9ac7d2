import DBus
import DBusTestSupport
import Foundation
import Glibc
import Testing

/// The examples of the documents, typed exactly as they stand.
@Suite struct ExampleTests {
  @Test func `every example of the interface document does what it says`() async throws {
    let examples = try Example.ofInterfaces()
    #expect(examples.count > 25)
    // The page has the manifest in single quotes.
    let register = try #require(try pageBlocks().first { $0.contains("RegisterApplication") })
    let gallery = try #require(register.split(separator: "'").dropFirst().first).dropFirst("string:".count)
    try await withService(registering: String(gallery)) { house in
      let folder = "\(house.home)/examples"
      try house.write(String(gallery), to: "\(folder)/Info.plist")
      for name in ["Beach.png", "window.png"] { try house.write("no picture", to: "\(folder)/\(name)") }
      try await house.register(
        Manifests.application("org.example.Notes", types: "note", configurations: Manifests.configuration("Main")))
      for (index, example) in examples.enumerated() {
        // Each example gets a session and a delivery of its own, since the previous example may have ended them.
        let landing = try await house.drop("org.example.Gallery.openDetail", "\(index)")
        var command = house.command("sh", "-c", example.text)
        command.directory = folder
        command.environment["session"] = landing.session
        command.environment["delivery"] = landing.delivery
        let drag = try await house.beginDrag([Things.item(Things.text("A beach"))], over: house.watcher)
        command.environment["ticket"] = drag.ticket
        let result = try await command.run()
        if let error = example.error {
          #expect(!result.status.isSuccess, "\(example.member): \(result)")
          #expect(result.standardError.contains(error), "\(example.member): \(result)")
        } else {
          #expect(result.status.isSuccess && result.standardError == "", "\(example.member): \(result)")
        }
      }
    }
  }

  @Test func `every example of the pages for scripts runs, one after the other in one shell`() async throws {
    let blocks = try pageBlocks().filter { !$0.contains("monitor") }
    try #require(blocks.count > 15)
    // Before the first line there is no application and no file.
    try await withService { house in
      let folder = "\(house.home)/empty"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      var shell = house.command("bash", "-eu", "-o", "pipefail", "-c", blocks.joined(separator: "\n"))
      shell.directory = folder
      let result = try await shell.run()
      #expect(result.status.isSuccess && result.standardError == "", "\(result)")
      for words in [#"string "created""#, #"string "activated""#, #"string "held""#, #"string "Routed""#] {
        #expect(result.standardOutput.contains(words), "\(words) in \(result.standardOutput)")
      }
    }
  }

  @Test func `each line of the first drop in the README and of the demonstration runs as it stands`() async throws {
    let page = try Repository.text(of: "README.md")
    let chapter = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("A first drop\n") })
    let first = blocks(in: String(chapter))
    #expect(first.count == 3)
    try await withHouse { house in
      try await house.daemon("--demo").whileRunning { demonstration in
        try await demonstration.line { $0.contains("Ctrl-C") }
        let printed = demonstration.standardOutput.split(separator: "\n").filter { $0.hasPrefix("  ") }.map {
          String($0.dropFirst(2))
        }
        let exports = printed.filter { $0.hasPrefix("export ") }
        let lines = printed.filter { !exports.contains($0) }
        #expect(lines.count == 6)
        for line in first + lines {
          let result = try await house.command("sh", "-c", (exports + [line]).joined(separator: "\n")).run()
          #expect(result.status.isSuccess && result.standardError == "", "\(result)")
        }
        // Each later drop of the photo finds the session of the first. The picture has a session of its own.
        #expect(try await house.sessions().count == 2)
      }
    }
  }

  /// The contents of the fenced shell examples.
  private func pageBlocks() throws -> [String] {
    try ["docs/bus.md", "docs/items.md"].flatMap { blocks(in: try Repository.text(of: $0)) }
  }

  private func blocks(in text: String) -> [String] {
    let parts = text.split(separator: "```", omittingEmptySubsequences: false)
    return parts.filter { $0.hasPrefix("sh\n") }.map { String($0.dropFirst("sh\n".count)) }
  }
}

/// A shell line in the documentation of a member.
struct Example {
  /// Such as `Interchange1.Drop`.
  let member: String
  let text: String

  /// The words of the error's name, if no host is attached and everything else is right; `nil` if the line works.
  var error: String? { ["SceneSession1.SetState", "SceneSession1.Disconnect"].contains(member) ? "InvalidArgs" : nil }

  static func ofInterfaces() throws -> [Example] {
    let node = try Introspection.Node(xml: Repository.text(of: "dbus/org.stagedoor.Interchange1.xml"))
    return node.interfaces.flatMap { interface in
      let name = interface.name.rawValue.split(separator: ".").last ?? ""
      let documentation =
        interface.methods.map { ($0.name, $0.documentation) } + interface.properties.map { ($0.name, $0.documentation) }
        + interface.signals.map { ($0.name, $0.documentation) }
      return examples(of: "\(name)", in: interface.documentation)
        + documentation.flatMap { member, text in examples(of: "\(name).\(member)", in: text) }
    }
  }

  /// A paragraph that begins with a program is an example.
  private static func examples(of member: String, in documentation: String?) -> [Example] {
    (documentation ?? "").split(separator: "\n\n").compactMap { paragraph in
      let text = paragraph.drop { $0 == " " || $0 == "\n" }
      guard text.hasPrefix("dbus-send ") || text.hasPrefix("gdbus ") else { return nil }
      return Example(member: member, text: String(text))
    }
  }
}

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

/// The example scripts, and what other tools print.
@Suite struct ToolTests {
  private static let type = "org.stagedoor.examples.Gallery.openDetail"

  @Test(.house) func `the whole round shows each command with its answer, and leaves nothing behind`() async throws {
    var round = house.example("round", Command.built("stagedoord").program)
    let folder = Command.built("stagedoor").program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    round.environment["PATH"] = "\(folder):\(round.environment["PATH"] ?? "/usr/bin:/bin")"
    let result = try await round.run()
    #expect(result.status == .exited(0), "\(result)")
    #expect(result.standardError == "")
    for words in [
      "$ stagedoor drop --type \(Self.type) --target photo-7 --title 'Beach, 1999'\ncreated\t",
      "$ stagedoor drop --type \(Self.type) --target photo-7\nactivated\t",
      "+- application    org.stagedoor.examples.Gallery", "$ stagedoor watch --past\n1\t",
    ] { #expect(result.standardOutput.contains(words), "\(words) in \(result.standardOutput)") }
    // Every command has an answer.
    #expect(result.standardOutput.matches(of: /\n\$ [^\n]+\n\n/).count == 0)
    // The output shows no failure.
    #expect(!result.standardOutput.contains("failed"))
    try await house.gone()
    #expect(access(house.state, F_OK) != 0)
  }

  @Test(.service) func `each script does what it says, and without arguments says how it is used`() async throws {
    for script in ["drop", "deliver", "explain", "register"] {
      let result = try await house.example(script).run()
      #expect(result.status == .exited(2))
      #expect(result.standardError.hasPrefix("usage: \(script) "))
    }
    try await house.example("watch").whileRunning { monitor in
      let watch = try await Watch(monitor, in: house)
      let application = try await house.example("register", "\(Repository.path)/examples/shell/gallery.json").output()
      #expect(application.contains("/application/org_2estagedoor_2eexamples_2eGallery"))
      #expect(try await house.example("drop", Self.type, "photo-7").output().contains(#"string "created""#))
      let document = Payloads.activity(Self.type, "photo-7")
      let explained = try parsed(String(try await house.example("explain", document).output().drop { $0 == " " }))
      #expect(explained["outcome"]?.string == "activated")
      #expect(try await house.example("deliver", document).output().contains(#"string "activated""#))
      #expect(try await house.example("drop", Self.type).output().contains(#"string "created""#))
      #expect(try await watch.happenings().map { $0.arguments["outcome"] } == ["created", "activated", "created"])
    }
  }
}
