import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import Testing

/// Each command against a running service.
@Suite(.gallery) struct CommandLiveTests {
  @Test func `a drop says its outcome, its session and its delivery`() async throws {
    let first = try await house.drop(photo: "photo-7")
    #expect(first.outcome == "created")
    let second = try await house.drop(photo: "photo-7", "--info", "zoom=2")
    #expect(second.outcome == "activated")
    #expect(second.session == first.session)
    #expect(try await house.drop(photo: "photo-7", "--new").session != first.session)
    let quiet = try await said("drop", "--print", "delivery", "-t", House.openDetail, "--target", "photo-7")
    #expect(try await said("deliveries", "--print", "delivery", "-n", "1") == quiet)
  }

  @Test func `a drop that is repeated under its token is dropped once`() async throws {
    let drop = house.stagedoor("drop", "-t", House.openDetail, "--new", "--token", "once")
    let first = try await drop.output()
    #expect(try await drop.output() == first)
    #expect(try await house.sessions().count == 1)
  }

  @Test func `a list that is longer than a page goes on where its last window was closed meanwhile`() async throws {
    let connection = try await house.bus.connect()
    for page in 1...2 {
      // The rows of a page are more than a pipe takes, so the command waits for its reader.
      let items = (1...505).map { number in
        let key = "\(page)-\(number)-\(String(repeating: "x", count: 60))"
        return #"{"activities": [{"activityType": "\#(House.openDetail)", "targetContentIdentifier": "\#(key)"}]}"#
      }
      _ = try await connection.call(
        to: House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "DeliverEach",
        #"{"items": [\#(items.joined(separator: ", "))]}"#, returning: [Structure<ObjectPath, String, String>].self)
    }
    let sessions = try await house.sessions()
    #expect(sessions.count == 1010)
    let line = "\"$0\" sessions | { read -r first; \"$0\" close -q \"$1\"; cat; } | wc -l"
    let result = try await house.shell(line, in: "sh", sessions[999]).run()
    #expect(result.standardOutput == "1009\n" && result.standardError == "", "\(result)")
  }

  @Test func `what became of something is told as JSON`() async throws {
    let made = try await said("new", "Gallery", "--json").normalized
    let none = "00000000-0000-0000-0000-000000000000"
    #expect(made == #"{"delivery":"\#(none)","outcome":"created","session":"\#(none)"}"#)
    let photo = try await house.drop(photo: "photo-7")
    for words in [
      ["drop", "-t", House.openDetail, "--target", "photo-7"], ["activate", photo.session],
      ["redirect", photo.delivery, photo.session],
    ] {
      let told = try await said(words + ["--json"])
      #expect(told.contains(#","outcome":"activated","session":"\#(photo.session)"}"#), "\(words): \(told)")
    }
    try await house.hosting("sleep 1000", "--continue", "true") { _ async throws in
      #expect(
        try await said("wait", "--json", photo.delivery) == #"{"delivery":"\#(photo.delivery)","state":"handled"}"#)
    }
  }

  @Test func `a file whose name is not UTF-8 is handed in, and nothing else can be called so`() async throws {
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

  @Test func `a pipe or a device in the place of a file is refused with what to write instead`() async throws {
    let pipe = "\(house.home)/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    try await expect(["drop", pipe], ends: 1, "\(pipe) is a pipe; hand it in as standard input: - <\(pipe)")
    try await house.shell("\"$0\" drop <(echo ps)", in: "bash").expect(ends: 1, with: " is a pipe; hand it in as ")
    try await expect(
      ["drop", "/dev/null"], ends: 1,
      "/dev/null is a device, and no file; hand it in as standard input: - </dev/null")
  }

  @Test func `applications are listed for a type or for a file, and for nothing else`() async throws {
    try house.write("sand", to: "\(house.home)/a.txt")
    let (text, none) = ("\(house.home)/a.txt", "is no type such as image/png or org.example.Gallery.openDetail")
    #expect(try await said("apps", "--print", "application", "--file", text) == House.gallery)
    #expect(try await said("apps", "--print", "application", "text/plain") == House.gallery)
    #expect(try await said("apps", "--print", "application", "application/zip") == "")
    for type in ["text/", "text/*", "*/*", "", text] {
      try await expect(["apps", type], ends: 2, "\"\(type)\" \(none)")
    }
    try await expect(
      ["apps", "nonsense"], ends: 4,
      "no application takes \"nonsense\"; `stagedoor apps` lists the applications")
    try await expect(["apps", "text/plain", "--file", text], ends: 2, "--file says the type; leave TYPE out")
  }

  @Test func `files, texts, links and standard input go where their types say`() async throws {
    try house.write("a beach", to: "\(house.home)/a file.txt")
    #expect(try await said("drop", "\(house.home)/a file.txt").hasPrefix("created\t"))
    let url = "file://\(house.home)/a%20file.txt"
    #expect(try await said("drop", url).hasPrefix("activated\t"))
    #expect(try await said("sessions", "--json").contains(url))
    #expect(try await said("drop", "-", input: "hello").hasPrefix("created\t"))
    #expect(try await said("drop", "--text", "hello").hasPrefix("created\t"))
    // A link is of the type of its scheme, and no text; it is the key.
    let link = house.stagedoor("drop", "--url", "https://example.org")
    #expect(try await link.output().hasPrefix("created\t"))
    #expect(try await link.output().hasPrefix("activated\t"))
    try await expect(
      ["drop", "--url", "not a url"], ends: 2,
      "\"not a url\" is not a URL such as https://example.org; --text takes any text")
    try await expect(
      ["drop", "--text", "x", "--content-type", "application/zip"], ends: 4,
      "there is no activity in it, and no application takes \"application/zip\": add an activity, or the type to CFBundleDocumentTypes"
    )
    try await expect(["drop", "/no/such"], ends: 1, "/no/such: No such file or directory")
    try await expect(["drop", house.home], ends: 1, "\(house.home) is a directory; hand in the files that are in it")
  }

  @Test func `a whole payload is taken from a file and from standard input, with options beside it`() async throws {
    let document = Payloads.activity(House.openDetail, "photo-1")
    #expect(try await said("drop", "--payload", "-", input: document).hasPrefix("created\t"))
    try house.write(document, to: "\(house.home)/payload.json")
    let file = "\(house.home)/payload.json"
    #expect(try await said("drop", "--payload", file).hasPrefix("activated\t"))
    #expect(try await said("drop", "--payload", file, "--new").hasPrefix("created\t"))
    // An option of the command line is stronger than one of the payload.
    let waiting = #"{"activity": {"activityType": "\#(House.openDetail)"}, "options": {"wait": "handled"}}"#
    #expect(
      try await said("drop", "--payload", "-", "--wait", "routed", "--deadline", "3600", input: waiting)
        .hasPrefix("created\t"))
    for option in ["--type", "--name", "--content-type"] {
      try await expect(
        ["drop", "--payload", file, option, "x"], ends: 2,
        "\(option) cannot be combined with --payload; write it into the payload")
    }
    try await expect(
      ["drop", "--payload", "-"], input: "{", ends: 1,
      "standard input: line 1, column 2: expected a key in double quotes or \"}\", got the end of the document")
  }

  @Test func `explain draws the decision, and its refusals have the status of a refusal`() async throws {
    let photo = try await house.drop(photo: "photo-7")
    try await house.drop(photo: "photo-8")
    let picture = try await said("explain", "-t", House.openDetail, "--target", "photo-7")
    try expectSnapshot(picture.normalized, "explain")
    let quiet = try await said("explain", "--print", "session", "-t", House.openDetail, "--target", "photo-7")
    #expect(quiet == photo.session)
    try await expect(
      ["explain", "-t", "org.example.unknown"], ends: 4,
      output: "=> refused: no application declares \"org.example.unknown\"")
  }

  @Test func `a decision that was recorded is made again, and a changed manifest shows`() async throws {
    try await house.drop(photo: "photo-7")
    let cases = "\(house.home)/cases.json"
    for photo in ["photo-7", "photo-9"] {
      try await said("explain", "-t", House.openDetail, "--target", photo, "--record", cases)
    }
    let manifest = "\(house.home)/gallery.json"
    #expect(
      try await said("test", "-m", manifest, cases)
        == "same     \(House.openDetail) photo-7 activated\nsame     \(House.openDetail) photo-9 created\n2 as recorded, 0 different"
    )
    try house.write(
      House.galleryManifest.replacing(
        "\"StagedoorActivityTypes\"", with: "\"StagedoorLaunch\": \"new\", \"StagedoorActivityTypes\""),
      to: manifest)
    try await expect(
      ["test", "-m", manifest, cases], ends: 1,
      output: "outcome: \"activated\" was recorded, and now it is \"created\"")
    try await said("test", "--update", "-m", manifest, cases)
    #expect(try await said("test", "-q", "-m", manifest, cases) == "")
  }

  @Test func `of a list that was recorded, what is new and what is gone is shown, and not all of it`() async throws {
    for photo in ["photo-7", "photo-8"] { try await house.drop(photo: photo) }
    let script = """
      "$0" explain -t \(House.openDetail) --target photo-7 --record cases.json >explained
      jq '.cases[0].decision.candidates |= .[1:]' cases.json >changed.json
      "$0" test -m gallery.json changed.json
      """
    let lines = try await house.shell(script).run().standardOutput.split(separator: "\n")
    #expect(lines.count == 3, "\(lines)")
    #expect(lines[1].contains(" candidates[0]: {"), "\(lines)")
    #expect(lines[1].hasSuffix(" is new, and was not recorded"), "\(lines)")
  }

  @Test func `identifiers can be shortened to what is unambiguous`() async throws {
    let photo = try await house.drop(photo: "photo-7")
    for text in [String(photo.session.prefix(8)), photo.session.replacing("-", with: "_")] {
      #expect(try await said("show", text).contains(photo.session))
    }
    #expect(try await said("show", String(photo.delivery.prefix(8))).contains("state        held"))
    for name in ["Gallery", "gallery", "org.ex", House.gallery] {
      #expect(try await said("show", name).hasPrefix("application"), "\(name)")
    }
    try await expect(["activate", "zz"], ends: 4, "there is no session \"zz\"; `stagedoor sessions` lists them")
    // Of more than sixteen, two begin with the same letter.
    for number in 0..<17 { try await house.drop(photo: "other-\(number)") }
    let first = try await house.sessions().compactMap(\.first)
    let twice = try #require(first.first { letter in first.count { $0 == letter } > 1 })
    let ambiguous = try await expect(["activate", String(twice)], ends: 4, with: " could mean ")
    #expect(ambiguous.standardError.hasSuffix("type more of it\n"))
  }

  @Test func `a list is shown whole, whatever its values are`() async throws {
    let marks = #"[{"x": 1, "y": {"z": "q"}}, 2, "three", [4, {"five": 5}]]"#
    let activity = #"{"activityType": "\#(House.openDetail)", "userInfo": {"marks": \#(marks), "plain": ["a", "b"]}}"#
    let drop = house.stagedoor("drop", "--payload", "-", "--print", "session", input: #"{"activity": \#(activity)}"#)
    let shown = try await said("show", drop.output())
    let lines = """
        userInfo
          plain  a
                 b
          marks
            - x  1
              y
                z  q
            - 2
            - three
            - [4,{"five":5}]
      """
    #expect(shown.hasSuffix(lines), "\(shown)")
  }

  @Test func `options that would have nothing to work on are refused`() async throws {
    try house.write("sea", to: "\(house.home)/a.txt")
    for (words, sentence) in [
      (["--name", "b.txt", "a.txt"], "--name is for standard input; give - for it, or leave --name out"),
      (
        ["--content-type", "text/html", "a.txt"],
        "--content-type is for standard input and --text; a file has the type of its name"
      ),
      (["--copy", "-"], "--copy is for files; name one, or leave --copy out"),
      (["-", "-"], "- is given twice, but there is only one standard input"),
    ] {
      try await expect(["drop"] + words, ends: 2, sentence)
    }
  }

  @Test func `explain takes standard input for what drop takes it`() async throws {
    let result = try await house.shell(
      "printf '\\211PNG\\r\\n\\032\\n' >a; for command in explain drop; do \"$0\" $command - <a; done; \"$0\" explain --json - <a"
    ).run()
    #expect(result.standardOutput.hasPrefix("image/png\n"), "\(result)")
    #expect(result.standardOutput.contains("\"contentType\":\"image/png\""), "\(result)")
  }

  @Test func `a case has every session of every application that takes the type`() async throws {
    try await house.registerOther()
    for application in ["Gallery", "Gallery", "Other"] { try await said("new", application, "Detail") }
    let cases = "\(house.home)/cases.json"
    try await said("explain", "--text", "sea", "--record", cases)
    let applications = try await house.command("jq", "-r", ".cases[0].sessions[].application", cases).output()
    #expect(applications == "\(House.gallery)\n\(House.gallery)\norg.example.Other")
  }

  @Test func `a file of cases keeps its mode and its link, and no token gets into it`() async throws {
    let script = """
      umask 027; export XDG_ACTIVATION_TOKEN=secret
      explain() { "$0" explain -t \(House.openDetail) --record "$1" >explained; }
      explain new.json; stat -c %a new.json
      explain old.json; chmod 600 old.json; ln -s old.json link.json; explain link.json; stat -c '%a %F' old.json link.json
      cat *.json | grep -c secret
      """
    #expect(try await house.shell(script).run().standardOutput == "640\n600 regular file\n777 symbolic link\n0\n")
  }

  @Test func `windows are made, brought to the front, drawn anew and closed`() async throws {
    let window = try await said("new", "--print", "session", "Gallery", "Detail")
    #expect(try await said("activate", window).hasPrefix("activated\t\(window)\t"))
    #expect(try await said("refresh", window) == "refreshed\t\(window)\t")
    #expect(try await said("close", "--animation", "commit", window) == "closed\t\(window)\t")
    #expect(try await house.sessions() == [])
    try await expect(["activate", window], ends: 4, "there is no session \(window), or no longer")
    try await expect(
      ["new", "Gallery", "Nothing"], ends: 4,
      "org.example.Gallery has no configuration \"Nothing\"; there are \"Overview\" and \"Detail\"")
  }

  @Test func `what is held can be cancelled, redirected and waited for`() async throws {
    let held = try await house.drop(photo: "photo-7")
    let other = try await house.drop(photo: "photo-8")
    #expect(try await said("redirect", held.delivery, other.session).contains(other.session))
    try await expect(
      ["wait", "--deadline", "0.2", held.delivery], ends: 5,
      "the delivery \(held.delivery) is still under way after 0.2 s")
    #expect(try await said("cancel", held.delivery) == "cancelled\t\(held.delivery)\t\(House.gallery)")
    try await expect(["wait", held.delivery], ends: 7, "the delivery \(held.delivery) was cancelled")
    #expect(try await said("deliveries", "--state", "held", "--print", "delivery") == other.delivery)
  }

  @Test func `of several deliveries none is cancelled where one cannot be`() async throws {
    let held = try await house.drop(photo: "photo-7")
    let over = try await house.drop(photo: "photo-8")
    try await said("cancel", over.delivery)
    for other in [over.delivery, "00000000-0000-4000-8000-000000000000"] {
      try await expect(["cancel", held.delivery, other], ends: 4)
      #expect(try await said("show", held.delivery).contains("state        held"))
    }
    // One that is named twice is one.
    #expect(try await said("cancel", held.delivery, held.delivery).hasPrefix("cancelled\t\(held.delivery)\t"))
  }

  @Test func `an application can be preferred, and no longer`() async throws {
    #expect(try await said("prefer", House.openDetail) == "")
    #expect(try await said("prefer", House.openDetail, "Gallery") == "preferred\t\(House.openDetail)\t\(House.gallery)")
    #expect(try await said("prefer", House.openDetail) == "\(House.openDetail)\t\(House.gallery)")
    let list = try await said("prefer", "--json", House.openDetail)
    #expect(list == "[\n{\"application\":\"\(House.gallery)\",\"type\":\"\(House.openDetail)\"}\n]")
    #expect(try await said("prefer", "--none", House.openDetail) == "forgotten\t\(House.openDetail)\t")
    #expect(try await said("prefer", House.openDetail) == "")
    #expect(try await said("apps", "--print", "application") == House.gallery)
  }

  @Test func `what happens is printed as it happens, from any number on`() async throws {
    try await house.stagedoor("watch", "--since", "0", "--json").whileRunning { watching async throws in
      let photo = try await house.drop(photo: "photo-7")
      let line = try await watching.nextLine()
      #expect(line.contains("\"event\":\"Routed\"") && line.contains("\"sequence\":1,") && line.contains(photo.session))
      try await said("close", photo.session)
      try await watching.line { $0.contains("SessionDiscarded") }
    }
    try await house.stagedoor("watch", "--since", "0").whileRunning { watching async throws in
      let line = try await watching.nextLine()
      #expect(line.hasSuffix("\(House.openDetail) photo-7"), "\(line)")
    }
  }
}
