/// What a window says about the program that it belongs to.
package struct WindowTraits: Hashable, Sendable {
  /// The two parts of WM_CLASS; on Wayland both are the `app_id`.
  package var instance: Bytes
  package var classes: Bytes
  /// The identifiers that toolkits write on their windows: GTK's application identifier, and KDE's name of a desktop file.
  package var identifiers: [Bytes]
  /// The desktop file with which the window's own process was started, by its environment.
  package var launchedFrom: Bytes?
  /// The name of the program that the process runs.
  package var program: Bytes?

  package init(
    instance: Bytes = [], classes: Bytes = [], identifiers: [Bytes] = [], launchedFrom: Bytes? = nil,
    program: Bytes? = nil
  ) {
    (self.instance, self.classes, self.identifiers) = (instance, classes, identifiers)
    (self.launchedFrom, self.program) = (launchedFrom, program)
  }
}

/// What a desktop file says about its program's windows.
package struct EntryTraits: Hashable, Sendable {
  /// The name of the file, without `.desktop`.
  package var identifier: String
  package var path: Bytes
  package var startupClass: Bytes?
  /// The name of the program that it starts.
  package var program: Bytes

  package init(identifier: String, path: Bytes, startupClass: Bytes? = nil, program: Bytes) {
    (self.identifier, self.path) = (identifier, path)
    (self.startupClass, self.program) = (startupClass, program)
  }
}

/// The application that a window belongs to; `nil` if nothing names one, or two equally well.
///
/// The steps are those of gnome-shell and plasma, the surest first: how the process was started; the identifier that the toolkit wrote; WM_CLASS
/// against StartupWMClass; WM_CLASS against the names of desktop files; the program of the process.
package func application(of window: WindowTraits, among entries: [EntryTraits]) -> String? {
  let steps: [(EntryTraits) -> Bool] = [
    { window.launchedFrom == $0.path },
    { entry in window.identifiers.contains { isNamed(entry, $0) } },
    { !window.instance.isEmpty && $0.startupClass == window.instance },
    { !window.classes.isEmpty && $0.startupClass == window.classes },
    { isNamed($0, window.instance) || isNamed($0, window.classes) },
    { !$0.program.isEmpty && $0.program == window.program },
  ]
  for step in steps {
    let found = entries.filter(step)
    if found.count == 1 { return found[0].identifier }
    // Several files may start one program, such as one for each type.
    if let first = found.first, !first.program.isEmpty, found.allSatisfy({ $0.program == first.program }) {
      return found.map(\.identifier).min { $0.utf8.count < $1.utf8.count }
    }
  }
  return nil
}

private let vendors = ["", "gnome-", "fedora-", "mozilla-", "debian-"].map { Bytes($0.utf8) }

/// Whether a desktop file has this name: as it stands, in lower case with dashes for blanks, or behind a vendor's prefix.
private func isNamed(_ entry: EntryTraits, _ name: Bytes) -> Bool {
  if name.isEmpty { return false }
  let own = Bytes(entry.identifier.utf8)
  let lower = name.map { byte -> UInt8 in
    switch byte {
    case UInt8(ascii: " "): UInt8(ascii: "-")
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
    default: byte
    }
  }
  return [name, lower].contains { spelling in vendors.contains { own == $0 + spelling } }
}
