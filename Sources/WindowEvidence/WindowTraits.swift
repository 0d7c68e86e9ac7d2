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
