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

  /// Loads the representation of `type`, or else the best that conforms to it. Data that the service keeps can be loaded while this provider exists,
  /// and for at most ten minutes after the application took the delivery.
  ///
  /// - Parameters:
  ///   - type: A MIME type or a uniform type identifier, also with a wildcard such as `image/*`.
  ///   - progress: Counts the bytes, and can cancel the load.
  public func loadDataRepresentation(
    as type: String, progress: ItemProgress = ItemProgress()
  ) async throws(StagedoorError) -> Data {
    switch try source(of: type) {
    case .data(let data): return data
    case .text(let text): return Data(text.utf8)
    case .file(let file, _): return try await Self.read(file)
    case .loader(let load): return try await Self.load(load, progress)
    case .fileLoader(let load): return try await Self.read(try await Self.load(load, progress))
    case .delivered(let item, _, _): return try await item.load(loadedType(type), progress)
    }
  }

  /// Loads the representation of `type`, or else the best that conforms to it, into a new file, which belongs to the caller, in the folder for
  /// temporary files.
  public func loadFileRepresentation(
    as type: String, progress: ItemProgress = ItemProgress()
  ) async throws(StagedoorError) -> URL {
    let data = try await loadDataRepresentation(as: type, progress: progress)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let name = suggestedName.flatMap { $0.split(separator: "/").last.map(String.init) } ?? "item"
    let file = folder.appending(path: name)
    return try await EventLoop.forLoading { _ throws(StagedoorError) in
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: file)
        return file
      } catch {
        throw StagedoorError(.loadFailed, "\(file.path): \(error)")
      }
    }
  }

  /// Returns the file itself if its sender wants it to be opened in its place, or else a copy.
  public func loadInPlace(
    as type: String, progress: ItemProgress = ItemProgress()
  ) async throws(StagedoorError) -> (file: URL, isInPlace: Bool) {
    if let file = fileOpenedInPlace(as: type) { return (file, true) }
    return (try await loadFileRepresentation(as: type, progress: progress), false)
  }

  private func source(of type: String) throws(StagedoorError) -> Source {
    if let representation = representation(conformingTo: type) { return representation.source }
    // The service knows all types of the desktop; this module knows the common ones only.
    for representation in representations {
      if case .delivered = representation.source { return representation.source }
    }
    let types = registeredTypes.joined(separator: ", ")
    throw StagedoorError(
      .noSuchItem,
      "the item has no representation of the type \(quoted(type)): it has \(types.isEmpty ? "nothing" : types)")
  }

  /// The type to ask the service for.
  private func loadedType(_ type: String) -> String { representation(conformingTo: type)?.type ?? type }

  /// Loads the representation of `type`, or else the best that conforms to it, as text.
  public func loadText(as type: String = "text/plain") async throws(StagedoorError) -> String {
    String(decoding: try await loadDataRepresentation(as: type), as: UTF8.self)
  }

  /// The file itself, if the sender wants the file to be opened in its place.
  public func fileOpenedInPlace(as type: String) -> URL? {
    switch representation(conformingTo: type)?.source {
    case .file(let file, openInPlace: true): file
    case .delivered(_, _, let file): file
    default: nil
    }
  }

  /// The path of the file itself, if the sender wants it to be opened in its place.
  public func pathOpenedInPlace(as type: String) -> String? {
    guard let file = fileOpenedInPlace(as: type), let bytes = FileURL.path(of: Text(file.absoluteString)) else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func representation(conformingTo type: String) -> Representation? {
    guard let wanted = ContentType(Text(type), as: .asked) else { return nil }
    let typed = representations.compactMap { representation in
      ContentType(Text(representation.type)).map { (type: $0, representation) }
    }
    // As the service chooses: the type itself, or else the first that conforms to it.
    let types = ReadingRules.plain.types
    let found =
      typed.first { types.isSame($0.type, as: wanted) } ?? typed.first { types.conforms($0.type, to: wanted) }
    return found?.1
  }

  private static func read(_ file: URL) async throws(StagedoorError) -> Data {
    try await EventLoop.forLoading { _ throws(StagedoorError) in
      do { return try Data(contentsOf: file) } catch {
        throw StagedoorError(.loadFailed, "\(file.absoluteString): \(error)")
      }
    }
  }

  /// Runs a load handler on a thread where it may take long.
  static func load<Loaded: Sendable>(
    _ loader: @escaping @Sendable (ItemProgress) async throws -> Loaded, _ progress: ItemProgress
  ) async throws(StagedoorError) -> Loaded {
    try await EventLoop.forLoading { loop throws(StagedoorError) in
      if progress.isCancelled { throw .loadWasCancelled }
      let loading = loop.task { try await loader(progress) }
      progress.whenCancelled { loading.cancel() }
      do {
        return try await withTaskCancellationHandler {
          try await loading.value
        } onCancel: {
          progress.cancel()
        }
      } catch is CancellationError {
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

  func load(_ type: String, _ progress: ItemProgress = ItemProgress()) async throws(StagedoorError) -> Data {
    let (descriptor, size) = try await open(type)
    progress.update(completedByteCount: 0, totalByteCount: size)
    return try await descriptor.readToEnd(progress)
  }

  /// Opens the item. A source of promised data may take up to a minute for its answer.
  func open(_ type: String) async throws(StagedoorError) -> (OwnedFileDescriptor, size: Int?) {
    let (descriptor, size) = try await delivery.stagedoor.call(
      "OpenItem", delivery.identifier.description, index, type, upTo: .seconds(60),
      returning: OwnedFileDescriptor.self, Int64.self)
    return (descriptor, size < 0 ? nil : Int(size))
  }
}

/// Keeps a delivery's items until the last of them is gone.
final class ReceivedDelivery: Sendable {
  let stagedoor: Stagedoor
  let identifier: DeliveryIdentifier
  /// Whether the service hears of it when the last item is gone.
  private let isReleased: Bool

  init(_ identifier: DeliveryIdentifier, from stagedoor: Stagedoor, isReleased: Bool) {
    self.identifier = identifier
    self.stagedoor = stagedoor
    self.isReleased = isReleased
  }

  deinit {
    if !isReleased { return }
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
  fileprivate static func forLoading<Loaded: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws(StagedoorError) -> Loaded
  ) async throws(StagedoorError) -> Loaded {
    let loop: EventLoop
    do throws(ConnectionError) { loop = try EventLoop(name: "load") } catch { throw StagedoorError(error) }
    defer { loop.beginStopping() }
    return try await loop.run { isolation throws(StagedoorError) in try await body(isolation.loop) }
  }
}

extension OwnedFileDescriptor {
  /// Reads to the end, or until the task is cancelled: the descriptor can be a pipe with a slow writer.
  func readToEnd(_ progress: ItemProgress = ItemProgress()) async throws(StagedoorError) -> Data {
    try await EventLoop.forLoading { loop throws(StagedoorError) in
      let reading = loop.task { await self.read(on: loop, progress) }
      progress.whenCancelled { reading.cancel() }
      return try await withTaskCancellationHandler {
        await reading.value
      } onCancel: {
        reading.cancel()
      }.get()
    }
  }

  private func read(on loop: EventLoop, _ progress: ItemProgress) async -> Result<Data, StagedoorError> {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    // A file has its own offset; an earlier reader may have left the offset at the end.
    var offset: off_t = 0
    var isPipe = false
    while true {
      if isPipe { await loop.readable(withRawValue(\.self)) }
      if Task.isCancelled { return .failure(.loadWasCancelled) }
      let count = withRawValue { number in
        isPipe ? Glibc.read(number, &buffer, buffer.count) : pread(number, &buffer, buffer.count, offset)
      }
      if count == 0 { return .success(data) }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == ESPIPE, !isPipe {
          isPipe = true
          continue
        }
        return .failure(StagedoorError(.loadFailed, "the item cannot be read: \(String(cString: strerror(errno)))"))
      }
      data.append(contentsOf: buffer[..<count])
      offset += off_t(count)
      progress.update(completedByteCount: data.count)
    }
  }
}
