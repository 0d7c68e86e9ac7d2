import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// Commands that choose among many, and those that ask before they act.
@Suite(.gallery) struct ChoiceTests {
  // MARK: What is printed

  @Test func `the fields that are printed are chosen by their keys`() async throws {
    let photo = try await house.drop(photo: "photo-7", "--title", "Beach")
    let fields = "title,session,hasManifest"
    #expect(try await said("sessions", "--print", fields) == "Beach\t\(photo.session)\tyes")
    #expect(try await said("deliveries", "--print", "state,delivery") == "held\t\(photo.delivery)")
    let again = ["drop", "-t", House.openDetail, "--target", "photo-7"]
    #expect(try await said(again + ["--print", "session,outcome"]) == "\(photo.session)\tactivated")
    let quiet = try await ran(again + ["-q"])
    #expect(quiet.status.isSuccess && quiet.standardOutput + quiet.standardError == "", "\(quiet)")
    // An event names its delivery as the list of deliveries does.
    let events = try await said("watch", "--past", "--print", "event,delivery")
    #expect(events.split(separator: "\n").first == "created\t\(photo.delivery)")
    let line = try await said("watch", "--past").split(separator: "\n")[0]
    #expect(line.split(separator: "\t", omittingEmptySubsequences: false)[5] == photo.delivery)
  }

  @Test func `a command that fails prints an object where JSON was asked for`() async throws {
    for (words, status, error) in [
      (["drop", "-t", "org.example.unknown"], 4, "org.stagedoor.Error.ActivityTypeNotDeclared"),
      (["drop", "-t", House.openDetail, "-w", "handled", "--deadline", "0.1"], 5, "org.stagedoor.Error.HostTimeout"),
      (["drop", "/no/such"], 1, nil), (["activate", "zz"], 4, nil), (["drop", "--tagret", "x"], 2, nil),
      (["sessions", "--app", "org.nobody"], 4, "org.stagedoor.Error.NoSuchApplication"),
    ] as [([String], Int32, String?)] {
      let result = try await expect(words + ["--json"], ends: status)
      let object = try JSONDecoder().decode(Failure.self, from: Data(result.standardOutput.utf8))
      #expect(object.status == status && object.error == error, "\(words): \(result)")
      #expect(result.standardError == "stagedoor \(words[0]): \(object.message)\n", "\(words): \(result)")
    }
  }

  private struct Failure: Decodable {
    let status: Int32
    let error: String?
    let message: String
  }

  // MARK: Closing

  @Test func `all windows of an application are closed, or all there are`() async throws {
    try await house.registerOther()
    let photo = try await house.drop(photo: "photo-7", "--app", House.gallery, "--title", "Beach")
    let other = try await said("new", "org.example.Other", "--print", "session")
    #expect(try await said("close", "--app", "Gallery") == "closed\t\(photo.session)\tBeach")
    #expect(try await house.sessions() == [other])
    try await house.drop(photo: "photo-8", "--app", House.gallery)
    try await expect(["close", "--all"], ends: 2, with: "for good; --yes does it without asking")
    #expect(try await said("close", "--all", "--yes", "--quiet") == "")
    #expect(try await house.sessions() == [])
    let twice = try await house.drop(photo: "photo-9", "--app", House.gallery).session
    #expect(try await said("close", twice, twice) == "closed\t\(twice)\tphoto-9")
    try await expect(["close", "--all"], ends: 0, "there are no such windows")
    try await expect(["close", "--all", other], ends: 2)
  }

  @Test(arguments: [("y\n", true), ("n\n", false), ("\n", false)])
  func `on a terminal a shortened identifier is closed after a question that names the window`(
    answer: String, isClosed: Bool
  ) async throws {
    let photo = try await house.drop(photo: "photo-7", "--title", "Beach")
    var close = house.stagedoor(columns: 100, ["--color", "never", "close", String(photo.session.prefix(8))])
    close.input = answer
    let result = try await close.run()
    #expect(
      result.standardOutput.contains("Close the window \"Beach\" of \(House.gallery) for good? [y/N] "), "\(result)")
    #expect(result.status == .exited(isClosed ? 0 : 7), "\(result)")
    #expect(try await house.sessions().isEmpty == isClosed)
  }

  @Test func `nothing is asked about a whole identifier, with --yes, or where nobody can answer`() async throws {
    let sessions = [try await house.drop(photo: "photo-0").session, try await house.drop(photo: "photo-1").session]
    for (number, words) in [[sessions[0]], ["--yes", String(sessions[1].prefix(8))]].enumerated() {
      let shown = try await house.stagedoor(columns: 100, ["close"] + words).output()
      #expect(!shown.contains("[y/N]") && shown.contains("photo-\(number)"), "\(shown)")
    }
    let short = try await house.drop(photo: "photo-7").session.prefix(8)
    try await said("close", String(short))
    #expect(try await house.sessions() == [])
  }

  @Test func `what is forgotten by reset is told of, and nothing without a yes`() async throws {
    let photo = try await house.drop(photo: "photo-7", "--title", "Beach")
    try await said("prefer", House.openDetail, "Gallery")
    try await expect(
      ["reset"], ends: 2,
      "this would forget 1 window for good, 1 delivery that waits and 1 chosen application; --yes does it without asking"
    )
    #expect(try await house.sessions() == [photo.session])
    let told = try await said("reset", "--yes")
    // The window was made for the delivery, and goes with it.
    #expect(told == "cancelled\t\(photo.delivery)\t\nforgotten\t\(House.openDetail)\t\(House.gallery)")
    #expect(try await house.sessions() == [])
    #expect(try await said("prefer") == "")
    #expect(try await said("deliveries", "--state", "held") == "")
    #expect(try await said("apps", "--print", "application") == House.gallery)
  }

  // MARK: Deliveries

  @Test func `deliveries are listed by application, and those that nobody took`() async throws {
    try await house.registerOther()
    let mine = try await house.drop(photo: "photo-7", "--app", House.gallery)
    try await expect(
      [
        "drop", "-t", House.openDetail, "--target", "b", "--app", "org.example.Other", "--deadline", "0.1", "-w",
        "handled",
      ], ends: 5)
    func listed(_ words: String...) async throws -> [Substring] {
      try await said(["deliveries", "--print", "delivery"] + words).split(separator: "\n")
    }
    #expect(try await listed("--app", "Gallery") == [mine.delivery[...]])
    let unclaimed = try await listed("--unclaimed")
    #expect(unclaimed.count == 1 && unclaimed != [mine.delivery[...]], "\(unclaimed)")
    #expect(try await listed("--unclaimed", "--app", "Gallery") == [])
    #expect(try await listed("--app", "org.example.Other", "-n", "1") == unclaimed)
    try await expect(["deliveries", "--state", "held", "--unclaimed"], ends: 2)
  }

  @Test func `a delivery is shown with its session and its application, also after a redirect`() async throws {
    let photo = try await house.drop(photo: "photo-7")
    let other = try await house.drop(photo: "photo-8")
    let before = try await said("show", "--json", photo.delivery)
    #expect(before.contains(#""session":"\#(photo.session)""#), "\(before)")
    #expect(before.contains(#""application":"\#(House.gallery)""#), "\(before)")
    try await said("redirect", photo.delivery, other.session)
    let after = try await said("show", "--json", photo.delivery)
    #expect(after.contains(#""session":"\#(other.session)""#) && !after.contains(photo.session), "\(after)")
    #expect(after.contains(#""outcome":"activated""#) && after.contains("redirected"), "\(after)")
    let drawn = try await said("explain", "--delivery", String(photo.delivery.prefix(8)))
    #expect(drawn.contains("=> activated \(other.session)"), "\(drawn)")
  }

  // MARK: Contents

  @Test func `an activity type that nobody declares is told of where data decides`() async throws {
    let mistyped = "org.example.Gallery.opnDetail"
    for command in ["drop", "explain"] {
      try await expect(
        [command, "-t", mistyped, "--text", "sea"], ends: 0,
        with:
          "stagedoor: no application declares \"\(mistyped)\", so only the data decided; did you mean \(House.openDetail)?"
      )
      let good = try await ran(command, "-t", House.openDetail, "--text", "sea")
      #expect(good.status.isSuccess && good.standardError == "", "\(good)")
    }
  }

  // MARK: Manifests

  @Test func `a variable of Xcode is named, and gets a value`() async throws {
    let path = "\(house.home)/Info.json"
    let manifest = House.galleryManifest.replacing("\"\(House.gallery)\"", with: "\"$(PRODUCT_BUNDLE_IDENTIFIER)\"")
    try house.write(manifest, to: path)
    for command in ["check", "register", "install-manifest"] {
      let result = try await ran(command, path)
      let advice = "or give it with --define PRODUCT_BUNDLE_IDENTIFIER=VALUE"
      #expect(!result.status.isSuccess && "\(result)".contains(advice), "\(command): \(result)")
    }
    let define = "PRODUCT_BUNDLE_IDENTIFIER=org.example.Defined"
    #expect(try await said("check", "-q", "--define", define, path) == "")
    let registered = try await said("register", "-D", define, path)
    #expect(registered.hasPrefix("registered\torg.example.Defined\t"), "\(registered)")
    #expect(try await said("apps", "--print", "application").contains("org.example.Defined"))
    // A value is text, whatever is defined after it.
    try house.write(manifest.replacing("\"Overview\"", with: "\"${NAME}\""), to: path)
    try await said("register", "-D", define, "-D", "NAME=$(OTHER) \"1\"", "-D", "OTHER=x", path)
    #expect(try await said("show", "org.example.Defined").contains("- name  $(OTHER) \"1\"\n"))
  }

  // MARK: In a sandbox

  @Test(.enabled(if: House.canSandbox))
  func `in a sandbox past events end, and a file goes by its descriptor`() async throws {
    let sandbox = try await house.sandboxedCommand()
    let photo = try await house.drop(photo: "photo-7")
    func run(_ words: String..., as application: String = "org.example.Alien") async throws -> Command.Result {
      try await house.sandboxed(as: application, "sh", arguments: sandbox + words).run()
    }
    let other = try await run("watch", "--past")
    #expect(other.status == .exited(4), "\(other)")
    #expect(other.standardError.contains("stagedoor watch: AccessDenied: in a sandbox you hear of"), "\(other)")
    let alien = try await run("windows")
    #expect(alien.standardError.contains("your own application only; name it with --app\n"), "\(alien)")
    let windows = try await run("windows", "--app", House.gallery, "--print", "session", as: House.gallery)
    #expect(windows.status.isSuccess, "\(windows)")
    // The newest event is another application's.
    try await house.registerOther()
    try await said("new", "org.example.Other")
    let own = try await run("watch", "--past", "--app", House.gallery, as: House.gallery)
    #expect(own.status.isSuccess && own.standardOutput.contains(photo.session), "\(own)")
    #expect(!own.standardOutput.contains("org.example.Other"), "\(own)")
    try house.write("sand", to: "\(house.home)/a.txt")
    let drop = try await run("drop", "--app", House.gallery, "\(house.home)/a.txt")
    #expect(drop.status.isSuccess && drop.standardOutput.hasPrefix("created\t"), "\(drop)")
    let explain = try await run("explain", "--app", House.gallery, "\(house.home)/a.txt")
    #expect(explain.status.isSuccess && explain.standardOutput.contains("=> created"), "\(explain)")
  }
}

extension House {
  /// The words with which `sh` runs the command in a sandbox, which sees `/tmp` and the system's programs only.
  fileprivate func sandboxedCommand() async throws -> [String] {
    let folder = "\(home)/sandboxed"
    let copy = """
      mkdir -p "$1" && cp "$0" "$1/stagedoor"
      ldd "$0" | sed -n 's/.*=> \\(\\/.*\\) (.*/\\1/p' | grep -v '^/lib\\|^/usr/lib' | xargs -r -I{} cp {} "$1"
      """
    _ = try await command("sh", "-c", copy, Command.built("stagedoor").program, folder).output()
    return ["-c", "LD_LIBRARY_PATH=\(folder) exec \(folder)/stagedoor \"$@\"", "sh"]
  }
}
