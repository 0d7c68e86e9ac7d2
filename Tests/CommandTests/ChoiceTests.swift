import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import Testing

/// Commands that choose among many, and those that ask before they act.
@Suite struct ChoiceTests {
  // MARK: What is printed

  @Test func `the fields that are printed are chosen by their keys`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7", "--title", "Beach")
      let fields = "title,session,hasManifest"
      #expect(try await house.stagedoor("sessions", "--print", fields).output() == "Beach\t\(photo.session)\tyes")
      #expect(
        try await house.stagedoor("deliveries", "--print", "state,delivery").output() == "held\t\(photo.delivery)")
      let again = ["drop", "-t", House.openDetail, "--target", "photo-7"]
      let drop = try await house.stagedoor(again + ["--print", "session,outcome"]).output()
      #expect(drop == "\(photo.session)\tactivated")
      let quiet = try await house.stagedoor(again + ["-q"]).run()
      #expect(quiet.status.isSuccess && quiet.standardOutput + quiet.standardError == "", "\(quiet)")
      // An event names its delivery as the list of deliveries does.
      let events = try await house.stagedoor("watch", "--past", "--print", "event,delivery").output()
      #expect(events.split(separator: "\n").first == "created\t\(photo.delivery)")
      let line = try await house.stagedoor("watch", "--past").output().split(separator: "\n")[0]
      #expect(line.split(separator: "\t", omittingEmptySubsequences: false)[5] == photo.delivery)
    }
  }

  @Test func `a command that fails prints an object where JSON was asked for`() async throws {
    try await withGallery { house async throws in
      for (words, status, error) in [
        (["drop", "-t", "org.example.unknown"], 4, "org.stagedoor.Error.ActivityTypeNotDeclared"),
        (["drop", "-t", House.openDetail, "-w", "handled", "--deadline", "0.1"], 5, "org.stagedoor.Error.HostTimeout"),
        (["drop", "/no/such"], 1, nil), (["activate", "zz"], 4, nil), (["drop", "--tagret", "x"], 2, nil),
        (["sessions", "--app", "org.nobody"], 4, "org.stagedoor.Error.NoSuchApplication"),
      ] as [([String], Int32, String?)] {
        let result = try await house.stagedoor(words + ["--json"]).run()
        #expect(result.status == .exited(status), "\(words): \(result)")
        let object = try JSONDecoder().decode(Failure.self, from: Data(result.standardOutput.utf8))
        #expect(object.status == status && object.error == error, "\(words): \(result)")
        #expect(result.standardError == "stagedoor \(words[0]): \(object.message)\n", "\(words): \(result)")
      }
    }
  }

  private struct Failure: Decodable {
    let status: Int32
    let error: String?
    let message: String
  }

  // MARK: Closing

  @Test func `all windows of an application are closed, or all there are`() async throws {
    try await withGallery { house async throws in
      try await house.registerOther()
      let photo = try await house.drop(photo: "photo-7", "--app", House.gallery, "--title", "Beach")
      let other = try await house.stagedoor("new", "org.example.Other", "--print", "session").output()
      #expect(try await house.stagedoor("close", "--app", "Gallery").output() == "closed\t\(photo.session)\tBeach")
      #expect(try await house.sessions() == [other])
      _ = try await house.drop(photo: "photo-8", "--app", House.gallery)
      let unasked = try await house.stagedoor("close", "--all").run()
      #expect(unasked.status == .exited(2))
      #expect(unasked.standardError.contains("for good; --yes does it without asking"), "\(unasked)")
      #expect(try await house.stagedoor("close", "--all", "--yes", "--quiet").output() == "")
      #expect(try await house.sessions() == [])
      let twice = try await house.drop(photo: "photo-9", "--app", House.gallery).session
      #expect(try await house.stagedoor("close", twice, twice).output() == "closed\t\(twice)\tphoto-9")
      let none = try await house.stagedoor("close", "--all").run()
      #expect(none.status.isSuccess && none.standardError == "stagedoor close: there are no such windows\n", "\(none)")
      let both = try await house.stagedoor("close", "--all", other).run()
      #expect(both.status == .exited(2), "\(both)")
    }
  }

  @Test(arguments: [("y\n", true), ("n\n", false), ("\n", false)])
  func `on a terminal a shortened identifier is closed after a question that names the window`(
    answer: String, isClosed: Bool
  ) async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7", "--title", "Beach")
      let close = house.stagedoor(columns: 100, "--color", "never", "close", String(photo.session.prefix(8)))
      var typed = close
      typed.input = answer
      let result = try await typed.run()
      #expect(
        result.standardOutput.contains("Close the window \"Beach\" of \(House.gallery) for good? [y/N] "), "\(result)")
      #expect(result.status == .exited(isClosed ? 0 : 7), "\(result)")
      #expect(try await house.sessions().isEmpty == isClosed)
    }
  }

  @Test func `nothing is asked about a whole identifier, with --yes, or where nobody can answer`() async throws {
    try await withGallery { house async throws in
      for (number, words) in [["whole"], ["--yes", "short"]].enumerated() {
        let photo = try await house.drop(photo: "photo-\(number)")
        let arguments = words.map {
          $0 == "whole" ? photo.session : $0 == "short" ? String(photo.session.prefix(8)) : $0
        }
        let shown = try await house.stagedoor(columns: 100, ["close"] + arguments).output()
        #expect(!shown.contains("[y/N]") && shown.contains("photo-\(number)"), "\(shown)")
      }
      let photo = try await house.drop(photo: "photo-7")
      _ = try await house.stagedoor("close", String(photo.session.prefix(8))).output()
      #expect(try await house.sessions() == [])
    }
  }

  @Test func `what is forgotten by reset is told of, and nothing without a yes`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7", "--title", "Beach")
      _ = try await house.stagedoor("prefer", House.openDetail, "Gallery").output()
      let refused = try await house.stagedoor("reset").run()
      #expect(refused.status == .exited(2), "\(refused)")
      #expect(
        refused.standardError
          == "stagedoor reset: this would forget 1 window for good, 1 delivery that waits and 1 chosen application; --yes does it without asking\n"
      )
      #expect(try await house.sessions() == [photo.session])
      let told = try await house.stagedoor("reset", "--yes").output()
      // The window was made for the delivery, and goes with it.
      #expect(told == "cancelled\t\(photo.delivery)\t\nforgotten\t\(House.openDetail)\t\(House.gallery)")
      #expect(try await house.sessions() == [])
      #expect(try await house.stagedoor("prefer").output() == "")
      #expect(try await house.stagedoor("deliveries", "--state", "held").output() == "")
      #expect(try await house.stagedoor("apps", "--print", "application").output() == House.gallery)
    }
  }

  // MARK: Deliveries

  @Test func `deliveries are listed by application, and those that nobody took`() async throws {
    try await withGallery { house async throws in
      try await house.registerOther()
      let mine = try await house.drop(photo: "photo-7", "--app", House.gallery)
      let late = try await house.stagedoor(
        "drop", "-t", House.openDetail, "--target", "b", "--app", "org.example.Other", "--deadline", "0.1", "-w",
        "handled"
      ).run()
      #expect(late.status == .exited(5), "\(late)")
      func listed(_ words: String...) async throws -> [Substring] {
        try await house.stagedoor(["deliveries", "--print", "delivery"] + words).output().split(separator: "\n")
      }
      #expect(try await listed("--app", "Gallery") == [mine.delivery[...]])
      let unclaimed = try await listed("--unclaimed")
      #expect(unclaimed.count == 1 && unclaimed != [mine.delivery[...]], "\(unclaimed)")
      #expect(try await listed("--unclaimed", "--app", "Gallery") == [])
      #expect(try await listed("--app", "org.example.Other", "-n", "1") == unclaimed)
      let both = try await house.stagedoor("deliveries", "--state", "held", "--unclaimed").run()
      #expect(both.status == .exited(2), "\(both)")
    }
  }

  @Test func `a delivery is shown with its session and its application, also after a redirect`() async throws {
    try await withGallery { house async throws in
      let photo = try await house.drop(photo: "photo-7")
      let other = try await house.drop(photo: "photo-8")
      let before = try await house.stagedoor("show", "--json", photo.delivery).output()
      #expect(before.contains(#""session":"\#(photo.session)""#), "\(before)")
      #expect(before.contains(#""application":"\#(House.gallery)""#), "\(before)")
      _ = try await house.stagedoor("redirect", photo.delivery, other.session).output()
      let after = try await house.stagedoor("show", "--json", photo.delivery).output()
      #expect(after.contains(#""session":"\#(other.session)""#) && !after.contains(photo.session), "\(after)")
      #expect(after.contains(#""outcome":"activated""#) && after.contains("redirected"), "\(after)")
      let drawn = try await house.stagedoor("explain", "--delivery", String(photo.delivery.prefix(8))).output()
      #expect(drawn.contains("=> activated \(other.session)"), "\(drawn)")
    }
  }

  // MARK: Contents

  @Test func `an activity type that nobody declares is told of where data decides`() async throws {
    try await withGallery { house async throws in
      let mistyped = "org.example.Gallery.opnDetail"
      for command in ["drop", "explain"] {
        let result = try await house.stagedoor(command, "-t", mistyped, "--text", "sea").run()
        #expect(result.status.isSuccess, "\(result)")
        #expect(
          result.standardError
            == "stagedoor: no application declares \"\(mistyped)\", so only the data decided; did you mean \(House.openDetail)?\n",
          "\(result)")
        let good = try await house.stagedoor(command, "-t", House.openDetail, "--text", "sea").run()
        #expect(good.status.isSuccess && good.standardError == "", "\(good)")
      }
    }
  }

  @Test func `with --stream a host reads what comes while more still comes`() async throws {
    try await withGallery { house async throws in
      let script = "\(Repository.path)/Tests/CommandTests/reading_host.py"
      try await house.command("/usr/bin/python3", arguments: [script, House.gallery, "3"]).whileRunning {
        reader async throws in
        #expect(try await reader.nextLine() == "attached")
        // The source never ends, and the host reads three bytes.
        let line = "{ printf abc; exec sleep 1000; } | \"$0\" drop -t \(House.openDetail) --stream -"
        try await house.shell(line).whileRunning {
          drop async throws in
          #expect(try await drop.nextLine().hasPrefix("created\t"))
          #expect(try await reader.line { $0.hasPrefix("read") }.hasPrefix("read 3 "))
        }
      }
      let idle = try await house.stagedoor("drop", "--stream", "--text", "a").run()
      #expect(idle.status == .exited(2), "\(idle)")
    }
  }

  @Test func `a tab starts no service`() async throws {
    try await withHouse { house async throws in
      try await house.installService("--durability", "memory")
      #expect(try await house.stagedoor("__complete", "bash", "close", "").output() == "")
      #expect(try await house.watcher.owner(of: House.name) == nil)
    }
  }

  // MARK: Manifests

  @Test func `a manifest is explained without a service, and its case is kept under a name`() async throws {
    try await withHouse { house async throws in
      let (manifest, cases) = ("\(house.home)/gallery.json", "\(house.home)/cases.json")
      try house.write(House.galleryManifest, to: manifest)
      func explain(_ more: String...) -> Command {
        house.stagedoor(["explain", "-m", manifest, "-t", House.openDetail, "--target", "photo-7"] + more)
      }
      #expect(try await explain().output().contains("+- configuration  Detail"))
      #expect(try await explain("--print", "outcome,configuration", "--app", "gallery").output() == "created\tDetail")
      for _ in 0..<2 { _ = try await explain("-q", "--record", cases, "--case", "a photo").output() }
      for _ in 0..<2 { _ = try await explain("-q", "--record", cases).output() }
      let results = try await house.stagedoor("test", "-m", manifest, cases, "--print").run()
      #expect(results.status == .exited(2), "\(results)")
      let names = try await house.stagedoor("test", "-m", manifest, cases).output().split(separator: "\n")
      let made = "\(House.openDetail) photo-7 created"
      #expect(names == ["same     a photo", "same     \(made)", "same     \(made) (2)", "3 as recorded, 0 different"])
    }
  }

  @Test func `the results of cases are JSON and JUnit's XML, an update renames, and no case is a fault`() async throws {
    try await withHouse { house async throws in
      let (manifest, cases) = ("\(house.home)/gallery.json", "\(house.home)/cases.json")
      try house.write(House.galleryManifest, to: manifest)
      let explain = house.stagedoor(
        "explain", "-q", "-m", manifest, "-t", House.openDetail, "--target", "<&\">", "--record", cases)
      _ = try await explain.output()
      let refusing = House.galleryManifest.replacing(House.openDetail, with: "org.example.Gallery.other")
      try house.write(refusing, to: manifest)
      let junit = "\(house.home)/junit.xml"
      let failed = try await house.stagedoor("test", "-m", manifest, cases, "--json", "--junit", junit).run()
      #expect(failed.status == .exited(1), "\(failed)")
      #expect(failed.standardOutput.contains(#""result":"differs""#), "\(failed)")
      let xml = try String(contentsOfFile: junit, encoding: .utf8)
      #expect(xml.contains(#"tests="1" failures="1""#) && xml.contains("&lt;&amp;&quot;&gt; created"), "\(xml)")
      let printed = try await house.stagedoor("test", "-m", manifest, cases, "--junit", "-").run()
      #expect(printed.standardOutput == xml)
      // A device or a pipe is not replaced by a file.
      let piped = house.shell(
        "mkfifo pipe; timeout 20 cat pipe & \"$0\" test -q -m gallery.json '\(cases)' --junit pipe >told; wait; test -p pipe"
      )
      #expect(try await piped.output() + "\n" == xml)
      _ = try await house.stagedoor("test", "-q", "--update", "-m", manifest, cases).output()
      let names = try await house.stagedoor("test", "-m", manifest, cases).output()
      #expect(names.hasPrefix("same     \(House.openDetail)") && names.contains(" refused\n"), "\(names)")
      try house.write(#"{"cases": []}"#, to: cases)
      let empty = try await house.stagedoor("test", "-m", manifest, cases).run()
      #expect(empty.status == .exited(1) && empty.standardError.contains("there is no case in it"), "\(empty)")
      #expect(try await explain.run().status == .exited(4))
      #expect(try await house.stagedoor("test", "-m", manifest, cases).output().hasSuffix("1 as recorded, 0 different"))
    }
  }

  @Test func `a variable of Xcode is named, and gets a value`() async throws {
    try await withGallery { house async throws in
      let path = "\(house.home)/Info.json"
      let variable = "$(PRODUCT_BUNDLE_IDENTIFIER)"
      try house.write(
        House.galleryManifest.replacing("\"\(House.gallery)\"", with: "\"\(variable)\""), to: path)
      for command in ["check", "register", "install-manifest"] {
        let result = try await house.stagedoor(command, path).run()
        #expect(!result.status.isSuccess, "\(result)")
        #expect(
          (result.standardOutput + result.standardError).contains(
            "or give it with --define PRODUCT_BUNDLE_IDENTIFIER=VALUE"), "\(command): \(result)")
      }
      let define = "PRODUCT_BUNDLE_IDENTIFIER=org.example.Defined"
      #expect(try await house.stagedoor("check", "-q", "--define", define, path).output() == "")
      let registered = try await house.stagedoor("register", "-D", define, path).output()
      #expect(registered.hasPrefix("registered\torg.example.Defined\t"), "\(registered)")
      #expect(try await house.stagedoor("apps", "--print", "application").output().contains("org.example.Defined"))
    }
  }

  // MARK: In a sandbox

  @Test(.enabled(if: House.canSandbox))
  func `in a sandbox past events end, and a file goes by its descriptor`() async throws {
    try await withGallery { house async throws in
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
      _ = try await house.stagedoor("new", "org.example.Other").output()
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
