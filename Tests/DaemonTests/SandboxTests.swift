import ServiceSupport
import Testing

/// Which callers count as sandboxed, and as which application.
@Suite struct SandboxTests {
  private static let flatpak =
    "[Application]\nname=org.example.Mail\nruntime=runtime/x\n\n[Instance]\nname=org.b.Other\n"
  private static let free = "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\n"
  private static let bound = "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\n"

  /// A process whose root cannot be looked at.
  private static func hidden(in scope: String, _ status: String = bound) -> ProcessTraces {
    let cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/\(scope)\n"
    return ProcessTraces(root: .hidden, status: status, cgroup: cgroup)
  }

  private static func snap(_ label: String) -> ProcessTraces { ProcessTraces(root: .seen(flatpak: nil), label: label) }

  static let cases: [(String, ProcessTraces, is: Sandbox)] = [
    ("a root without the file", ProcessTraces(root: .seen(flatpak: nil), status: bound), is: .none),
    ("a Flatpak's root", ProcessTraces(root: .seen(flatpak: flatpak)), is: .application("org.example.Mail")),
    ("a file that says nothing", ProcessTraces(root: .seen(flatpak: "")), is: .unknown),
    ("a name that is none", ProcessTraces(root: .seen(flatpak: "[Application]\nname=x y\n")), is: .unknown),
    ("hidden, and free", hidden(in: "a.scope", free), is: .none),
    ("a Flatpak's scope", hidden(in: "app-flatpak-org.example.Mail-4711.scope"), is: .application("org.example.Mail")),
    ("an escaped name", hidden(in: #"app-flatpak-a.b.photo\x2dalbum-9.scope"#), is: .application("a.b.photo-album")),
    ("hidden, without a scope", hidden(in: "x.service"), is: .unknown),
    ("a scope without a number", hidden(in: "app-flatpak-org.example.Mail.scope"), is: .unknown),
    ("hidden, and nothing else known", ProcessTraces(root: .hidden), is: .unknown),
    ("hidden, and the status cut off", ProcessTraces(root: .hidden, status: "NoNewPrivs:\t"), is: .unknown),
    ("a confined snap", snap("snap.mail.client (enforce)\n"), is: .application("snap.mail")),
    ("a shell in an editor that is a snap", snap("snap.code.code (complain)\n"), is: .none),
  ]

  @Test(arguments: cases)
  func `a caller is known by what cannot be changed about it`(_: String, traces: ProcessTraces, sandbox: Sandbox) {
    #expect(Sandbox(traces) == sandbox)
  }
}
