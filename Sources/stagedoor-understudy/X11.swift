import CXCB
import WindowEvidence

/// The windows of an X server, as its window manager lists them.
///
/// The kernel's socket of the server becomes readable when something has changed. Requests wait for their answers, which takes some hundred
/// microseconds for all windows together.
final class X11: Display {
  private static let atomNames = [
    "_NET_CLIENT_LIST_STACKING", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "_NET_CLOSE_WINDOW", "_NET_WM_NAME",
    "_NET_WM_PID",
    "_NET_STARTUP_ID", "_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_NORMAL", "_NET_SUPPORTING_WM_CHECK",
    "_GTK_APPLICATION_ID", "_KDE_NET_WM_DESKTOP_FILE", "UTF8_STRING",
    "_NET_STARTUP_INFO_BEGIN", "_NET_STARTUP_INFO",
  ]

  private let connection: OpaquePointer
  private let root: xcb_window_t
  private var atoms: [String: xcb_atom_t] = [:]

  /// - Parameter display: The server's name; `nil` for that of the environment.
  init?(display: String? = nil) {
    var screen: Int32 = 0
    guard let connection = xcb_connect(display, &screen), xcb_connection_has_error(connection) == 0 else { return nil }
    self.connection = connection
    var screens = xcb_setup_roots_iterator(xcb_get_setup(connection))
    for _ in 0..<screen { xcb_screen_next(&screens) }
    root = screens.data.pointee.root
    let cookies = X11.atomNames.map { xcb_intern_atom(connection, 0, UInt16($0.utf8.count), $0) }
    for (name, cookie) in zip(X11.atomNames, cookies) {
      guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else { continue }
      atoms[name] = reply.pointee.atom
      free(reply)
    }
    watch(root)
    xcb_flush(connection)
  }

  deinit { xcb_disconnect(connection) }

  var descriptor: Int32 { xcb_get_file_descriptor(connection) }

  var isBroken: Bool { xcb_connection_has_error(connection) != 0 }

  // MARK: Changes

  /// Asks to hear of a window's properties.
  private func watch(_ window: xcb_window_t) {
    var mask = XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
    xcb_change_window_attributes(connection, window, XCB_CW_EVENT_MASK.rawValue, &mask)
  }

  /// What the server has told of while an answer was awaited.
  private var pending: [xcb_property_notify_event_t] = []

  /// The windows that have only the older of the two properties for a title. Most have both and write them together, and the newer one counts.
  private var withoutNewName: Set<WindowNumber> = []

  func changes() -> DisplayChanges {
    while let notice = notice(xcb_poll_for_event) { pending.append(notice) }
    defer { pending = [] }
    var changes = DisplayChanges()
    for notice in pending {
      switch notice.atom {
      case atom("_NET_CLIENT_LIST_STACKING"), atom("_NET_CLIENT_LIST"), atom("_NET_ACTIVE_WINDOW"):
        if notice.window == root { changes.list = true }
      case atom("_NET_WM_NAME"): if notice.window != root { changes.titles[notice.window, default: 0] += 1 }
      case XCB_ATOM_WM_CLASS.rawValue: changes.classes.insert(notice.window)
      case XCB_ATOM_WM_NAME.rawValue:
        if withoutNewName.contains(notice.window) { changes.titles[notice.window, default: 0] += 1 }
      default: break
      }
    }
    return changes
  }

  /// The next change of a property; other events are passed over. `nil` if there is none, or the server has gone.
  private func notice(
    _ next: (OpaquePointer) -> UnsafeMutablePointer<xcb_generic_event_t>?
  ) -> xcb_property_notify_event_t? {
    while let event = next(connection) {
      defer { free(event) }
      guard Int32(event.pointee.response_type & 0x7F) == XCB_PROPERTY_NOTIFY else { continue }
      return event.withMemoryRebound(to: xcb_property_notify_event_t.self, capacity: 1) { $0.pointee }
    }
    return nil
  }

  // MARK: Windows

  /// All windows that the window manager lists, the topmost first.
  func windows() -> [WindowNumber] {
    let stacked: [WindowNumber] = numbers(root, atom("_NET_CLIENT_LIST_STACKING"))
    let all = Array((stacked.isEmpty ? numbers(root, atom("_NET_CLIENT_LIST")) : stacked).reversed())
    withoutNewName.formIntersection(all)
    return all
  }

  /// Where no window has the focus, window managers say 0.
  var active: WindowNumber? { numbers(root, atom("_NET_ACTIVE_WINDOW")).first { $0 != 0 } }

  /// Reads windows, all of them with one wait, and asks to hear of their changes.
  func read(_ windows: [WindowNumber]) -> [ShownWindow] {
    let wanted: [xcb_atom_t] = [
      atom("_NET_WM_NAME"), XCB_ATOM_WM_NAME.rawValue, XCB_ATOM_WM_CLASS.rawValue, atom("_NET_WM_PID"),
      XCB_ATOM_WM_CLIENT_MACHINE.rawValue, atom("_NET_STARTUP_ID"), XCB_ATOM_WM_TRANSIENT_FOR.rawValue,
      atom("_NET_WM_WINDOW_TYPE"), atom("_GTK_APPLICATION_ID"), atom("_KDE_NET_WM_DESKTOP_FILE"),
    ]
    let cookies = windows.map { window in
      watch(window)
      return (stagedoor_ask_process(connection, window), wanted.map { property(window, $0) })
    }
    return zip(windows, cookies).map { window, cookies in
      let (process, values) = (cookies.0, cookies.1.map(value))
      var shown = ShownWindow()
      shown.title = title(of: window, values[0]) { values[1] }
      let classes = values[2].split(separator: 0, omittingEmptySubsequences: false).map(Bytes.init)
      shown.traits.instance = classes.first ?? []
      shown.traits.classes = classes.dropFirst().first ?? []
      shown.traits.identifiers = values[8...9].map(X11.text).filter { !$0.isEmpty }
      // The server knows the process better than a program in a namespace, and some programs do not say.
      shown.process =
        [stagedoor_process(connection, process)].first { $0 > 0 }
        ?? X11.numbers(values[3]).first.map { Int32(bitPattern: $0) }
      (shown.machine, shown.startup) = (X11.text(values[4]), X11.text(values[5]))
      let types = X11.numbers(values[7])
      // A window without a type is an ordinary one, unless it belongs to another window.
      shown.isMain = types.isEmpty ? values[6].isEmpty : types.contains(atom("_NET_WM_WINDOW_TYPE_NORMAL"))
      return shown
    }
  }

  func titles(of windows: [xcb_window_t]) -> [Bytes] {
    let cookies = windows.map { property($0, atom("_NET_WM_NAME")) }
    return zip(windows, cookies).map { window, cookie in
      title(of: window, value(cookie)) { value(property(window, XCB_ATOM_WM_NAME.rawValue)) }
    }
  }

  private func title(of window: xcb_window_t, _ name: Bytes, orOlder older: () -> Bytes) -> Bytes {
    let name = X11.text(name)
    if !name.isEmpty {
      withoutNewName.remove(window)
      return name
    }
    withoutNewName.insert(window)
    return X11.text(older())
  }

  /// Brings a window to the front, as a pager does. Some window managers only mark a window that comes without the time of the person's act.
  func raise(_ window: xcb_window_t, at time: UInt32) {
    // 2 is the person's own wish, by way of a pager.
    send("_NET_ACTIVE_WINDOW", about: window, (2, time, 0, 0, 0))
  }

  func close(_ window: xcb_window_t) { send("_NET_CLOSE_WINDOW", about: window, (now(), 2, 0, 0, 0)) }

  /// Asks the window manager.
  private func send(
    _ message: String, about window: xcb_window_t, _ data: (UInt32, UInt32, UInt32, UInt32, UInt32)
  ) {
    var event = xcb_client_message_event_t()
    event.response_type = UInt8(XCB_CLIENT_MESSAGE)
    event.format = 32
    event.window = window
    event.type = atom(message)
    event.data.data32 = data
    send(event, XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue)
    xcb_flush(connection)
  }

  /// Sends an event to those who asked the root window for any of these kinds.
  private func send(_ event: xcb_client_message_event_t, _ mask: UInt32) {
    withUnsafeBytes(of: event) { bytes in
      _ = xcb_send_event(connection, 0, root, mask, bytes.bindMemory(to: CChar.self).baseAddress)
    }
  }

  /// Sends the text that ends a startup sequence to all who listen, twenty bytes in each message.
  func endStartup(_ identifier: Bytes) {
    let window = ownWindow()
    let quoted = identifier.flatMap { Bytes(" \"\\".utf8).contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    var rest = (Bytes("remove: ID=".utf8) + quoted + [0])[...]
    var event = xcb_client_message_event_t()
    (event.response_type, event.format) = (UInt8(XCB_CLIENT_MESSAGE), 8)
    (event.window, event.type) = (window, atom("_NET_STARTUP_INFO_BEGIN"))
    while !rest.isEmpty {
      event.data = xcb_client_message_data_t()
      withUnsafeMutableBytes(of: &event.data) { $0.copyBytes(from: rest.prefix(20)) }
      send(event, XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)
      (rest, event.type) = (rest.dropFirst(20), atom("_NET_STARTUP_INFO"))
    }
    xcb_destroy_window(connection, window)
    xcb_flush(connection)
  }

  private func ownWindow() -> xcb_window_t {
    let window = xcb_generate_id(connection)
    var mask = XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
    xcb_create_window(
      connection, 0, window, root, -1, -1, 1, 1, 0, UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue), 0,
      XCB_CW_EVENT_MASK.rawValue, &mask)
    return window
  }

  /// The server's present time, which it puts on the change of a property.
  func now() -> UInt32 {
    let window = ownWindow()
    xcb_change_property(
      connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, XCB_ATOM_WM_NAME.rawValue,
      XCB_ATOM_STRING.rawValue, 8, 0, nil)
    xcb_destroy_window(connection, window)
    xcb_flush(connection)
    while let notice = notice(xcb_wait_for_event) {
      if notice.window == window { return notice.time }
      pending.append(notice)
    }
    return 0
  }

  // MARK: Properties

  private func atom(_ name: String) -> xcb_atom_t { atoms[name] ?? 0 }

  /// No property of interest is longer than 64 KiB.
  private func property(_ window: xcb_window_t, _ name: xcb_atom_t) -> xcb_get_property_cookie_t {
    xcb_get_property(connection, 0, window, name, 0, 0, 16_384)
  }

  private func value(_ cookie: xcb_get_property_cookie_t) -> Bytes {
    guard let reply = xcb_get_property_reply(connection, cookie, nil) else { return [] }
    defer { free(reply) }
    return Bytes(
      UnsafeRawBufferPointer(
        start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply))))
  }

  /// Some programs write the NUL behind a text too, and no text on the bus has one.
  private static func text(_ bytes: Bytes) -> Bytes { Bytes(bytes.prefix { $0 != 0 }) }

  private func numbers(_ window: xcb_window_t, _ name: xcb_atom_t) -> [UInt32] {
    X11.numbers(value(property(window, name)))
  }

  private static func numbers(_ bytes: Bytes) -> [UInt32] {
    bytes.withUnsafeBytes { raw in
      (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
    }
  }
}
