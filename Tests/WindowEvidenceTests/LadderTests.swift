import Testing
import WindowEvidence

@Suite struct LadderTests {
  private let entries = [
    ("org.xfce.mousepad", nil, "mousepad"), ("geany", nil, "geany"), ("gvim", nil, "gvim"),
    ("emacs", "Emacs", "emacs"), ("emacsclient", "Emacsd", "sh"), ("okularApplication_pdf", nil, "okular"),
    ("org.kde.okular", nil, "okular"), ("gnome-terminal", nil, "gnome-terminal"),
  ].map { (name: String, startup: String?, program: String) in
    EntryTraits(
      identifier: name, path: bytes("/a/\(name).desktop"), startupClass: startup.map(bytes), program: bytes(program))
  }

  private static func traits(
    _ instance: String = "", _ classes: String = "", identifiers: String..., launchedFrom: String? = nil,
    program: String? = nil
  ) -> WindowTraits {
    WindowTraits(
      instance: bytes(instance), classes: bytes(classes), identifiers: identifiers.map(bytes),
      launchedFrom: launchedFrom.map(bytes), program: program.map(bytes))
  }

  /// What a window says, and the application that it belongs to.
  private static let windows: [(why: String, traits: WindowTraits, application: String?)] = [
    (
      "the way in which a process was started is the surest",
      traits("mousepad", "Mousepad", launchedFrom: "/a/geany.desktop"), "geany"
    ),
    (
      "a toolkit's identifier comes before WM_CLASS", traits("geany", identifiers: "org.xfce.mousepad"),
      "org.xfce.mousepad"
    ),
    ("StartupWMClass is compared with the instance", traits("Emacsd", "Emacs"), "emacsclient"),
    ("StartupWMClass is compared with the class", traits("emacs", "Emacs"), "emacs"),
    ("names are compared in lower case", traits("x", "Geany"), "geany"),
    ("names are compared with a vendor's prefix", traits("", "Terminal"), "gnome-terminal"),
    ("the files of one program are one application", traits(program: "okular"), "org.kde.okular"),
    ("what nothing names has no application", traits("xterm", "XTerm", program: "xterm"), nil),
    ("what says nothing has no application", traits(), nil),
  ]

  @Test func `a window belongs to the application that the surest of its words names`() {
    for (why, traits, expected) in Self.windows {
      #expect(application(of: traits, among: entries) == expected, "\(why)")
    }
  }
}
