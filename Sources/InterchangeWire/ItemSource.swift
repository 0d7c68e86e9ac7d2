package import DBus
package import SceneModel

/// A source of promised data: `org.stagedoor.ItemProvider1` of the connection that made the promise.
package struct ItemSource: Sendable {
  private let object: RemoteObject
  private let item: UInt32
  private let type: String

  /// `nil` if the promise names no connection, no object, or no item.
  package init?(_ promise: Promise, on connection: Connection) {
    guard let owner = try? BusName(promise.source.string), let path = try? ObjectPath(promise.path.string),
      let item = UInt32(exactly: promise.item)
    else { return nil }
    object = connection.object(owner, at: path, InterchangeNames.provider)
    (self.item, type) = (item, promise.type.string)
  }

  /// Asks for the content. The caller owns the descriptor.
  /// - Returns: The descriptor to read from, and its number of bytes; `nil` if the source does not know it.
  package nonisolated(nonsending) func load(
    within timeout: Duration?
  ) async throws(CallError) -> (data: OwnedFileDescriptor, size: Int64?) {
    let (data, size) = try await object.call(
      "Load", item, type, timeout: timeout, returning: OwnedFileDescriptor.self, Int64.self)
    return (data, size < 0 ? nil : size)
  }

  // Nobody uses the answers to the next two calls, and the bus counts unanswered calls for all callers together.

  /// Tells this object that nobody will ask it for anything again.
  package func release() throws(CodingError) { try object.send("Release") }

  /// Tells the source that nobody waits for the content any more.
  package func cancelLoad() throws(CodingError) { try object.send("CancelLoad", item, type) }
}
