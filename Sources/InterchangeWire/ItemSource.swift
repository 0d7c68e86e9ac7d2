package import DBus
package import SceneModel

/// The source of promised data, as the service calls it: `org.stagedoor.ItemProvider1` of the connection that made the promise.
package struct ItemSource: Sendable {
  private let object: RemoteObject
  private let item: UInt32
  private let type: String

  /// `nil` where the promise names no connection, no object, or no item.
  package init?(_ promise: Promise, on connection: Connection) {
    guard let owner = try? BusName(promise.source.string), let path = try? ObjectPath(promise.path.string),
      let item = UInt32(exactly: promise.item)
    else { return nil }
    object = connection.object(owner, at: path, InterchangeNames.provider)
    (self.item, type) = (item, promise.type.string)
  }

  /// Asks for the content. Whoever gets the descriptor owns it.
  /// - Returns: the descriptor to read from, and how many bytes that will be; `nil` where the source does not know.
  package nonisolated(nonsending) func load(
    within timeout: Duration?
  ) async throws(CallError) -> (data: OwnedFileDescriptor, size: Int64?) {
    let (data, size) = try await object.call(
      "Load", item, type, timeout: timeout, returning: OwnedFileDescriptor.self, Int64.self)
    return (data, size < 0 ? nil : size)
  }

  /// Says that nobody asks this object for anything any more.
  package nonisolated(nonsending) func release(within timeout: Duration) async throws(CallError) {
    try await object.call("Release", timeout: timeout)
  }

  /// Says that nobody waits for the content any more.
  package nonisolated(nonsending) func cancelLoad(within timeout: Duration) async throws(CallError) {
    try await object.call("CancelLoad", item, type, timeout: timeout)
  }
}
