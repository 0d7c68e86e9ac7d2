import DBus
import DBusTestSupport
import Testing

/// Who may open the contents of a delivery: each combination of sender, opener and visibility.
@Suite struct ItemOwnershipTests {
  /// Types that nobody else uses, so that a search finds them in all messages.
  private static let types = [
    "all": "image/x-open", "application": "image/x-secret-application", "ownProcess": "image/x-secret-process",
  ]

  private static var item: [String: Variant] {
    Things.item(
      Things.text("for its process", "image/x-secret-process", visibility: "ownProcess"),
      Things.text("for its application", "image/x-secret-application", visibility: "application"),
      Things.text("for all", "image/x-open"), name: "shown")
  }

  enum Sender: CaseIterable {
    case theHost, anotherHost, aProgram

    /// The visibilities that the host may open.
    var visible: Set<String> { self == .theHost ? ["all", "application", "ownProcess"] : ["all"] }
  }

  @Test(arguments: Sender.allCases, [false, true])
  func `the host opens what it may see, and nobody else opens anything`(
    sender: Sender, isPrivate: Bool
  ) async throws {
    try await withHouse { house in
      try house.write(House.pictures, to: "\(house.applications)/org.example.Cats.json")
      try house.write(Manifests.oneScene, to: "\(house.applications)/org.example.Player.json")
      try await house.serving("--durability", "normal", "--log-level", "debug") { daemon in
        try await house.hosting { host in
          try await house.hosting("org.example.Player") { other in
            let program = try await house.bus.connect()
            let connections: [Sender: Connection] = [
              .theHost: host.connection, .anotherHost: other.connection, .aProgram: program,
            ]
            let connection = try #require(connections[sender])
            try await house.watched { watch in
              let landing = try await house.deliver(
                [Self.item], ["application": "org.example.Cats".variant, "private": isPrivate.variant],
                over: connection)
              let options = try #require(try await host.asked(1, "ConnectScene").first).options
              let shown = options["items"]?.elements.first?["representations"]?.elements ?? []
              #expect(
                Set(shown.compactMap { $0["type"]?.text })
                  == Set(sender.visible.compactMap { Self.types[$0] }))
              for (visibility, type) in Self.types {
                if sender.visible.contains(visibility) {
                  #expect(try await host.text(landing.delivery, 0, type).hasPrefix("for "))
                } else {
                  let error = try await refused { _ = try await host.open(landing.delivery, 0, type) }
                  #expect(error?.name == "org.stagedoor.Error.NoSuchItem")
                  #expect(error?.text.contains("has no representation of the type") ?? false)
                }
              }
              // The first representation that the host may see, in the order of fidelity.
              let first = try await host.text(landing.delivery, 0, "image/*")
              #expect(first == (sender == .theHost ? "for its process" : "for all"))
              // The others know the delivery, which gives them no right.
              for (who, stranger) in connections where stranger !== host.connection {
                for type in ["", "image/*", "image/x-open", "image/x-secret-process", "text/plain"] {
                  let error = try await refused { _ = try await house.open(landing.delivery, 0, type, over: stranger) }
                  #expect(error?.name == .accessDenied, "\(who) \(type): \(error as Any)")
                }
                let released = try await refused {
                  try await house.service(stranger).call("ReleaseDelivery", landing.delivery)
                }
                #expect(released?.name == .accessDenied)
              }
              #expect(try await host.text(landing.delivery, 0, "image/x-open") == "for all")
              let unknown = "00000000-0000-4000-8000-000000000000"
              for delivery in [unknown, "", "x"] {
                let error = try await refused { _ = try await host.open(delivery) }
                #expect(error?.name == "org.stagedoor.Error.NoSuchDelivery", "\(delivery)")
              }
              var said = watch.messages.filter { $0.kind == "signal" }.map { "\($0)" }
              said.append("\(try await Record(of: house))")
              for (_, stranger) in connections {
                let (_, decision) = try await house.service(stranger).call(
                  "GetDelivery", landing.delivery, returning: String.self, String.self)
                if stranger !== connection { said.append(decision) }
              }
              said.append(daemon.standardError)
              for text in said { #expect(!text.contains("x-secret"), "\(text)") }
            }
            await program.close()
          }
        }
      }
    }
  }

  /// A document from a sandbox, with contents for all, for its application and for its own process.
  private static var document: String {
    let representations = ["all", "application", "ownProcess"].map { visibility in
      #"{"type": "\#(types[visibility] ?? "")", "text": "for \#(visibility)", "visibility": "\#(visibility)"}"#
    }
    return
      #"{"items": [{"suggestedName": "shown", "representations": [\#(representations.joined(separator: ", "))]}], "#
      + #""options": {"application": "org.example.Cats"}}"#
  }

  @Test(arguments: ["org.example.Cats", "org.example.Mail"])
  func `what a sandbox hands in its application's host may see, and a sandbox opens nothing`(
    application: String
  ) async throws {
    try await withHouse { house in
      try house.write(House.pictures, to: "\(house.applications)/org.example.Cats.json")
      try await house.serving { _ in
        try await house.hosting { host in
          func sandboxed(_ name: String, _ member: String, _ arguments: String...) async throws -> String {
            let call = [
              "--session", "--print-reply", "--dest=\(House.name)", House.root, "\(House.interchange).\(member)",
            ]
            let result = try await house.sandboxed(as: name, "dbus-send", arguments: call + arguments).run()
            return result.standardOutput + result.standardError
          }
          let answer = try await sandboxed(application, "Deliver", "string:\(Self.document)")
          #expect(answer.contains("created"), "\(answer)")
          let options = try #require(try await host.asked(1, "ConnectScene").first).options
          let delivery = try #require(options["delivery"]?.text)
          let visible: Set<String> = application == "org.example.Cats" ? ["all", "application"] : ["all"]
          let shown = options["items"]?.elements.first?["representations"]?.elements ?? []
          #expect(Set(shown.compactMap { $0["type"]?.text }) == Set(visible.compactMap { Self.types[$0] }))
          for (visibility, type) in Self.types {
            if visible.contains(visibility) {
              #expect(try await host.text(delivery, 0, type) == "for \(visibility)")
            } else {
              let error = try await refused { _ = try await host.open(delivery, 0, type) }
              #expect(error?.name == "org.stagedoor.Error.NoSuchItem", "\(error as Any)")
            }
          }
          // Neither the sender nor another program of the host's own application may open it.
          for name in ["org.example.Cats", "org.example.Mail", ""] {
            for type in ["", "image/*", "image/x-open", "image/x-secret-application"] {
              let opened = try await sandboxed(name, "OpenItem", "string:\(delivery)", "uint32:0", "string:\(type)")
              #expect(opened.contains("AccessDenied") && !opened.contains("x-secret"), "\(name) \(type): \(opened)")
            }
            let released = try await sandboxed(name, "ReleaseDelivery", "string:\(delivery)")
            #expect(released.contains("AccessDenied"), "\(released)")
          }
          #expect(try await host.text(delivery, 0, "image/x-open") == "for all")
        }
      }
    }
  }

  @Test func `an attached host is one only as long as it is`() async throws {
    try await withHouse { house in
      try await house.carrying { host in
        let landing = try await house.deliver([Self.item], over: house.watcher)
        try await host.asked(1, "ConnectScene")
        try await host.settle()
        await host.leave()
        let watcher = house.watcher
        try await withLimit(usualLimit, "the name to be free") {
          _ = try await watcher.owners(of: "org.example.Cats").first { $0 == nil }
        }
        // The next connection has the same name, but did not attach.
        let next = try await HostPlayer("org.example.Cats", in: house)
        let early = try await refused { _ = try await next.open(landing.delivery) }
        #expect(early?.name == .accessDenied)
        try await next.attach()
        #expect(try await next.text(landing.delivery) == "for all")
        await next.leave()
      }
    }
  }

  @Test func `two that open a pipe at once are one that has it and one that is told so`() async throws {
    try await withHouse { house in
      try await house.carrying { host in
        for _ in 0..<20 {
          let landing = try await house.deliver(
            [Things.item(Things.descriptor(try .pipe(of: Array("once".utf8))))], over: house.watcher)
          try await host.asked(1)
          let openings = (0..<4).map { _ in
            Task { () -> String in
              do {
                return try await host.text(landing.delivery)
              } catch CallError.replied(let error) {
                return error.name.rawValue
              }
            }
          }
          var answers: [String] = []
          for opening in openings { answers.append(try await opening.value) }
          let gone = "org.stagedoor.Error.SourceGone"
          #expect(answers.sorted() == ["once", gone, gone, gone])
          try await host.release(landing.delivery)
        }
      }
    }
  }
}
