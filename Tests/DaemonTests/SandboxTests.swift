import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import SceneModel
import ServiceSupport
import Testing

/// Which callers count as sandboxed, and as which application.
@Suite struct SandboxTests {
  private static let flatpak =
    "[Application]\nname=org.example.Mail\nruntime=runtime/x\n\n[Instance]\nname=org.b.Other\n"
  private static let free = "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\n"
  private static let bound = "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\n"

  private static func scope(_ name: String) -> String {
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/\(name)\n"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let traces: ProcessTraces
    let sandbox: Sandbox
    let testDescription: String

    init(_ description: String, _ traces: ProcessTraces, is sandbox: Sandbox) {
      (testDescription, self.traces, self.sandbox) = (description, traces, sandbox)
    }
  }

  static let cases: [Case] = [
    Case("a root without the file", ProcessTraces(root: .seen(flatpak: nil), status: bound), is: .none),
    Case("a Flatpak's root", ProcessTraces(root: .seen(flatpak: flatpak)), is: .application("org.example.Mail")),
    Case("a file that says nothing", ProcessTraces(root: .seen(flatpak: "")), is: .unknown),
    Case("a name that is none", ProcessTraces(root: .seen(flatpak: "[Application]\nname=x y\n")), is: .unknown),
    Case("hidden, and free", ProcessTraces(root: .hidden, status: free, cgroup: scope("a.scope")), is: .none),
    Case(
      "hidden, in a Flatpak's scope",
      ProcessTraces(root: .hidden, status: bound, cgroup: scope("app-flatpak-org.example.Mail-4711.scope")),
      is: .application("org.example.Mail")),
    Case(
      "hidden, with an escaped name",
      ProcessTraces(root: .hidden, status: bound, cgroup: scope(#"app-flatpak-org.example.photo\x2dalbum-9.scope"#)),
      is: .application("org.example.photo-album")),
    Case(
      "hidden, without a scope", ProcessTraces(root: .hidden, status: bound, cgroup: scope("x.service")), is: .unknown),
    Case(
      "hidden, in a scope without a number",
      ProcessTraces(root: .hidden, status: bound, cgroup: scope("app-flatpak-org.example.Mail.scope")), is: .unknown),
    Case("hidden, and nothing else known", ProcessTraces(root: .hidden), is: .unknown),
    Case("hidden, and the status cut off", ProcessTraces(root: .hidden, status: "NoNewPrivs:\t"), is: .unknown),
    Case(
      "a confined snap", ProcessTraces(root: .seen(flatpak: nil), label: "snap.mail.client (enforce)\n"),
      is: .application("snap.mail")),
    Case(
      "a shell in an editor that is a snap",
      ProcessTraces(root: .seen(flatpak: nil), label: "snap.code.code (complain)\n"), is: .none),
  ]

  @Test(arguments: cases)
  func `a caller is known by what cannot be changed about it`(of one: Case) {
    #expect(Sandbox(one.traces) == one.sandbox)
  }

  // MARK: A real sandbox

  @Test(.enabled(if: House.canSandbox), arguments: ["org.example.Mail", "x y"])
  func `a program whose root has the file may not register, and asks about its own deliveries alone`(
    name: String
  ) async throws {
    try await withService(registering: Manifests.cats) { house in
      func sandboxed(_ member: String, _ arguments: String...) async throws -> (isFine: Bool, said: String) {
        let call = ["--session", "--print-reply", "--dest=\(House.name)", House.root, "\(House.interchange).\(member)"]
        let result = try await house.sandboxed(as: name, "dbus-send", arguments: call + arguments).run()
        return (result.status.isSuccess, result.standardOutput + result.standardError)
      }
      let register = try await sandboxed("RegisterApplication", "string:\(Manifests.oneScene)")
      #expect(register.said.contains("org.freedesktop.DBus.Error.AccessDenied"), "\(register)")
      let handlers = try await sandboxed("ListHandlers", "string:viewCat")
      #expect(handlers.said.contains("org.freedesktop.DBus.Error.AccessDenied"), "\(handlers)")
      let file = #"{"items": [{"representations": [{"type": "image/png", "file": "file:///etc/passwd"}]}]}"#
      for method in ["Deliver", "DeliverEach", "Explain"] {
        let answer = try await sandboxed(method, "string:\(file)")
        #expect(answer.said.contains("org.freedesktop.DBus.Error.AccessDenied"), "\(method): \(answer)")
      }
      let drop = try await sandboxed("Drop", "string:viewCat", "string:cat1", "dict:string:string:")
      #expect(drop.isFine, "\(drop)")
      let own = try #require(try await house.deliveries().first)
      let foreign = try await house.drop("viewCat", "cat2")
      // Nor can it bring another application's window to the front with an empty payload.
      let empty = #"{"items": [{}], "options": {"session": "\#(foreign.session)"}}"#
      #expect(try await sandboxed("Deliver", "string:\(empty)").said.contains("AccessDenied"))
      // A sandbox without a name has nothing of its own.
      let isNamed = name == "org.example.Mail"
      #expect(try await sandboxed("GetDelivery", "string:\(own[0])").isFine == isNamed)
      #expect(try await sandboxed("GetDelivery", "string:\(foreign.delivery)").said.contains("AccessDenied"))
      // Nor does it see what belongs to others.
      func asked(_ method: String, at path: String, _ arguments: String...) async throws -> String {
        let call = ["--session", "--print-reply", "--dest=\(House.name)", path, method]
        let result = try await house.sandboxed(as: name, "dbus-send", arguments: call + arguments).run()
        return result.standardOutput + result.standardError
      }
      let objects = try await asked("org.freedesktop.DBus.ObjectManager.GetManagedObjects", at: House.root)
      #expect(!objects.contains("/session/") && !objects.contains("/application/"), "\(objects)")
      for element in ["session", "application"] {
        let tree = try await asked("org.freedesktop.DBus.Introspectable.Introspect", at: "\(House.root)/\(element)")
        #expect(tree.contains("<interface") && !tree.contains("<node name"), "\(element): \(tree)")
      }
      let all = try await asked("\(House.properties).GetAll", at: foreign.session, "string:\(House.session)")
      #expect(all.contains("AccessDenied"), "\(all)")
    }
  }
}
