import WindowEvidence

/// The windows of a Wayland compositor, as its events tell of them. Pure: events come in, requests go out.
///
/// `zwlr_foreign_toplevel_manager_v1` and, in Plasma, `org_kde_plasma_window_management` list windows and raise them. `ext_foreign_toplevel_list_v1` only
/// lists them, and serves where both are missing.
struct Toplevels {
  struct Toplevel: Equatable {
    var title: Bytes = []
    var application: Bytes = []
    var isActive = false
    /// Whether it belongs to another window.
    var isChild = false
    var isInTaskbar = true
    /// Only Plasma tells the process.
    var process: Int32?
  }

  /// What objects are, by their numbers. Ours count from 2 on; the compositor's from 0xFF000000.
  private enum Kind: Equatable {
    case registry, pause, seat, manager, plasma, list
    case handle(WindowNumber, Teller)
  }

  /// The interface that tells of a window.
  private enum Teller { case manager, plasma, list }

  private static let display: UInt32 = 1

  /// The interfaces that are bound, each with the highest version of it that is understood.
  private static let interfaces: [(kind: Kind, name: Bytes, version: UInt32)] = [
    (.seat, Bytes("wl_seat".utf8), 1), (.manager, Bytes("zwlr_foreign_toplevel_manager_v1".utf8), 3),
    (.plasma, Bytes("org_kde_plasma_window_management".utf8), 8),
    (.list, Bytes("ext_foreign_toplevel_list_v1".utf8), 1),
  ]

  private var objects: [UInt32: Kind] = [:]
  private var lastObject: UInt32 = 1
  /// A compositor gives the number of an object that has gone to the next, so windows have numbers of their own.
  private var lastWindow: WindowNumber = 0
  private typealias Global = (kind: Kind, name: UInt32, version: UInt32)
  private var globals: [Global] = []
  private var seat: UInt32?
  private var plasma: UInt32?
  /// The windows with what has been told of each, how often its title was written since that was shown, and the numbers of their objects.
  private var told: [WindowNumber: (object: UInt32, toplevel: Toplevel, titles: Int)] = [:]

  /// The windows as they are, the last active first.
  private(set) var order: [WindowNumber] = []
  private(set) var shown: [WindowNumber: Toplevel] = [:]
  private(set) var changes = DisplayChanges()
  /// What has to be sent.
  private(set) var requests: Bytes = []
  /// Whether all windows that were there at the beginning have been told of.
  private(set) var isReady = false
  /// Whether the compositor tells of windows.
  private(set) var listsWindows = false
  /// Whether the answers that tell of Plasma's windows are on their way.
  private var wasAsked = false
  /// Whether it ended the connection, or stopped to tell of windows.
  private(set) var isOver = false

  init() {
    // get_registry, then a pause, whose end comes behind the last global.
    send(Toplevels.display, 1, new(.registry))
    send(Toplevels.display, 0, new(.pause))
  }

  var canRaise: Bool {
    plasma != nil || seat != nil && objects.values.contains(.manager)
  }

  mutating func takeChanges() -> DisplayChanges { exchange(&changes, with: DisplayChanges()) }

  mutating func takeRequests() -> Bytes { exchange(&requests, with: []) }

  /// Asks the compositor to bring a window to the front.
  mutating func raise(_ window: WindowNumber) {
    guard canRaise, let object = told[window]?.object else { return }
    if plasma != nil {
      // Of the states, only that of the active window changes, and it is set.
      send(object, 0, Toplevels.active, Toplevels.active)
    } else if let seat {
      send(object, 4, seat)
    }
  }

  /// Asks the compositor to close a window.
  mutating func close(_ window: WindowNumber) {
    if canRaise, let object = told[window]?.object { send(object, plasma == nil ? 5 : 4) }
  }

  // MARK: Events

  mutating func take(_ event: WaylandMessage) throws(WaylandFault) {
    var arguments = WaylandArguments(event.body[...])
    if event.object == Toplevels.display {
      // An error ends the connection. The other event frees one of our numbers, and we use few.
      isOver = isOver || event.opcode == 0
      return
    }
    switch (objects[event.object], event.opcode) {
    case (.registry, 0): try note(&arguments)
    case (.pause, 0):
      objects[event.object] = nil
      pauseEnded()
    case (.manager, 0): listed(try arguments.number(), .manager)
    case (.plasma, 1):
      let object = lastObject + 1
      send(event.object, 1, object, try arguments.number())
      lastObject = object
      listed(object, .plasma)
    case (.list, 0): listed(try arguments.number(), .list)
    case (.manager, _), (.list, _): isOver = true
    case (.handle(let window, .manager), let opcode): try tell(opcode, of: window, &arguments)
    case (.handle(let window, .plasma), let opcode): try tellAsPlasma(opcode, of: window, &arguments)
    case (.handle(let window, .list), let opcode):
      // closed, done, title, application, identifier
      let same: [UInt16] = [6, 5, 0, 1]
      if opcode < same.count { try tell(same[Int(opcode)], of: window, &arguments) }
    default: break
    }
  }

  private mutating func note(_ arguments: inout WaylandArguments) throws(WaylandFault) {
    let name = try arguments.number()
    let interface = try arguments.text()
    let version = try arguments.number()
    for (kind, known, highest) in Toplevels.interfaces where known == interface {
      globals.append((kind, name, min(version, highest)))
      if isReady, kind == .seat, seat == nil { bind(globals[globals.count - 1]) }
    }
  }

  /// The first pause ends behind the globals, the second behind the windows. Plasma tells of windows only when it is asked for each, and needs a third.
  private mutating func pauseEnded() {
    if listsWindows {
      isReady = plasma == nil || wasAsked
      if !isReady { send(Toplevels.display, 0, new(.pause)) }
      wasAsked = true
      return
    }
    func first(_ kind: Kind) -> Global? { globals.first { $0.kind == kind } }
    if let seat = first(.seat) { bind(seat) }
    guard let chosen = first(.manager) ?? first(.plasma) ?? first(.list) else {
      isReady = true
      return
    }
    bind(chosen)
    listsWindows = true
    send(Toplevels.display, 0, new(.pause))
  }

  private mutating func bind(_ global: Global) {
    let object = new(global.kind)
    if global.kind == .seat { seat = object }
    if global.kind == .plasma { plasma = object }
    for (kind, interface, _) in Toplevels.interfaces where kind == global.kind {
      let body =
        WaylandMessage.word(global.name) + WaylandMessage.text(interface) + WaylandMessage.word(global.version)
        + WaylandMessage.word(object)
      requests += WaylandMessage(2, 0, body).bytes
    }
  }

  private mutating func listed(_ object: UInt32, _ teller: Teller) {
    lastWindow += 1
    objects[object] = .handle(lastWindow, teller)
    told[lastWindow] = (object, Toplevel(), 0)
  }

  /// The events of a `zwlr_foreign_toplevel_handle_v1`. What they tell holds as soon as one says that all is told.
  private mutating func tell(
    _ opcode: UInt16, of window: WindowNumber, _ arguments: inout WaylandArguments
  ) throws(WaylandFault) {
    guard let object = told[window]?.object else { return }
    switch opcode {
    case 0:
      told[window]?.toplevel.title = try arguments.text()
      told[window]?.titles += 1
    case 1: told[window]?.toplevel.application = try arguments.text()
    case 4: told[window]?.toplevel.isActive = try arguments.numbers().contains(2)
    case 5: show(window)
    case 6:
      (told[window], shown[window]) = (nil, nil)
      order.removeAll { $0 == window }
      changes.list = true
      if case .handle(_, let teller) = objects.removeValue(forKey: object) { send(object, teller == .list ? 0 : 7) }
    case 7: told[window]?.toplevel.isChild = try arguments.number() != 0
    default: break
    }
  }

  /// Bits of Plasma's word for the state of a window.
  private static let active: UInt32 = 1 << 0
  private static let skipsTaskbar: UInt32 = 1 << 12

  /// The events of an `org_kde_plasma_window`. Behind the first ones, each holds at once.
  private mutating func tellAsPlasma(
    _ opcode: UInt16, of window: WindowNumber, _ arguments: inout WaylandArguments
  ) throws(WaylandFault) {
    switch opcode {
    case 0, 1: try tell(opcode, of: window, &arguments)
    case 2:
      let state = try arguments.number()
      told[window]?.toplevel.isActive = state & Toplevels.active != 0
      // Panels and the background are windows too.
      told[window]?.toplevel.isInTaskbar = state & Toplevels.skipsTaskbar == 0
    case 5: return try tell(6, of: window, &arguments)
    case 6: return show(window)
    case 7: try tell(7, of: window, &arguments)
    case 10: told[window]?.toplevel.process = Int32(bitPattern: try arguments.number())
    default: return
    }
    if shown[window] != nil { show(window) }
  }

  private mutating func show(_ window: WindowNumber) {
    guard let (_, toplevel, titles) = told[window] else { return }
    told[window]?.titles = 0
    let before = shown.updateValue(toplevel, forKey: window)
    if before == nil { order.append(window) }
    if toplevel.isActive, order.first != window {
      order.removeAll { $0 == window }
      order.insert(window, at: 0)
    }
    guard var before else {
      changes.list = true
      return
    }
    // Where no other window gets the keyboard, this is all that tells of its loss.
    if toplevel.isActive != before.isActive { changes.list = true }
    if titles > 0 { changes.titles[window, default: 0] += titles }
    (before.title, before.isActive) = (toplevel.title, toplevel.isActive)
    if before != toplevel { changes.classes.insert(window) }
  }

  // MARK: Requests

  private mutating func new(_ kind: Kind) -> UInt32 {
    lastObject += 1
    objects[lastObject] = kind
    return lastObject
  }

  private mutating func send(_ object: UInt32, _ opcode: UInt16, _ words: UInt32...) {
    requests += WaylandMessage(object, opcode, words.flatMap(WaylandMessage.word)).bytes
  }
}
