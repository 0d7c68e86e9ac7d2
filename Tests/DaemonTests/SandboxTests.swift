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
      func expectDenied(
        _ member: String, _ arguments: String..., at path: String = House.root, in interface: String = House.interchange
      ) async throws {
        let refusal = try await house.refusal(member, arguments, at: path, in: interface, from: name)
        #expect(refusal.name == "org.freedesktop.DBus.Error.AccessDenied", "\(member): \(refusal)")
      }
      try await expectDenied("RegisterApplication", "string:\(Manifests.oneScene)")
      try await expectDenied("ListHandlers", "string:viewCat")
      let file = #"{"items": [{"representations": [{"type": "image/png", "file": "file:///etc/passwd"}]}]}"#
      for method in ["Deliver", "DeliverEach", "Explain"] { try await expectDenied(method, "string:\(file)") }
      let own = try house.landing(
        try await house.call("Drop", "string:viewCat", "string:cat1", "dict:string:string:", from: name))
      let foreign = try await house.drop("viewCat", "cat2")
      // Nor can it bring another application's window to the front with an empty payload.
      try await expectDenied("Deliver", #"string:{"items": [{}], "options": {"session": "\#(foreign.session)"}}"#)
      // A sandbox without a name has nothing of its own.
      if name == "org.example.Mail" {
        _ = try await house.call("GetDelivery", "string:\(own.delivery)", from: name)
      } else {
        try await expectDenied("GetDelivery", "string:\(own.delivery)")
      }
      try await expectDenied("GetDelivery", "string:\(foreign.delivery)")
      // Nor does it see what belongs to others.
      let objects = "\(try await house.call("GetManagedObjects", in: "org.freedesktop.DBus.ObjectManager", from: name))"
      #expect(!objects.contains("/session/") && !objects.contains("/application/"), "\(objects)")
      for element in ["session", "application"] {
        let call = ["--session", "--print-reply", "--dest=\(House.name)", "\(House.root)/\(element)"]
        let tree = try await house.sandboxed(
          as: name, "dbus-send", arguments: call + ["org.freedesktop.DBus.Introspectable.Introspect"]
        ).output()
        #expect(tree.contains("<interface") && !tree.contains("<node name"), "\(element): \(tree)")
      }
      try await expectDenied("GetAll", "string:\(House.session)", at: foreign.session, in: House.properties)
    }
  }
}
