internal import CGtk4
internal import CStage
internal import FoundationEssentials
internal import StagedoorKit

/// A drag of this program, while it lasts.
@MainActor final class Drag {
  /// The drags of this program, by GDK's.
  static var current: [OpaquePointer: Drag] = [:]

  let items: [DragItem]
  let operations: Set<DropOperation>
  weak var scene: Scene?
  /// Begun at the service when somebody asks for its ticket.
  private var session: Task<DragSession, any Error>?

  init(_ items: [DragItem], _ operations: Set<DropOperation>, from scene: Scene?) {
    (self.items, self.operations, self.scene) = (items, operations, scene)
  }

  // MARK: What others can ask for

  private static let files = "text/uri-list"

  /// The types, the ones that say the most first.
  private var types: [String] {
    var types = [Payload.contentType, DragSession.ticketType]
    if items.contains(where: { !$0.itemProvider.registeredTypes.isEmpty }) { types.append(Self.files) }
    // The types of several items could not be told apart.
    if items.count == 1 { types += items[0].itemProvider.registeredTypes.filter { $0.contains("/") } }
    var seen: Set<String> = []
    return types.filter { seen.insert($0).inserted }
  }

  /// What GTK offers to others; the caller owns it.
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

  /// `task` is answered once, when the bytes are there.
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
    case Self.files where !items.contains(where: { $0.itemProvider.registeredTypes.contains(Self.files) }):
      return Data(try await uris().joined(separator: "\r\n").utf8)
    default: return try await items[0].itemProvider.loadDataRepresentation(as: type)
    }
  }

  /// The data of a single item goes beside its payload, in its own types: so nothing is loaded that nobody wants.
  private var payload: Payload {
    guard items.count == 1 else { return Payload(items: items) }
    var provider = ItemProvider()
    provider.suggestedName = items[0].itemProvider.suggestedName
    for activity in items[0].itemProvider.userActivities { provider.registerObject(activity) }
    return Payload(items: [DragItem(itemProvider: provider)])
  }

  private func uris() async throws -> [String] {
    var uris: [String] = []
    for item in items {
      guard let type = item.itemProvider.registeredTypes.first else { continue }
      uris.append(try await item.itemProvider.loadInPlace(as: type).file.absoluteString)
    }
    return uris
  }

  // MARK: At the service

  private func beginSession() throws -> Task<DragSession, any Error> {
    if let session { return session }
    guard let stagedoor = scene?.application?.stagedoor else {
      throw StagedoorError(.disconnected, "the application has ended")
    }
    let (items, operations) = (items, operations)
    let session = Task { @MainActor in try await stagedoor.beginDrag(items, allowing: operations) as DragSession }
    self.session = session
    return session
  }

  /// A drag that was dropped at the service goes on there by itself.
  func end() {
    guard let session else { return }
    Task { @MainActor in
      let drag = try await session.value
      if try await drag.state == .dragging { try await drag.cancel() }
    }
  }
}
