import DBusTestSupport
import DaemonTestSupport
import Testing

/// Each command against a service that runs.
@Suite struct CommandLiveTests {
  private func withGallery(_ body: (House) async throws -> Void) async throws {
    try await withService { house async throws in
      try await house.registerGallery()
      try await body(house)
    }
  }

  private func expect(
    _ command: Command, _ status: Int32, _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await command.run()
    #expect(result.status == .exited(status), "\(result)", sourceLocation: sourceLocation)
    #expect(result.standardError == sentence + "\n", sourceLocation: sourceLocation)
  }

  @Test func `a drop says its outcome, its session and its delivery`() async throws {
    try await withGallery { house async throws in
      let first = try await house.drop(photo: "photo-7")
      #expect(first.outcome == "created")
      let second = try await house.drop(photo: "photo-7", "--info", "zoom=2")
      #expect(second.outcome == "activated")
      #expect(second.session == first.session)
      #expect(try await house.drop(photo: "photo-7", "--new").session != first.session)
      let quiet = try await house.stagedoor("drop", "-q", "-t", House.openDetail, "--target", "photo-7").output()
      #expect(try await house.stagedoor("deliveries", "-q", "-n", "1").output() == quiet)
    }
  }

  @Test func `files, texts, links and standard input go where their types say`() async throws {
    try await withGallery { house async throws in
      try house.write("a beach", to: "\(house.home)/a file.txt")
      let text = try await house.stagedoor("drop", "\(house.home)/a file.txt").output()
      #expect(text.hasPrefix("created\t"))
      let url = "file://\(house.home)/a%20file.txt"
      #expect(try await house.stagedoor("drop", url).output().hasPrefix("activated\t"))
      #expect(try await house.stagedoor("sessions", "--json").output().contains(url))
      #expect(try await house.stagedoor("drop", "-", input: "hello").output().hasPrefix("created\t"))
      #expect(try await house.stagedoor("drop", "--text", "hello").output().hasPrefix("created\t"))
      // A list of links is text, and its first link is the key.
      let link = house.stagedoor("drop", "--url", "https://example.org")
      #expect(try await link.output().hasPrefix("created\t"))
      #expect(try await link.output().hasPrefix("activated\t"))
      try await expect(
        house.stagedoor("drop", "--text", "x", "--content-type", "application/zip"), 4,
        "stagedoor drop: there is no activity in it, and no application takes \"application/zip\": add an activity, or the type to CFBundleDocumentTypes"
      )
      try await expect(house.stagedoor("drop", "/no/such"), 1, "stagedoor drop: /no/such: No such file or directory")
      try await expect(
        house.stagedoor("drop", house.home), 1,
        "stagedoor drop: \(house.home) is a directory; hand in the files that are in it")
    }
  }

  @Test func `a whole payload is taken from a file and from standard input, with options beside it`() async throws {
    try await withGallery { house async throws in
      let document = Payloads.activity(House.openDetail, "photo-1")
      #expect(try await house.stagedoor("drop", "--json", "-", input: document).output().hasPrefix("created\t"))
      try house.write(document, to: "\(house.home)/payload.json")
      let file = "\(house.home)/payload.json"
      #expect(try await house.stagedoor("drop", "--payload", file).output().hasPrefix("activated\t"))
      #expect(try await house.stagedoor("drop", "--payload", file, "--new").output().hasPrefix("created\t"))
      try await expect(
        house.stagedoor("drop", "--payload", file, "--type", "x"), 2,
        "stagedoor drop: --type says what the payload says already; leave one of them out")
      try await expect(
        house.stagedoor("drop", "--payload", "-", input: "{"), 1,
        "stagedoor drop: standard input: line 1, column 2: expected a key in double quotes or \"}\", got the end of the document"
      )
    }
  }

  @Test func `explain draws the decision, and its refusals have the status of a refusal`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      _ = try await house.drop(photo: "photo-8")
      let picture = try await house.stagedoor("explain", "-t", House.openDetail, "--target", "photo-7").output()
      try expectSnapshot(picture.normalized, "explain")
      let quiet = try await house.stagedoor("explain", "-q", "-t", House.openDetail, "--target", "photo-7").output()
      #expect(quiet == photo.session)
      let refused = try await house.stagedoor("explain", "-t", "org.example.unknown").run()
      #expect(refused.status == .exited(4))
      #expect(refused.standardOutput.contains("=> refused: no application declares \"org.example.unknown\""))
    }
  }

  @Test func `a decision that was recorded is made again, and a changed manifest shows`() async throws {
    try await withGallery { house async throws in
      _ = try await house.drop(photo: "photo-7")
      let cases = "\(house.home)/cases.json"
      for photo in ["photo-7", "photo-9"] {
        _ = try await house.stagedoor("explain", "-t", House.openDetail, "--target", photo, "--record", cases).output()
      }
      let manifest = "\(house.home)/gallery.json"
      #expect(
        try await house.stagedoor("test", "-m", manifest, cases).output()
          == "same     \(House.openDetail) photo-7 activated\nsame     \(House.openDetail) photo-9 created\n2 as recorded, 0 different"
      )
      try house.write(
        House.galleryManifest.replacing(
          "\"StagedoorActivityTypes\"", with: "\"StagedoorLaunch\": \"new\", \"StagedoorActivityTypes\""),
        to: manifest)
      let result = try await house.stagedoor("test", "-m", manifest, cases).run()
      #expect(result.status == .exited(1))
      #expect(result.standardOutput.contains("outcome: \"activated\" was recorded, and now it is \"created\""))
      _ = try await house.stagedoor("test", "--update", "-m", manifest, cases).output()
      #expect(try await house.stagedoor("test", "-q", "-m", manifest, cases).output() == "")
    }
  }

  @Test func `identifiers can be shortened to what is unambiguous`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      let short = String(photo.session.prefix(8))
      #expect(try await house.stagedoor("show", short).output().contains(photo.session))
      #expect(try await house.stagedoor("show", String(photo.delivery.prefix(8))).output().contains("state     held"))
      for name in ["Gallery", "gallery", "org.ex", House.gallery] {
        #expect(try await house.stagedoor("show", name).output().hasPrefix("application"), "\(name)")
      }
      try await expect(
        house.stagedoor("activate", "zz"), 4,
        "stagedoor activate: there is no session \"zz\"; `stagedoor sessions` lists what there is")
      _ = try await house.drop(photo: "photo-8")
      let ambiguous = try await house.stagedoor("activate", "").run()
      #expect(ambiguous.status == .exited(4))
      #expect(ambiguous.standardError.hasSuffix("type more of it\n"))
    }
  }

  @Test func `windows are made, brought to the front, drawn anew and closed`() async throws {
    try await withGallery { house async throws in
      let window = try await house.stagedoor("new", "--quiet", "Gallery", "Detail").output()
      #expect(try await house.stagedoor("activate", window).output().hasPrefix("activated\t\(window)\t"))
      #expect(try await house.stagedoor("refresh", window).output() == "")
      #expect(try await house.stagedoor("close", "--animation", "commit", window).output() == "")
      #expect(try await house.stagedoor("sessions", "-q").output() == "")
      try await expect(
        house.stagedoor("activate", window), 4, "stagedoor activate: there is no session \(window), or no longer")
      try await expect(
        house.stagedoor("new", "Gallery", "Nothing"), 4,
        "stagedoor new: org.example.Gallery has no configuration \"Nothing\"; there are \"Overview\" and \"Detail\""
      )
    }
  }

  @Test func `what is held can be cancelled, redirected and waited for`() async throws {
    try await withGallery { house async throws in
      let held = try await house.drop(photo: "photo-7")
      let other = try await house.drop(photo: "photo-8")
      #expect(try await house.stagedoor("redirect", held.delivery, other.session).output().contains(other.session))
      try await expect(
        house.stagedoor("wait", "--deadline", "0.2", held.delivery), 5,
        "stagedoor wait: the delivery \(held.delivery) is still under way after 0.2 seconds")
      #expect(try await house.stagedoor("cancel", held.delivery).output() == "")
      try await expect(
        house.stagedoor("wait", held.delivery), 7, "stagedoor wait: the delivery \(held.delivery) was cancelled")
      #expect(try await house.stagedoor("deliveries", "--state", "held", "-q").output() == other.delivery)
      let late = try await house.stagedoor(
        "drop", "-t", House.openDetail, "--wait", "handled", "--deadline", "0.2"
      ).run()
      #expect(late.status == .exited(5), "\(late)")
    }
  }

  @Test func `an application can be preferred, and no longer`() async throws {
    try await withGallery { house async throws in
      #expect(try await house.stagedoor("prefer", House.openDetail).output() == "")
      #expect(try await house.stagedoor("prefer", House.openDetail, "Gallery").output() == "")
      #expect(try await house.stagedoor("prefer", House.openDetail).output() == House.gallery)
      #expect(try await house.stagedoor("prefer", "--none", House.openDetail).output() == "")
      #expect(try await house.stagedoor("prefer", House.openDetail).output() == "")
      #expect(try await house.stagedoor("apps", "-q").output() == House.gallery)
    }
  }

  @Test func `what happens is printed as it happens, from any number on`() async throws {
    try await withGallery { house async throws in
      try await house.stagedoor("watch", "--since", "0", "--json").whileRunning { watching async throws in
        let photo = try await house.drop(photo: "photo-7")
        let line = try await watching.nextLine()
        #expect(
          line.contains("\"event\":\"Routed\"") && line.contains("\"sequence\":1,") && line.contains(photo.session))
        _ = try await house.stagedoor("close", photo.session).output()
        try await watching.line { $0.contains("SessionDiscarded") }
      }
      try await house.stagedoor("watch", "--since", "0").whileRunning { watching async throws in
        let line = try await watching.nextLine()
        #expect(line.hasSuffix("\(House.openDetail) photo-7"), "\(line)")
      }
      try await expect(
        house.stagedoor("watch", "--since", "99"), 4,
        try await house.stagedoor("watch", "--since", "99").run().standardError.trimmed)
    }
  }

  @Test func `without a service it says so, with a status of its own`() async throws {
    try await withHouse { house async throws in
      try await expect(
        house.stagedoor("sessions"), 3,
        "stagedoor sessions: nobody serves org.stagedoor.Interchange1, and the bus cannot start it; `stagedoor doctor` says what is missing"
      )
      let doctor = try await house.stagedoor("doctor").run()
      #expect(doctor.status == .exited(1))
      #expect(doctor.standardOutput.contains("wrong  service"))
      var command = house.stagedoor("sessions")
      command.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
      let result = try await command.run()
      #expect(result.status == .exited(3))
      #expect(result.standardError.hasSuffix("or set DBUS_SESSION_BUS_ADDRESS\n"), "\(result)")
    }
  }

  @Test func `what cannot be written is a failure`() async throws {
    try await withGallery { house async throws in
      _ = try await house.drop(photo: "photo-7")
      let program = Command.built("stagedoor").program
      let result = try await house.command("sh", "-c", "'\(program)' sessions >/dev/full").run()
      #expect(result.status == .exited(1))
      #expect(
        result.standardError
          == "stagedoor sessions: the answer cannot be written to standard output: No space left on device\n")
    }
  }

  @Test func `live identifiers are completed`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      #expect(
        try await house.stagedoor("__complete", "bash", "close", "").output()
          == "\(photo.session)\t\(House.gallery) photo-7")
      #expect(
        try await house.stagedoor("__complete", "bash", "drop", "--app", "org").output() == "\(House.gallery)\tGallery")
      #expect(
        try await house.stagedoor("__complete", "zsh", "drop", "--app=o").output() == "--app=\(House.gallery)\tGallery")
      #expect(try await house.stagedoor("__complete", "fish", "new", "Gallery", "D").output().hasPrefix("Detail\t"))
      #expect(try await house.stagedoor("__complete", "fish", "cancel", "").output().hasPrefix(photo.delivery))
    }
  }

  @Test func `how a delivery ended is a status, also for who asks later`() async throws {
    try await withGallery { house async throws in
      let refused = try await house.stagedoor("host", "--app", House.gallery, "--connect", "/no/such/program")
        .whileRunning { _ async throws in
          try await house.stagedoor("drop", "-t", House.openDetail, "-w", "handled").run()
        }
      #expect(refused.status == .exited(6), "\(refused)")
      #expect(refused.standardError.contains("/no/such/program: No such file or directory"), "\(refused)")
      try await house.stagedoor("host", "--app", House.gallery, "--connect", "sleep 1000").whileRunning {
        _ async throws in
        let photo = try await house.drop(photo: "photo-7", "--wait", "handled")
        #expect(try await house.stagedoor("wait", photo.delivery).output() == "handled")
        #expect(try await house.stagedoor("wait", "-q", String(photo.delivery.prefix(10))).output() == "")
      }
      try await expect(
        house.stagedoor("host", "--app", "Gallery", "--connect", "true"), 2,
        "stagedoor host: --app takes a whole identifier such as org.example.Gallery, and not \"Gallery\"")
      try await expect(
        house.stagedoor("host", "--app", House.gallery, "--connect", "\"open"), 2,
        "stagedoor host: --connect takes a command; a quote in \"\"open\" is not closed, or there is nothing in it")
    }
  }

  @Test func `a command is a window, and its end is the window's`() async throws {
    try await withGallery { house async throws in
      let connect =
        "sh -c \"printf '%s|%s|%s\\\\n' \\\"$1\\\" \\\"$2\\\" \\\"$3\\\"; exec sleep 1000\" sh {target} {title} {info.zoom}"
      try await house.stagedoor(
        "host", "--app", House.gallery, "--connect", connect, "--continue", "echo again {target}"
      ).whileRunning { host async throws in
        let activity = [
          "drop", "-t", House.openDetail, "--target", "$(photo) 7", "--title", "Beach; rm", "-i", "zoom=2",
        ]
        let drop = house.command(Command.built("stagedoor").program, arguments: activity + ["-w", "handled"])
        #expect(try await drop.output().hasPrefix("created\t"))
        #expect(try await host.nextLine() == "$(photo) 7|Beach; rm|2")
        #expect(try await drop.output().hasPrefix("activated\t"))
        #expect(try await host.nextLine() == "again $(photo) 7")
        _ = try await house.command("pkill", "-P", "\(host.processIdentifier)", "sleep").output()
        try await eventually("the session to go with its command") {
          try await house.stagedoor("sessions", "-q").output() == ""
        }
      }
    }
  }
}

extension String {
  fileprivate var trimmed: String { hasSuffix("\n") ? String(dropLast()) : self }
}
