import Testing
import WindowEvidence

@Suite struct LadderTests {
  private let entries = [
    EntryTraits(
      identifier: "org.xfce.mousepad", path: bytes("/usr/share/applications/org.xfce.mousepad.desktop"),
      program: bytes("mousepad")),
    EntryTraits(identifier: "geany", path: bytes("/usr/share/applications/geany.desktop"), program: bytes("geany")),
    EntryTraits(identifier: "gvim", path: bytes("/usr/share/applications/gvim.desktop"), program: bytes("gvim")),
    EntryTraits(
      identifier: "emacs", path: bytes("/e/emacs.desktop"), startupClass: bytes("Emacs"), program: bytes("emacs")),
    EntryTraits(
      identifier: "emacsclient", path: bytes("/e/emacsclient.desktop"), startupClass: bytes("Emacsd"),
      program: bytes("sh")),
    EntryTraits(identifier: "okularApplication_pdf", path: bytes("/o/p.desktop"), program: bytes("okular")),
    EntryTraits(identifier: "org.kde.okular", path: bytes("/o/o.desktop"), program: bytes("okular")),
    EntryTraits(identifier: "gnome-terminal", path: bytes("/t"), program: bytes("gnome-terminal")),
  ]

  private func found(_ traits: WindowTraits) -> String? { application(of: traits, among: entries) }

  @Test func `the way in which a process was started is the surest`() {
    let path = bytes("/usr/share/applications/geany.desktop")
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
