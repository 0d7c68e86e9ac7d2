package import WindowEvidence

extension Applications {
  /// The application that a window belongs to; `nil` if nothing names one, or two equally well.
  ///
  /// The steps are those of gnome-shell and plasma, the surest first: how the process was started; the identifier that the toolkit wrote; WM_CLASS
  /// against StartupWMClass; WM_CLASS against the names of desktop files; the program of the process.
  package func application(of window: WindowTraits) -> String? {
    let steps: [(DesktopEntry) -> Bool] = [
      { window.launchedFrom == Bytes($0.path.utf8) },
      { entry in window.identifiers.contains { entry.isNamed($0) } },
      { !window.instance.isEmpty && $0.startupClass.map { Bytes($0.utf8) } == window.instance },
      { !window.classes.isEmpty && $0.startupClass.map { Bytes($0.utf8) } == window.classes },
      { $0.isNamed(window.instance) || $0.isNamed(window.classes) },
      { !$0.program.isEmpty && Bytes($0.program.utf8) == window.program },
    ]
    // Several files may be of one application.
    return steps.lazy.map { Set(entries.filter($0).map(\.application)) }.first { $0.count == 1 }?.first
  }
}

extension DesktopEntry {
  private static let vendors = ["", "gnome-", "fedora-", "mozilla-", "debian-"].map { Bytes($0.utf8) }

  /// Whether the file has this name: as it stands, in lower case with dashes for blanks, or behind a vendor's prefix.
  fileprivate func isNamed(_ name: Bytes) -> Bool {
    if name.isEmpty { return false }
    let own = Bytes(identifier.utf8)
    let lower = name.map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: " "): UInt8(ascii: "-")
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
      default: byte
      }
    }
    return [name, lower].contains { spelling in DesktopEntry.vendors.contains { own == $0 + spelling } }
  }
}
