internal import CGtk4
internal import CStage
internal import FoundationEssentials
internal import Glibc
internal import StagedoorKit

/// A window of GTK, or without a display the text of the window.
@MainActor final class Window: Widget {
  /// Called when the user wants to close the window.
  private let wasAskedToClose: @MainActor () -> Void
  private let header: UnsafeMutablePointer<GtkWidget>?
  private let frame = Column(spacing: 0)
  private let notice = Label(wraps: true)
  private let noticeBar: Row
  /// The bars above the content: the notice, and the progress of loads.
  private let bars = Column(spacing: 0)
  private var isOpen = false
  private var isClosed = false
  /// The widget that gets the keyboard focus when the window opens.
  weak var focusWhenOpen: Widget?

  /// Makes the window of a scene, or of a program without scenes.
  init(of owner: WindowScene?, wasAskedToClose: @escaping @MainActor () -> Void) {
    self.wasAskedToClose = wasAskedToClose
    noticeBar = Row(spacing: 12, notice.expand(vertically: false)).style("stage-message")
    noticeBar.isVisible = false
    header = GtkStage.isHeadless ? nil : gtk_header_bar_new()
    super.init { gtk_window_new() }
    window = owner
    add(frame)
    frame.append(bars)
    bars.append(noticeBar)
    noticeBar.append(
      Button(icon: "window-close-symbolic", "Dismiss") { [weak self] in self?.message = nil }.style("flat"))
    if let owner { addMenu(of: owner) }
    raw { window in
      gtk_window_set_titlebar(window.as(GtkWindow.self), header)
      frame.raw { gtk_window_set_child(window.as(GtkWindow.self), $0) }
    }
    connect("close-request") { window, signal in
      // The scene decides whether the window closes.
      signal.answer(true)
      window.wasAskedToClose()
    }
    connect("notify::is-active") { window, _ in window.focusChanged() }
    connect("realize") { window, _ in window.realized() }
  }

  /// The scene may be refused before its window opens.
  isolated deinit {
    // GTK sends many signals while it destroys a window.
    end()
    if !isClosed { raw { gtk_window_destroy($0.as(GtkWindow.self)) } }
  }

  // MARK: Content

  var title = "" {
    didSet {
      if title == oldValue { return }
      raw { gtk_window_set_title($0.as(GtkWindow.self), title) }
      changed()
    }
  }

  var content: Widget? {
    didSet {
      if let oldValue { frame.take(oldValue) }
      if let content { frame.append(content.expand()) }
    }
  }

  var message: String? {
    didSet {
      notice.text = message ?? ""
      noticeBar.isVisible = message != nil
      if let message, GtkStage.isHeadless { Self.say("! \(title): \(message)") }
    }
  }

  /// Shows the progress of work that takes longer than a moment, until the returned task is cancelled.
  func show(
    _ progress: ItemProgress, of what: String, cancel: @escaping @MainActor () -> Void
  ) -> Task<Void, any Error> {
    Task { @MainActor [weak self] in
      try await GtkStage.sleep(for: .milliseconds(400))
      guard let self, !isClosed else { return }
      let row = ProgressRow(what, cancel: cancel)
      bars.append(row)
      defer { if !isClosed { bars.take(row) } }
      while !isClosed {
        row.show(progress)
        try await GtkStage.sleep(for: .milliseconds(100))
      }
    }
  }

  var defaultSize: (width: Int, height: Int) = (640, 480)

  var leadingItems: [Widget] = [] {
    didSet { replace(oldValue, leadingItems) { gtk_header_bar_pack_start($0, $1) } }
  }

  var trailingItems: [Widget] = [] {
    didSet { replace(oldValue, trailingItems) { gtk_header_bar_pack_end($0, $1) } }
  }

  private func replace(
    _ old: [Widget], _ new: [Widget], _ pack: (OpaquePointer, UnsafeMutablePointer<GtkWidget>) -> Void
  ) {
    let bar = header.map { OpaquePointer($0) }
    for item in old {
      if let bar { item.raw { gtk_header_bar_remove(bar, $0) } }
      remove(item)
    }
    for item in new {
      add(item)
      if let bar { item.raw { pack(bar, $0) } }
    }
  }

  override func changed() { printSoon() }

  override var lines: [String] {
    let bar = (leadingItems + trailingItems).flatMap(\.lines).joined(separator: " ")
    let notice = noticeBar.isVisible ? self.notice.lines.map { "! \($0)" } : []
    return (bar.isEmpty ? [] : [bar]) + notice + (content?.lines ?? [])
  }

  func stands(above other: Window) {
    raw { window in other.raw { gtk_window_set_transient_for(window.as(GtkWindow.self), $0.as(GtkWindow.self)) } }
  }

  // MARK: Opening and closing

  func present(_ token: String?) {
    if isClosed { return }
    if !isOpen { open() }
    guard let pointer else {
      scene?.enter(.foregroundActive)
      printSoon()
      return
    }
    stage_window_present(pointer, token)
  }

  private func open() {
    isOpen = true
    GtkStage.windowOpened()
    guard let pointer else { return }
    gtk_window_set_default_size(pointer.as(GtkWindow.self), Int32(defaultSize.width), Int32(defaultSize.height))
    // Without a place to type, the first list would get the focus, and select an item that nobody has chosen.
    frame.raw { gtk_widget_set_focusable($0, 1) }
    (focusWhenOpen ?? content?.placeToType ?? frame).raw { gtk_widget_grab_focus($0) }
    // By then the window has been drawn for the first time.
    Timeout.run(after: 700) { [weak self] in self?.takeSnapshot() }
  }

  private func addMenu(of owner: WindowScene) {
    guard let pointer, let header else { return }
    if let menu = GtkStage.actions.install(in: pointer, of: owner), let button = gtk_menu_button_new() {
      gtk_menu_button_set_icon_name(OpaquePointer(button), "open-menu-symbolic")
      gtk_menu_button_set_menu_model(OpaquePointer(button), menu.as(GMenuModel.self))
      gtk_widget_set_tooltip_text(button, "Menu")
      gtk_header_bar_pack_end(OpaquePointer(header), button)
      g_object_unref(UnsafeMutableRawPointer(menu))
    }
  }

  private func realized() {
    guard let pointer, let surface = gtk_native_get_surface(OpaquePointer(pointer)) else { return }
    connect("notify::state", of: surface) { window, _ in window.focusChanged() }
  }

  private func focusChanged() {
    guard !isClosed, let pointer, let scene else { return }
    if stage_window_is_hidden(pointer) != 0 {
      scene.enter(.background)
    } else if gtk_window_is_active(pointer.as(GtkWindow.self)) != 0 {
      scene.enter(.foregroundActive)
    } else if scene.activationState == .foregroundActive {
      scene.enter(.foregroundInactive)
      takeSnapshot()
    } else if scene.activationState == .background, isOpen {
      scene.enter(.foregroundInactive)
    }
  }

  func close(_ animation: DismissalAnimation) {
    if isClosed { return }
    isClosed = true
    // While the window fades, its user may click and type, and the scene no longer exists.
    end()
    if pointer == nil {
      if isOpen { Self.say("-- \(title) is closed --") }
    } else if animation == .standard {
      vanish()
    } else {
      raw { gtk_widget_set_can_target($0, 0) }
      fade(1)
    }
  }

  private func fade(_ opacity: Double) {
    if opacity <= 0 { return vanish() }
    raw { gtk_widget_set_opacity($0, opacity) }
    Timeout.run(after: 16) { self.fade(opacity - 0.1) }
  }

  private func vanish() { raw { gtk_window_destroy($0.as(GtkWindow.self)) } }

  // MARK: Pictures

  func takeSnapshot() {
    guard let pointer, !isClosed, let scene, let stagedoor = scene.application?.stagedoor,
      let bytes = stage_window_picture(pointer, 640)
    else { return }
    defer { g_bytes_unref(bytes) }
    var count: UInt = 0
    guard let start = g_bytes_get_data(bytes, &count) else { return }
    let picture = Data(bytes: start, count: Int(count))
    Task { @MainActor in
      // Without the service nobody wants the picture.
      try? await stagedoor.setSnapshot(picture, as: "image/png", of: scene.id)
    }
  }

  // MARK: Without a display

  private var willPrint = false

  /// Prints the window once for several changes in a row.
  func printSoon() {
    guard GtkStage.isHeadless, isOpen, !isClosed, !willPrint else { return }
    willPrint = true
    Timeout.run { [weak self] in
      guard let self, !isClosed else { return }
      willPrint = false
      Self.say((["-- \(title) --"] + lines.map { "  \($0)" }).joined(separator: "\n"))
    }
  }

  /// Prints at once, for a reader of a pipe. Titles come from anybody, and must not control the terminal.
  private static func say(_ text: String) {
    let shown = text.unicodeScalars.map { scalar in
      let steers = [.control, .format].contains(scalar.properties.generalCategory) && scalar != "\n"
      return steers ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
    print(shown.joined())
    fflush(nil)
  }
}

/// The progress of a load, with a button that cancels it.
@MainActor final class ProgressRow: Row {
  private let what: String
  private let label = Label()
  private let bar = Widget { gtk_progress_bar_new() }

  init(_ what: String, cancel: @escaping @MainActor () -> Void) {
    self.what = what
    super.init(spacing: 12)
    append(label)
    append(bar.expand(vertically: false).align(vertically: .center))
    append(Button("Cancel", action: cancel))
    style("stage-progress")
  }

  func show(_ progress: ItemProgress) {
    let (completed, total) = (progress.completedByteCount, progress.totalByteCount)
    let amount = total.map { "\(Self.megabytes(completed)) of \(Self.megabytes($0)) MB" }
    label.text = completed == 0 ? what : "\(what): \(amount ?? "\(Self.megabytes(completed)) MB")"
    bar.opaque { bar in
      if let fraction = progress.fractionCompleted {
        gtk_progress_bar_set_fraction(bar, fraction)
      } else {
        gtk_progress_bar_pulse(bar)
      }
    }
  }

  private static func megabytes(_ bytes: Int) -> String { "\(bytes / 1_000_000).\(bytes / 100_000 % 10)" }
}
