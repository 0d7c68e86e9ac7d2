internal import CGtk4
internal import CStage
internal import FoundationEssentials
internal import StagedoorKit

/// A drag of this program, while it lasts.
@MainActor final class Drag {
  /// The drags of this program, by GDK's pointers.
  static var current: [OpaquePointer: Drag] = [:]

  let items: [DragItem]
  private let operations: Set<DropOperation>
  private let opensWindow: Bool
  weak var scene: Scene?
  /// The source of the drag. Its widget may end during the drag, which continues.
  private weak var dragging: Dragging?
  private let handlers = Handlers()
  private var isCancelled = false
  /// The drag at the service, which begins when somebody asks for its ticket.
  private var session: Once<DragSession>?
  /// Whether the drag at the service was cancelled because nobody has dropped it there.
  private var wasUnused = false
  private lazy var files = DragFiles(of: items)

  init(_ items: [DragItem], from dragging: Dragging, of scene: Scene?) {
    (self.items, self.dragging, self.scene) = (items, dragging, scene)
    (operations, opensWindow) = (dragging.operations, dragging.out == nil)
  }

  // MARK: Life

  /// Follows GTK's drag, whose source reports how it ends.
  func begin(_ drag: OpaquePointer, of source: OpaquePointer) {
    Self.current[drag] = self
    stage_drag_begin(drag)
    handlers.connect("drag-cancel", of: source) { [weak self] signal in
      if let self { signal.answer(cancel(drag, GdkDragCancelReason(UInt32(signal.enumeration(2))))) }
    }
    handlers.connect("drag-end", of: source) { [weak self] signal in self?.end(drag, isMoved: signal.flag(2)) }
  }

  /// Handles a cancelled drag. Returns false if the icon should fly back.
  private func cancel(_ drag: OpaquePointer, _ reason: GdkDragCancelReason) -> Bool {
    isCancelled = true
    guard let scene, stage_drag_is_out(drag, reason) != 0 else { return false }
    if !opensWindow {
      dragging?.out?(items)
      return true
    }
    guard items.contains(where: { !$0.itemProvider.userActivities.isEmpty }) else { return false }
    (scene.delegate as? WindowScene)?.task("Opening a window") { [items] in
      var options = DeliveryOptions()
      options.activationToken = GtkStage.activationToken()
      try await scene.application?.deliver(items, from: scene, at: .edge, options)
    }
    return true
  }

  private func end(_ drag: OpaquePointer, isMoved: Bool) {
    // This variable keeps the drag alive until the function returns.
    guard let this = Self.current.removeValue(forKey: drag) else { return }
    this.handlers.drop()
    let isTaken = !isCancelled && stage_drag_was_refused() == 0
    let action = gdk_drag_get_selected_action(drag)
    let operation: DropOperation = !isTaken ? .cancel : isMoved ? .move : action == GDK_ACTION_COPY ? .copy : .cancel
    guard let session = this.session else { return this.ended(operation) }
    Task { @MainActor in this.ended(await this.outcome(of: session, operation)) }
  }

  private func ended(_ operation: DropOperation) {
    files.removeLater()
    dragging?.ended?(operation)
  }

  /// The outcome of a drag with a ticket. If somebody has dropped it at the service, the service knows; otherwise the toolkit does. A receiver may have
  /// taken the ticket in the toolkit's drop, and drop the drag at the service afterwards.
  private func outcome(of session: Once<DragSession>, _ operation: DropOperation) async -> DropOperation {
    do {
      let drag = try await session.value
      if operation == .cancel, try await drag.state == .dragging {
        try await drag.cancel()
        return .cancel
      }
      let waiting = Task { @MainActor in
        try await GtkStage.sleep(for: .seconds(10))
        wasUnused = try await drag.state == .dragging
        if wasUnused { try await drag.cancel() }
      }
      defer { waiting.cancel() }
      let ending = try await drag.ended()
      return wasUnused ? operation : ending.operation
    } catch {
      // Nobody knows whether the receiver has the data, so the application must keep them.
      return operation == .move ? .copy : operation
    }
  }

  // MARK: Content for others

  /// The types, the most expressive first.
  private var types: [String] {
    var types = [Payload.contentType, DragSession.ticketType]
    if items.contains(where: { !$0.itemProvider.registeredTypes.isEmpty }) { types.append(DragFiles.type) }
    // Receivers could not tell the types of several items apart.
    if items.count == 1 { types += items[0].itemProvider.registeredTypes.filter { $0.contains("/") } }
    var seen: Set<String> = []
    return types.filter { seen.insert($0).inserted }
  }

  /// The content that GTK offers to others; the caller owns it.
  func content() -> OpaquePointer? {
    let builder = gdk_content_formats_builder_new()
    for type in types { gdk_content_formats_builder_add_mime_type(builder, type) }
    let formats = gdk_content_formats_builder_free_to_formats(builder)
    let content = stage_content_new(
      formats,
      { box, type, task in
        guard let box, let type, let task else { return }
        let drag = Box<Drag>.value(of: box)
        // GTK asks on the main thread, and the request stays there.
        nonisolated(unsafe) let request = (String(cString: type), task)
        MainActor.assumeIsolated { drag.write(request.0, request.1) }
      }, Box(self).given, { Box<Drag>.release($0) })
    return content.map { OpaquePointer($0) }
  }

  /// Writes one type, and answers `task` once, when the bytes are written or loading has failed.
  private func write(_ type: String, _ task: OpaquePointer) {
    Task { @MainActor in
      do {
        let bytes = try await self.bytes(of: type)
        bytes.withUnsafeBytes { stage_content_write(task, $0.baseAddress, $0.count) }
      } catch {
        stage_content_fail(task, "\(error)")
      }
    }
  }

  private func bytes(of type: String) async throws -> Data {
    switch type {
    case Payload.contentType: return try await payload.encoded()
    case DragSession.ticketType: return Data(try await beginSession().value.ticket.utf8)
    case DragFiles.type where !items.contains(where: { $0.itemProvider.registeredTypes.contains(DragFiles.type) }):
      return Data(try await files.uris().joined(separator: "\r\n").utf8)
    default: return try await items[0].itemProvider.loadDataRepresentation(as: type)
    }
  }

  /// The payload of a single item has no data: GTK offers the data in its own types, so it is loaded only on request.
  private var payload: Payload {
    guard items.count == 1 else { return Payload(items: items) }
    var provider = ItemProvider()
    provider.suggestedName = items[0].itemProvider.suggestedName
    for activity in items[0].itemProvider.userActivities { provider.registerObject(activity) }
    return Payload(items: [DragItem(itemProvider: provider)])
  }

  // MARK: At the service

  private func beginSession() throws -> Once<DragSession> {
    if let session { return session }
    guard let stagedoor = GtkStage.stagedoor else { throw StagedoorError(.disconnected, "the service does not run") }
    let (items, operations) = (items, operations)
    let session = Once { try await stagedoor.beginDrag(items, allowing: operations) as DragSession }
    self.session = session
    return session
  }
}
