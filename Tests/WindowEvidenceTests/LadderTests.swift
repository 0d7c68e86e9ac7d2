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

  private func found(_ traits: WindowTraits) -> String? { application(of: traits, among: entries) }

  @Test func `the way in which a process was started is the surest`() {
    let path = bytes("/a/geany.desktop")
    #expect(found(WindowTraits(instance: bytes("mousepad"), classes: bytes("Mousepad"), launchedFrom: path)) == "geany")
  }

  @Test func `a toolkit's identifier comes before WM_CLASS`() {
    #expect(
      found(WindowTraits(instance: bytes("geany"), identifiers: [bytes("org.xfce.mousepad")])) == "org.xfce.mousepad")
  }

  @Test func `StartupWMClass is compared with the instance, then with the class`() {
    #expect(found(WindowTraits(instance: bytes("emacs"), classes: bytes("Emacs"))) == "emacs")
    #expect(found(WindowTraits(instance: bytes("Emacsd"), classes: bytes("Emacs"))) == "emacsclient")
  }

  @Test func `names are compared as they stand, in lower case, and with a vendor's prefix`() {
    #expect(found(WindowTraits(instance: bytes("x"), classes: bytes("Geany"))) == "geany")
    #expect(found(WindowTraits(classes: bytes("Terminal"))) == "gnome-terminal")
  }

  @Test func `the files of one program are one application`() {
    #expect(found(WindowTraits(program: bytes("okular"))) == "org.kde.okular")
  }

  @Test func `what nothing names has no application`() {
    #expect(found(WindowTraits(instance: bytes("xterm"), classes: bytes("XTerm"), program: bytes("xterm"))) == nil)
    #expect(found(WindowTraits()) == nil)
  }
}
