internal import DBus
public import FoundationEssentials
internal import Glibc
internal import InterchangeWire
internal import SceneModel

extension ItemProvider {
  /// Whether the item has a representation that conforms to `type`: an `image/png` conforms to `image/*`.
  ///
  /// ```swift
  /// var provider = ItemProvider()
  /// provider.registerText("hello")
  /// print(provider.hasItem(conformingTo: "public.text"))  // true
  /// ```
  public func hasItem(conformingTo type: String) -> Bool { representation(conformingTo: type) != nil }

  /// Loads the best representation that conforms to `type`. Data that the service keeps can be loaded as long as this provider exists.
  public func loadData(as type: String) async throws(StagedoorError) -> Data {
    guard let representation = representation(conformingTo: type) else {
      // The service knows all types of the desktop; this module knows the common ones only.
      for case .delivered(let item, _, _) in representations.lazy.map(\.source) { return try await item.load(type) }
      let types = registeredTypes.joined(separator: ", ")
      throw StagedoorError(
        .noSuchItem, "the item has nothing of \(quoted(type)): it has \(types.isEmpty ? "nothing" : types)")
    }
    switch representation.source {
    case .data(let data): return data
    case .text(let text): return Data(text.utf8)
    case .file(let file, _): return try await Self.read(file)
    case .loader(let load): return try await Self.load(load)
    case .delivered(let item, _, _): return try await item.load(representation.type)
    }
  }

  /// Loads the best representation that conforms to `type`, as text.
  public func loadText(as type: String = "text/plain") async throws(StagedoorError) -> String {
    String(decoding: try await loadData(as: type), as: UTF8.self)
  }

  /// The file itself, if the sender wants the file to be opened in its place.
  public func fileOpenedInPlace(as type: String) -> URL? {
    switch representation(conformingTo: type)?.source {
    case .file(let file, openInPlace: true): file
    case .delivered(_, _, let file): file
    default: nil
    }
  }

  /// The path of the file itself, where the sender wants it to be opened where it is.
  public func pathOpenedInPlace(as type: String) -> String? {
    guard let file = fileOpenedInPlace(as: type), let bytes = FileURL.path(of: Text(file.absoluteString)) else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func representation(conformingTo type: String) -> Representation? {
    guard let wanted = ContentType(Text(type), as: .asked) else { return nil }
    return representations.first { representation in
      guard let type = ContentType(Text(representation.type)) else { return false }
      return ReadingRules.plain.types.conforms(type, to: wanted)
    }
  }

  private static func read(_ file: URL) async throws(StagedoorError) -> Data {
    try await EventLoop.forLoading { _ throws(StagedoorError) in
      do { return try Data(contentsOf: file) } catch {
        throw StagedoorError(.loadFailed, "\(file.absoluteString): \(error)")
      }
    }
  }

  static func load(_ loader: @escaping Loader) async throws(StagedoorError) -> Data {
    try await EventLoop.forLoading { _ throws(StagedoorError) in
      do { return try await loader() } catch is CancellationError {
        throw .loadWasCancelled
      } catch {
        throw StagedoorError(.loadFailed, "\(error)")
      }
    }
  }
}

/// An item of a delivery that this process has taken. When the last copy is gone, the service may delete the item's data.
struct ReceivedItem: Sendable {
  let delivery: ReceivedDelivery
  let index: UInt32

  func load(_ type: String) async throws(StagedoorError) -> Data {
    let call = delivery.stagedoor
    let (descriptor, _) = try await call.call(
      "OpenItem", delivery.identifier.description, index, type, returning: OwnedFileDescriptor.self, Int64.self)
    return try await descriptor.readToEnd()
  }
}

/// Keeps a delivery's items until the last of them is gone.
final class ReceivedDelivery: Sendable {
  let stagedoor: Stagedoor
  let identifier: DeliveryIdentifier

  init(_ identifier: DeliveryIdentifier, from stagedoor: Stagedoor) {
    self.identifier = identifier
    self.stagedoor = stagedoor
  }

  deinit {
    // If the call cannot be sent, the service has gone, and its data with it.
    try? stagedoor.connection.send(
      to: InterchangeNames.bus, at: InterchangeNames.root, InterchangeNames.interchange, "ReleaseDelivery",
      identifier.description)
  }
}

extension StagedoorError {
  fileprivate static var loadWasCancelled: StagedoorError {
    StagedoorError(.taskCancelled, "the task that waited was cancelled")
  }
}

extension EventLoop {
  /// Runs `body` on a thread of its own, where it may wait for a disk or take long.
  fileprivate static func forLoading(
    _ body: @escaping @Sendable (EventLoop) async throws(StagedoorError) -> Data
  ) async throws(StagedoorError) -> Data {
    let loop: EventLoop
    do throws(ConnectionError) { loop = try EventLoop(name: "load") } catch { throw StagedoorError(error) }
    defer { loop.beginStopping() }
    return try await loop.run { isolation throws(StagedoorError) in try await body(isolation.loop) }
  }
}

extension OwnedFileDescriptor {
  /// Reads to the end, or until the task is cancelled: the descriptor can be a pipe with a slow writer.
  func readToEnd() async throws(StagedoorError) -> Data {
    try await EventLoop.forLoading { loop throws(StagedoorError) in try await self.read(on: loop) }
  }

  private func read(on loop: EventLoop) async throws(StagedoorError) -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    // A file has its own offset; an earlier reader may have left the offset at the end.
    var offset: off_t = 0
    var isPipe = false
    while true {
      if isPipe { await loop.readable(withRawValue(\.self)) }
      if Task.isCancelled { throw .loadWasCancelled }
      let count = withRawValue { number in
        isPipe ? Glibc.read(number, &buffer, buffer.count) : pread(number, &buffer, buffer.count, offset)
      }
      if count == 0 { return data }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == ESPIPE, !isPipe {
          isPipe = true
          continue
        }
        throw StagedoorError(.loadFailed, "the item cannot be read: \(String(cString: strerror(errno)))")
      }
      data.append(contentsOf: buffer[..<count])
      offset += off_t(count)
    }
  }
}
