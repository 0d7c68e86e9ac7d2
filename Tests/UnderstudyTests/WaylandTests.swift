import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import SceneModel
import Testing

@testable import stagedoor_understudy

/// What sway 1.7 told a client, while mousepad showed a.txt, then b.txt too, came to the front with a.txt and closed b.txt. Most of its globals, which
/// nobody reads, are left out.
enum Recorded {
  static let globals = """
    AgAAAAAAHAABAAAABwAAAHdsX3NobQAAAQAAAAIAAAAAACQAAgAAAA4AAAB3bF9jb21wb3NpdG9yAAAABAAAAAIAAAAAADgAFQAAACEAAAB6d2xyX2ZvcmVp\
    Z25fdG9wbGV2ZWxfbWFuYWdlcl92MQAAAAADAAAAAgAAAAAAHAAkAAAACAAAAHdsX3NlYXQABwAAAAIAAAAAACAAJgAAAAoAAAB3bF9vdXRwdXQAAAAEAAAA\
    AwAAAAAADAABAAAAAQAAAAEADAADAAAA
    """
  static let first = """
    BAAAAAAADAAAAAAABQAAAAAADAAAAAD/AAAA/wAAKAAcAAAAL3RtcC9ub3Rlcy9hLnR4dCAtIE1vdXNlcGFkAAAAAP8BABgACQAAAG1vdXNlcGFkAAAAAAAA\
    AP8EABAABAAAAAIAAAAAAAD/BwAMAAAAAAAAAAD/BQAIAAYAAAAAAAwABwAAAAEAAAABAAwABgAAAA==
    """
  /// All that a client hears that binds the seat and the manager.
  static var beginning: [UInt8] { [globals, first].flatMap { Array(Data(base64Encoded: $0) ?? Data()) } }
  static let second = """
    AAAA/wUACAAFAAAAAAAMAAEAAP8BAAD/AAAoABwAAAAvdG1wL25vdGVzL2IudHh0IC0gTW91c2VwYWQAAAAA/wQADAAAAAAAAQAA/wQAEAAEAAAAAgAAAAEA\
    AP8BABgACQAAAG1vdXNlcGFkAAAAAAEAAP8FAAgAAAAA/wUACAABAAD/BQAIAA==
    """
  static let raised = """
    AQAA/wQADAAAAAAAAAAA/wQAEAAEAAAAAgAAAAEAAP8FAAgAAAAA/wUACAA=
    """
  static let closed = """
    AQAA/wYACAA=
    """

  /// The answer to get_tree after the second window had come, without what nobody reads.
  static let tree = """
    {"id": 1, "type": "root", "percent": null, "name": "root", "nodes": [{"id": 2147483647, "name": "__i3", "nodes": [], \
    "floating_nodes": []}, {"id": 3, "type": "output", "percent": 1.0, "name": "HEADLESS-1", "nodes": [{"id": 4, "name": "1", \
    "nodes": [], "floating_nodes": [{"id": 5, "percent": 0.64, "name": "/tmp/notes/a.txt - Mousepad", "nodes": [], \
    "floating_nodes": [], "pid": 12244, "app_id": "mousepad"}, {"id": 6, "name": "/tmp/notes/b.txt - Mousepad", "nodes": [], \
    "floating_nodes": [], "pid": 12289, "app_id": "mousepad"}, {"id": 7, "name": "gvim", "nodes": [], "floating_nodes": [], \
    "pid": 77, "app_id": null, "window_properties": {"class": "Gvim", "instance": "gvim"}}]}], "floating_nodes": []}]}
    """
}

@Suite struct WaylandTests {
  private func bytes(_ text: String) throws -> ArraySlice<UInt8> { Array(try #require(Data(base64Encoded: text)))[...] }

  private func play(_ text: String, to toplevels: inout Toplevels) throws {
    var received = try bytes(text)
    while let event = try WaylandMessage(takenFrom: &received) { try toplevels.take(event) }
    #expect(received.isEmpty)
  }

  private func titles(_ toplevels: Toplevels) -> [String] {
    toplevels.order.map { String(decoding: toplevels.shown[$0]?.title ?? [], as: UTF8.self) }
  }

  private func request(_ object: UInt32, _ opcode: UInt16, _ words: UInt32...) -> [UInt8] {
    WaylandMessage(object, opcode, words.flatMap(WaylandMessage.word)).bytes
  }

  @Test func `what sway told is understood, and a window is asked to come to the front`() throws {
    var toplevels = Toplevels()
    #expect(toplevels.takeRequests() == request(1, 1, 2) + request(1, 0, 3))
    try play(Recorded.globals, to: &toplevels)
    var bound = toplevels.takeRequests()[...]
    let seat = try #require(try WaylandMessage(takenFrom: &bound))
    #expect(seat.object == 2 && seat.opcode == 0 && seat.body.starts(with: WaylandMessage.word(36)))
    let manager = try #require(try WaylandMessage(takenFrom: &bound))
    #expect(manager.body.starts(with: WaylandMessage.word(21)))
    #expect(manager.body.suffix(8) == (WaylandMessage.word(3) + WaylandMessage.word(5))[...])
    #expect(Array(bound) == request(1, 0, 6))
    #expect(!toplevels.isReady && toplevels.listsWindows)

    try play(Recorded.first, to: &toplevels)
    #expect(toplevels.isReady && toplevels.canRaise)
    #expect(titles(toplevels) == ["/tmp/notes/a.txt - Mousepad"])
    #expect(toplevels.takeChanges().list)
    try play(Recorded.second, to: &toplevels)
    #expect(titles(toplevels) == ["/tmp/notes/b.txt - Mousepad", "/tmp/notes/a.txt - Mousepad"])
    #expect(toplevels.takeChanges().list)

    #expect(toplevels.takeRequests().isEmpty)
    toplevels.raise(try #require(toplevels.order.last))
    let raise = toplevels.takeRequests()
    #expect(raise.count == 12 && raise.suffix(4) == WaylandMessage.word(4)[...])
    try play(Recorded.raised, to: &toplevels)
    #expect(titles(toplevels) == ["/tmp/notes/a.txt - Mousepad", "/tmp/notes/b.txt - Mousepad"])
    #expect(toplevels.takeChanges().list)
    try play(Recorded.closed, to: &toplevels)
    #expect(titles(toplevels) == ["/tmp/notes/a.txt - Mousepad"])
    #expect(toplevels.takeChanges().list)
    #expect(!toplevels.isOver)
  }

  /// A compositor gives the number of a window that has gone to the next one.
  @Test func `a window with the object of one that has gone is another window`() throws {
    var toplevels = Toplevels()
    try play(Recorded.globals, to: &toplevels)
    let handle: UInt32 = 0xFF00_0000
    func show(_ title: String) throws {
      try toplevels.take(WaylandMessage(5, 0, WaylandMessage.word(handle)))
      try toplevels.take(WaylandMessage(handle, 0, WaylandMessage.text(Array(title.utf8))))
      #expect(titles(toplevels).isEmpty, "nothing holds before all is told")
      try toplevels.take(WaylandMessage(handle, 5))
    }
    try show("one")
    let first = toplevels.order
    try toplevels.take(WaylandMessage(handle, 6))
    #expect(toplevels.takeRequests().suffix(8) == request(handle, 7)[...])
    try show("two")
    #expect(toplevels.order != first && titles(toplevels) == ["two"])
    try toplevels.take(WaylandMessage(handle, 0, WaylandMessage.text(Array("three".utf8))))
    try toplevels.take(WaylandMessage(handle, 7, WaylandMessage.word(handle)))
    try toplevels.take(WaylandMessage(handle, 5))
    #expect(toplevels.takeChanges().titles == [toplevels.order[0]: 1])
    #expect(toplevels.shown[toplevels.order[0]]?.isChild == true)
  }

  @Test func `what is told of a window holds when all is told, and each change is noticed`() throws {
    var toplevels = Toplevels()
    try play(Recorded.globals, to: &toplevels)
    try play(Recorded.first, to: &toplevels)
    let (handle, window) = (UInt32(0xFF00_0000), try #require(toplevels.order.first))
    func tell(_ opcode: UInt16, _ body: [UInt8]) throws { try toplevels.take(WaylandMessage(handle, opcode, body)) }
    func changes() throws -> DisplayChanges {
      try tell(5, [])
      return toplevels.takeChanges()
    }
    _ = toplevels.takeChanges()
    for title in ["b.txt", "c.txt"] { try tell(0, WaylandMessage.text(Array(title.utf8))) }
    #expect(toplevels.takeChanges().isEmpty, "nothing holds before all is told")
    #expect(try changes() == DisplayChanges(titles: [window: 2]))
    #expect(try changes().isEmpty)
    try tell(1, WaylandMessage.text(Array("org.example.Editor".utf8)))
    #expect(try changes() == DisplayChanges(classes: [window]))
    try tell(7, WaylandMessage.word(handle))
    #expect(try changes() == DisplayChanges(classes: [window]))
    // It loses the keyboard and gets it back, and no other window does.
    for states in [[], [2]] as [[UInt32]] {
      let words = states.flatMap(WaylandMessage.word)
      try tell(4, WaylandMessage.word(UInt32(words.count)) + words)
      #expect(try changes() == DisplayChanges(list: true))
      #expect(toplevels.shown[window]?.isActive == !states.isEmpty)
    }
  }

  @Test func `a compositor that only lists windows raises none`() throws {
    var toplevels = Toplevels()
    let list = WaylandMessage.word(9) + WaylandMessage.text(Array("ext_foreign_toplevel_list_v1".utf8))
    try toplevels.take(WaylandMessage(2, 0, list + WaylandMessage.word(1)))
    try toplevels.take(WaylandMessage(3, 0, WaylandMessage.word(0)))
    let handle: UInt32 = 0xFF00_0003
    try toplevels.take(WaylandMessage(4, 0, WaylandMessage.word(handle)))
    for (opcode, text) in [(2, "a.txt"), (3, "org.example.Editor"), (4, "b1946ac9")] as [(UInt16, String)] {
      try toplevels.take(WaylandMessage(handle, opcode, WaylandMessage.text(Array(text.utf8))))
    }
    try toplevels.take(WaylandMessage(handle, 1))
    try toplevels.take(WaylandMessage(5, 0, WaylandMessage.word(0)))
    #expect(toplevels.isReady && toplevels.listsWindows && !toplevels.canRaise)
    #expect(titles(toplevels) == ["a.txt"])
    #expect(toplevels.shown.values.first?.application == Array("org.example.Editor".utf8))
    try toplevels.take(WaylandMessage(handle, 0))
    #expect(titles(toplevels).isEmpty)
    try toplevels.take(WaylandMessage(4, 1))
    #expect(toplevels.isOver)
  }

  @Test func `Plasma tells of windows when it is asked for each, and brings them to the front`() throws {
    var toplevels = Toplevels()
    let management = WaylandMessage.word(9) + WaylandMessage.text(Array("org_kde_plasma_window_management".utf8))
    try toplevels.take(WaylandMessage(2, 0, management + WaylandMessage.word(16)))
    try toplevels.take(WaylandMessage(3, 0, WaylandMessage.word(0)))
    var bound = toplevels.takeRequests().dropFirst(request(1, 1, 2).count + request(1, 0, 3).count)
    let bind = try #require(try WaylandMessage(takenFrom: &bound))
    // From version 8 on it tells the process of a window, and from 13 on of windows in another way.
    #expect(bind.body.suffix(8) == (WaylandMessage.word(8) + WaylandMessage.word(4))[...])
    #expect(Array(bound) == request(1, 0, 5))

    try toplevels.take(WaylandMessage(4, 1, WaylandMessage.word(70)))
    #expect(toplevels.takeRequests() == request(4, 1, 6, 70))
    try toplevels.take(WaylandMessage(5, 0, WaylandMessage.word(0)))
    #expect(!toplevels.isReady && toplevels.takeRequests() == request(1, 0, 7))
    func tell(_ object: UInt32, _ title: String, _ state: UInt32, _ process: UInt32) throws {
      try toplevels.take(WaylandMessage(object, 1, WaylandMessage.text(Array("org.example.Editor".utf8))))
      try toplevels.take(WaylandMessage(object, 10, WaylandMessage.word(process)))
      try toplevels.take(WaylandMessage(object, 0, WaylandMessage.text(Array(title.utf8))))
      try toplevels.take(WaylandMessage(object, 2, WaylandMessage.word(state)))
      try toplevels.take(WaylandMessage(object, 7, WaylandMessage.word(0)))
      try toplevels.take(WaylandMessage(object, 6))
    }
    try tell(6, "a.txt", 1, 77)
    try toplevels.take(WaylandMessage(7, 0, WaylandMessage.word(0)))
    #expect(toplevels.isReady && toplevels.canRaise)
    try toplevels.take(WaylandMessage(4, 1, WaylandMessage.word(71)))
    _ = toplevels.takeRequests()
    try tell(8, "b.txt", 1 << 8 | 1, 78)
    try toplevels.take(WaylandMessage(6, 2, WaylandMessage.word(0)))
    #expect(titles(toplevels) == ["b.txt", "a.txt"] && toplevels.takeChanges().list)
    let first = try #require(toplevels.order.last)
    #expect(toplevels.shown[first]?.process == 77 && toplevels.shown[first]?.isActive == false)

    toplevels.raise(first)
    #expect(toplevels.takeRequests() == request(6, 0, 1, 1))
    try toplevels.take(WaylandMessage(6, 0, WaylandMessage.text(Array("c.txt".utf8))))
    try toplevels.take(WaylandMessage(6, 2, WaylandMessage.word(1)))
    #expect(titles(toplevels) == ["c.txt", "b.txt"])
    #expect(toplevels.takeChanges() == DisplayChanges(list: true, titles: [first: 1]))
    toplevels.close(first)
    #expect(toplevels.takeRequests() == request(6, 4), "the next request would move the window")
    try toplevels.take(WaylandMessage(6, 5))
    #expect(
      titles(toplevels) == ["b.txt"] && toplevels.takeRequests() == request(6, 7), "the next request needs a file")
    // A panel.
    try toplevels.take(WaylandMessage(4, 1, WaylandMessage.word(72)))
    try tell(9, "panel", 1 << 12, 1)
    #expect(toplevels.shown[try #require(toplevels.order.last)]?.isInTaskbar == false)
  }

  @Test func `a compositor that tells of no windows is left`() throws {
    var toplevels = Toplevels()
    try toplevels.take(WaylandMessage(3, 0, WaylandMessage.word(0)))
    #expect(toplevels.isReady && !toplevels.listsWindows)
  }

  /// Every beginning and every changed byte of what was recorded.
  @Test func `bytes that are no Wayland are refused, or wait for more`() throws {
    let good = Array(try bytes(Recorded.globals) + bytes(Recorded.first) + bytes(Recorded.second))
    for place in good.indices {
      var bad = good
      bad[place] ^= 0xA5
      for sample in [bad, Array(good[..<place])] {
        var (toplevels, received) = (Toplevels(), sample[...])
        do throws(WaylandFault) {
          while let event = try WaylandMessage(takenFrom: &received) { try toplevels.take(event) }
        } catch {}
      }
    }
  }

  @Test func `sway names the process of a window, if only one can be meant`() throws {
    let windows = try #require(Sway.windows(in: Array(Recorded.tree.utf8)))
    func process(_ application: String, _ title: String) -> Int32? {
      let toplevel = Toplevels.Toplevel(title: Array(title.utf8), application: Array(application.utf8))
      return Sway.process(of: toplevel, among: windows)
    }
    #expect(process("mousepad", "/tmp/notes/a.txt - Mousepad") == 12244)
    #expect(process("mousepad", "/tmp/notes/b.txt - Mousepad") == 12289)
    #expect(process("mousepad", "/tmp/notes/c.txt - Mousepad") == nil)
    #expect(process("Gvim", "another title") == 77)
    #expect(process("eog", "a.png") == nil)
    #expect(Sway.windows(in: Array("{".utf8)) == nil)
  }
}
