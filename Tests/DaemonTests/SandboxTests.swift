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

  static let cases: [(String, ProcessTraces, is: Sandbox)] = [
    ("a root without the file", ProcessTraces(root: .seen(flatpak: nil), status: bound), is: .none),
    ("a Flatpak's root", ProcessTraces(root: .seen(flatpak: flatpak)), is: .application("org.example.Mail")),
    ("a file that says nothing", ProcessTraces(root: .seen(flatpak: "")), is: .unknown),
    ("a name that is none", ProcessTraces(root: .seen(flatpak: "[Application]\nname=x y\n")), is: .unknown),
    ("hidden, and free", ProcessTraces(root: .hidden, status: free, cgroup: scope("a.scope")), is: .none),
    (
      "hidden, in a Flatpak's scope",
      ProcessTraces(root: .hidden, status: bound, cgroup: scope("app-flatpak-org.example.Mail-4711.scope")),
      is: .application("org.example.Mail")
    ),
    (
      "hidden, with an escaped name",
      ProcessTraces(root: .hidden, status: bound, cgroup: scope(#"app-flatpak-org.example.photo\x2dalbum-9.scope"#)),
      is: .application("org.example.photo-album")
    ),
    (
      "hidden, without a scope", ProcessTraces(root: .hidden, status: bound, cgroup: scope("x.service")), is: .unknown
    ),
    (
      "hidden, in a scope without a number",
      ProcessTraces(root: .hidden, status: bound, cgroup: scope("app-flatpak-org.example.Mail.scope")), is: .unknown
    ),
    ("hidden, and nothing else known", ProcessTraces(root: .hidden), is: .unknown),
    ("hidden, and the status cut off", ProcessTraces(root: .hidden, status: "NoNewPrivs:\t"), is: .unknown),
    (
      "a confined snap", ProcessTraces(root: .seen(flatpak: nil), label: "snap.mail.client (enforce)\n"),
      is: .application("snap.mail")
    ),
    (
      "a shell in an editor that is a snap",
      ProcessTraces(root: .seen(flatpak: nil), label: "snap.code.code (complain)\n"), is: .none
    ),
  ]

  @Test(arguments: cases)
  func `a caller is known by what cannot be changed about it`(_: String, traces: ProcessTraces, sandbox: Sandbox) {
    #expect(Sandbox(traces) == sandbox)
  }
}
