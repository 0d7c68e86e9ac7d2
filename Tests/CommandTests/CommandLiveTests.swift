import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import Testing

/// Each command against a running service.
@Suite struct CommandLiveTests {
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
      let quiet = try await house.stagedoor(
        "drop", "--print", "delivery", "-t", House.openDetail, "--target", "photo-7"
      ).output()
      #expect(try await house.stagedoor("deliveries", "--print", "delivery", "-n", "1").output() == quiet)
    }
  }

  @Test func `who waits for the application waits over a restart of the service`() async throws {
    try await withHouse { house async throws in
      _ = try await house.stagedoor("install-manifest", "-q", "-", input: House.galleryManifest).output()
      let script = """
        until "$0" sessions 2>/dev/null; do sleep 0.02; done
        exec "$0" drop -t \(House.openDetail) --target photo-7 --wait handled --deadline 60
        """
      let drop = house.shell(script)
      try await drop.whileRunning { drop async throws in
        try await house.serving { service async throws in
          try await eventually("the delivery") {
            try await house.stagedoor("deliveries", "--state", "held", "--print", "delivery").output() != ""
          }
          service.signal(SIGKILL)
          _ = try await service.ended()
        }
        try await house.serving { _ async throws in
          try await house.hosting("sleep 1000") { _ async throws in
            #expect(try await drop.nextLine().hasPrefix("created\t"))
            #expect(try await drop.ended().isSuccess)
          }
        }
      }
    }
  }

  @Test func `a drop that is repeated under its token is dropped once`() async throws {
    try await withGallery { house async throws in
      let drop = house.stagedoor("drop", "-t", House.openDetail, "--new", "--token", "once")
      let first = try await drop.output()
      #expect(try await drop.output() == first)
      #expect(try await house.sessions().count == 1)
    }
  }

  @Test func `what became of something is told as JSON`() async throws {
    try await withGallery { house async throws in
      let made = try await house.stagedoor("new", "Gallery", "--json").output().normalized
      let none = "00000000-0000-0000-0000-000000000000"
      #expect(made == #"{"delivery":"\#(none)","outcome":"created","session":"\#(none)"}"#)
      let photo = try await house.drop(photo: "photo-7")
      for words in [
        ["drop", "-t", House.openDetail, "--target", "photo-7"], ["activate", photo.session],
        ["redirect", photo.delivery, photo.session],
      ] {
        let told = try await house.stagedoor(words + ["--json"]).output()
        #expect(told.contains(#","outcome":"activated","session":"\#(photo.session)"}"#), "\(words): \(told)")
      }
      try await house.hosting("sleep 1000", "--continue", "true") { _ async throws in
        #expect(
          try await house.stagedoor("wait", "--json", photo.delivery).output()
            == #"{"delivery":"\#(photo.delivery)","state":"handled"}"#)
      }
    }
  }

  @Test func `a file whose name is not UTF-8 is handed in, and nothing else can be called so`() async throws {
    try await withGallery { house async throws in
      let script = """
        cd "$HOME"; name=$(printf 'b\\351.txt'); echo sand >"$name"
        "$0" drop "$name"; "$0" drop "$HOME/$name"; "$0" drop "file://$HOME/b%E9.txt"
        "$0" sessions --json; "$0" drop --text "$name"; "$0" show "$name"
        """
      let result = try await house.shell(script).run()
      let lines = result.standardOutput.split(separator: "\n")
      #expect(lines.prefix(3).map { $0.prefix { $0 != "\t" } } == ["created", "activated", "activated"], "\(result)")
      #expect(result.standardOutput.contains("/b%E9.txt"))
      let sentence =
        "b%E9.txt is not UTF-8 (its bytes are in hexadecimal here); only the files of drop, open and explain can be called so\n"
      #expect(result.standardError == "stagedoor drop: \(sentence)stagedoor show: \(sentence)")
    }
  }

  @Test func `a pipe or a device in the place of a file is refused with what to write instead`() async throws {
    try await withGallery { house async throws in
      let pipe = "\(house.home)/pipe"
      #expect(mkfifo(pipe, 0o600) == 0)
      try await expect(
        house.stagedoor("drop", pipe), 1,
        "stagedoor drop: \(pipe) is a pipe; hand it in as standard input: - <\(pipe)")
      let made = try await house.command("bash", "-c", "\"$0\" drop <(echo ps)", Command.built("stagedoor").program)
        .run()
      #expect(made.status == .exited(1) && made.standardError.contains(" is a pipe; hand it in as "), "\(made)")
      try await expect(
        house.stagedoor("drop", "/dev/null"), 1,
        "stagedoor drop: /dev/null is a device, and no file; hand it in as standard input: - </dev/null")
    }
  }

  @Test func `applications are listed for a type or for a file, and for nothing else`() async throws {
    try await withGallery { house async throws in
      try house.write("sand", to: "\(house.home)/a.txt")
      let (text, none) = ("\(house.home)/a.txt", "is no type such as image/png or org.example.Gallery.openDetail")
      #expect(try await house.stagedoor("apps", "--print", "application", "--file", text).output() == House.gallery)
      #expect(try await house.stagedoor("apps", "--print", "application", "text/plain").output() == House.gallery)
      #expect(try await house.stagedoor("apps", "--print", "application", "application/zip").output() == "")
      for type in ["text/", "text/*", "*/*", ""] {
        try await expect(house.stagedoor("apps", type), 2, "stagedoor apps: \"\(type)\" \(none)")
      }
      try await expect(house.stagedoor("apps", text), 2, "stagedoor apps: \"\(text)\" \(none)")
      try await expect(
        house.stagedoor("apps", "nonsense"), 4,
        "stagedoor apps: no application takes \"nonsense\"; `stagedoor apps` lists the applications")
      try await expect(
        house.stagedoor("apps", "text/plain", "--file", text), 2,
        "stagedoor apps: --file says the type; leave TYPE out")
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
      // A link is of the type of its scheme, and no text; it is the key.
      let link = house.stagedoor("drop", "--url", "https://example.org")
      #expect(try await link.output().hasPrefix("created\t"))
      #expect(try await link.output().hasPrefix("activated\t"))
      try await expect(
        house.stagedoor("drop", "--url", "not a url"), 2,
        "stagedoor drop: \"not a url\" is not a URL such as https://example.org; --text takes any text")
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
      #expect(try await house.stagedoor("drop", "--payload", "-", input: document).output().hasPrefix("created\t"))
      try house.write(document, to: "\(house.home)/payload.json")
      let file = "\(house.home)/payload.json"
      #expect(try await house.stagedoor("drop", "--payload", file).output().hasPrefix("activated\t"))
      #expect(try await house.stagedoor("drop", "--payload", file, "--new").output().hasPrefix("created\t"))
      try await expect(
        house.stagedoor("drop", "--payload", file, "--type", "x"), 2,
        "stagedoor drop: --type cannot be combined with --payload; write it into the payload")
      for option in ["--name", "--content-type"] {
        try await expect(
          house.stagedoor("drop", "--payload", file, option, "x"), 2,
          "stagedoor drop: \(option) cannot be combined with --payload; write it into the payload")
      }
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
      let quiet = try await house.stagedoor(
        "explain", "--print", "session", "-t", House.openDetail, "--target", "photo-7"
      ).output()
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

  @Test func `of a list that was recorded, what is new and what is gone is shown, and not all of it`() async throws {
    try await withGallery { house async throws in
      for photo in ["photo-7", "photo-8"] { _ = try await house.drop(photo: photo) }
      let script = """
        "$0" explain -t \(House.openDetail) --target photo-7 --record cases.json >explained
        jq '.cases[0].decision.candidates |= .[1:]' cases.json >changed.json
        "$0" test -m gallery.json changed.json
        """
      let shell = house.shell(script)
      let lines = try await shell.run().standardOutput.split(separator: "\n")
      #expect(lines.count == 3, "\(lines)")
      #expect(lines[1].contains(" candidates[0]: {"), "\(lines)")
      #expect(lines[1].hasSuffix(" is new, and was not recorded"), "\(lines)")
    }
  }

  @Test func `identifiers can be shortened to what is unambiguous`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      let short = String(photo.session.prefix(8))
      #expect(try await house.stagedoor("show", short).output().contains(photo.session))
      let element = photo.session.replacing("-", with: "_")
      #expect(try await house.stagedoor("show", element).output().contains(photo.session))
      #expect(
        try await house.stagedoor("show", String(photo.delivery.prefix(8))).output().contains("state        held"))
      for name in ["Gallery", "gallery", "org.ex", House.gallery] {
        #expect(try await house.stagedoor("show", name).output().hasPrefix("application"), "\(name)")
      }
      try await expect(
        house.stagedoor("activate", "zz"), 4,
        "stagedoor activate: there is no session \"zz\"; `stagedoor sessions` lists them")
      // Of more than sixteen, two begin with the same letter.
      for number in 0..<17 { _ = try await house.drop(photo: "other-\(number)") }
      let first = try await house.sessions().compactMap(\.first)
      let twice = try #require(first.first { letter in first.count { $0 == letter } > 1 })
      let ambiguous = try await house.stagedoor("activate", String(twice)).run()
      #expect(ambiguous.status == .exited(4))
      #expect(ambiguous.standardError.contains(" could mean "), "\(ambiguous)")
      #expect(ambiguous.standardError.hasSuffix("type more of it\n"))
    }
  }

  @Test func `options that would have nothing to work on are refused`() async throws {
    try await withGallery { house async throws in
      try house.write("sea", to: "\(house.home)/a.txt")
      let file = "\(house.home)/a.txt"
      for (words, sentence) in [
        (["--name", "b.txt", file], "--name is for standard input; give - for it, or leave --name out"),
        (
          ["--content-type", "text/html", file],
          "--content-type is for standard input and --text; a file has the type of its name"
        ),
        (["--copy", "-"], "--copy is for files; name one, or leave --copy out"),
        (["-", "-"], "- is given twice, but there is only one standard input"),
      ] {
        try await expect(house.stagedoor(["drop"] + words), 2, "stagedoor drop: \(sentence)")
      }
    }
  }

  @Test func `explain takes standard input for what drop takes it`() async throws {
    try await withGallery { house async throws in
      let result = try await house.shell(
        "printf '\\211PNG\\r\\n\\032\\n' >a; for command in explain drop; do \"$0\" $command - <a; done; \"$0\" explain --json - <a"
      ).run()
      #expect(result.standardOutput.hasPrefix("image/png\n"), "\(result)")
      #expect(result.standardOutput.contains("\"contentType\":\"image/png\""), "\(result)")
    }
  }

  @Test func `a case has every session of every application that takes the type`() async throws {
    try await withGallery { house async throws in
      try await house.registerOther()
      _ = try await house.stagedoor("new", "org.example.Other", "Detail").output()
      // More than one page.
      let count = 1005
      let stage = house.watcher.object(
        "org.stagedoor.Interchange1", at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1")
      let payload =
        "{\"options\": {\"application\": \"\(House.gallery)\", \"disposition\": \"new\", \"deadline\": 3600}}"
      for _ in 0..<count {
        _ = try await stage.call("Deliver", payload, returning: ObjectPath.self, String.self, String.self)
      }
      let cases = "\(house.home)/cases.json"
      _ = try await house.stagedoor("explain", "--text", "sea", "--record", cases).output()
      let applications = try await house.command("jq", "-r", ".cases[0].sessions[].application", cases).output()
        .split(separator: "\n")
      #expect(applications.count { $0 == House.gallery } == count)
      #expect(applications.contains("org.example.Other"))
    }
  }

  @Test func `a file of cases keeps its mode and its link, and no token gets into it`() async throws {
    try await withGallery { house async throws in
      let script = """
        umask 027; export XDG_ACTIVATION_TOKEN=secret
        explain() { "$0" explain -t \(House.openDetail) --record "$1" >explained; }
        explain new.json; stat -c %a new.json
        explain old.json; chmod 600 old.json; ln -s old.json link.json; explain link.json; stat -c '%a %F' old.json link.json
        cat *.json | grep -c secret
        """
      let shell = house.shell(script)
      #expect(try await shell.run().standardOutput == "640\n600 regular file\n777 symbolic link\n0\n")
    }
  }

  @Test func `windows are made, brought to the front, drawn anew and closed`() async throws {
    try await withGallery { house async throws in
      let window = try await house.stagedoor("new", "--print", "session", "Gallery", "Detail").output()
      #expect(try await house.stagedoor("activate", window).output().hasPrefix("activated\t\(window)\t"))
      #expect(try await house.stagedoor("refresh", window).output() == "refreshed\t\(window)\t")
      #expect(
        try await house.stagedoor("close", "--animation", "commit", window).output() == "closed\t\(window)\t")
      #expect(try await house.sessions() == [])
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
        "stagedoor wait: the delivery \(held.delivery) is still under way after 0.2 s")
      #expect(
        try await house.stagedoor("cancel", held.delivery).output() == "cancelled\t\(held.delivery)\t\(House.gallery)")
      try await expect(
        house.stagedoor("wait", held.delivery), 7, "stagedoor wait: the delivery \(held.delivery) was cancelled")
      #expect(
        try await house.stagedoor("deliveries", "--state", "held", "--print", "delivery").output() == other.delivery)
    }
  }

  @Test func `of several deliveries none is cancelled where one cannot be`() async throws {
    try await withGallery { house async throws in
      let held = try await house.drop(photo: "photo-7")
      let over = try await house.drop(photo: "photo-8")
      _ = try await house.stagedoor("cancel", over.delivery).output()
      for other in [over.delivery, "00000000-0000-4000-8000-000000000000"] {
        #expect(try await house.stagedoor("cancel", held.delivery, other).run().status == .exited(4))
        #expect(try await house.stagedoor("show", held.delivery).output().contains("state        held"))
      }
      // One that is named twice is one.
      let twice = try await house.stagedoor("cancel", held.delivery, held.delivery).run()
      #expect(twice.status.isSuccess && twice.standardOutput.hasPrefix("cancelled\t\(held.delivery)\t"), "\(twice)")
    }
  }

  @Test func `an application can be preferred, and no longer`() async throws {
    try await withGallery { house async throws in
      #expect(try await house.stagedoor("prefer", House.openDetail).output() == "")
      #expect(
        try await house.stagedoor("prefer", House.openDetail, "Gallery").output()
          == "preferred\t\(House.openDetail)\t\(House.gallery)")
      let row = "\(House.openDetail)\t\(House.gallery)"
      #expect(try await house.stagedoor("prefer", House.openDetail).output() == row)
      let list = try await house.stagedoor("prefer", "--json", House.openDetail).output()
      #expect(list == "[\n{\"application\":\"\(House.gallery)\",\"type\":\"\(House.openDetail)\"}\n]")
      #expect(
        try await house.stagedoor("prefer", "--none", House.openDetail).output() == "forgotten\t\(House.openDetail)\t")
      #expect(try await house.stagedoor("prefer", House.openDetail).output() == "")
      #expect(try await house.stagedoor("apps", "--print", "application").output() == House.gallery)
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
    }
  }

  @Test func `live identifiers are completed`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      // A tab offers nothing that takes longer than a second.
      func offers(_ words: String..., where isRight: @escaping @Sendable (String) -> Bool) async throws {
        try await eventually("the offer for \(words)") {
          isRight(try await house.stagedoor(["__complete"] + words).output())
        }
      }
      try await offers("bash", "close", "") { $0 == "\(photo.session)\t\(House.gallery) photo-7" }
      try await offers("bash", "drop", "--app", "org") { $0 == "\(House.gallery)\tGallery" }
      try await offers("zsh", "drop", "--app=o") { $0 == "--app=\(House.gallery)\tGallery" }
      try await offers("fish", "new", "Gallery", "D") { $0.hasPrefix("Detail\t") }
      try await offers("fish", "cancel", "") { $0.hasPrefix(photo.delivery) }
    }
  }

  @Test func `how a delivery ended is a status, also for who asks later`() async throws {
    try await withGallery { house async throws in
      let refused = try await house.hosting("/no/such/program") { _ async throws in
        try await house.stagedoor("drop", "-t", House.openDetail, "-w", "handled").run()
      }
      #expect(refused.status == .exited(6), "\(refused)")
      #expect(refused.standardError.contains("/no/such/program: No such file or directory"), "\(refused)")
      try await house.hosting("sleep 1000") { _ async throws in
        let photo = try await house.drop(photo: "photo-7", "--wait", "handled")
        #expect(try await house.stagedoor("wait", photo.delivery).output() == "handled")
        #expect(try await house.stagedoor("wait", "-q", String(photo.delivery.prefix(10))).output() == "")
      }
    }
  }
}
