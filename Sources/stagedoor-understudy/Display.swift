import WindowEvidence

/// What shows windows: an X server or a Wayland compositor. Tests replay one.
protocol Display: AnyObject {
  /// Becomes readable when something may have changed.
  var descriptor: Int32 { get }
  /// Whether the display has gone for good.
  var isBroken: Bool { get }

  /// The changes since the last call.
  func changes() -> DisplayChanges
  /// All windows, the topmost first.
  func windows() -> [WindowNumber]
  /// What windows say of themselves. From then on their changes are told.
  func read(_ windows: [WindowNumber]) -> [ShownWindow]
  func titles(of windows: [WindowNumber]) -> [Bytes]
  var active: WindowNumber? { get }

  /// Whether it brings windows to the front for us.
  var canRaise: Bool { get }
  /// Brings a window to the front, at the display's time of the person's act; 0 where a display has none.
  func raise(_ window: WindowNumber, at time: UInt32)
  /// Asks a window to close, as its own button does.
  func close(_ window: WindowNumber)
  /// Tells that what a launcher waits for has come. Until somebody does, the pointer looks busy.
  func endStartup(_ identifier: Bytes)
  /// The display's present time.
  func now() -> UInt32
}

extension Display {
  var canRaise: Bool { true }
  /// A compositor ends it by itself: the token becomes invalid.
  func endStartup(_ identifier: Bytes) {}
}

/// What a window says of itself.
struct ShownWindow {
  var traits = WindowTraits()
  var title: Bytes = []
  var process: Int32?
  /// The machine that its program runs on; empty if the window does not say.
  var machine: Bytes = []
  /// Whether that is this machine, as far as anybody knows.
  var isLocal = true
  var startup: Bytes = []
  var isMain = true
}

/// What has changed on a display.
struct DisplayChanges: Equatable {
  /// Whether windows came or went, or their order changed.
  var list = false
  /// How often the title of a window was written.
  var titles: [WindowNumber: Int] = [:]
  /// The windows that say otherwise whose they are, or of what kind: LibreOffice's do when their document is read.
  var classes: Set<WindowNumber> = []

  var isEmpty: Bool { !list && titles.isEmpty && classes.isEmpty }
}
