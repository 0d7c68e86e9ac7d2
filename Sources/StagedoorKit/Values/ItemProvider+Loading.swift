internal import DBus
public import FoundationEssentials
internal import Glibc
internal import SceneModel

extension ItemProvider {
  /// Says that the application needs nothing more of a dropped item, whether or not it has loaded data. Nothing can be loaded later.
  ///
  /// A move ends with ``DropOperation/move`` only if the application has loaded each item with data, or has called this for the item. Otherwise the
  /// source keeps its items.
  ///
  /// ```swift
  /// func moved(_ items: [DragItem], into archive: inout [String]) {
  ///   for item in items {
  ///     archive += item.itemProvider.userActivities.compactMap(\.targetContentIdentifier)
  ///     item.itemProvider.finishLoading()
  ///   }
  /// }
  /// ```
  ///
  /// When the application has called this for every item with data, the delivery is released at once; if items behind the sixteenth were handed on, as
  /// soon as nobody can ask for these any more. Otherwise the delivery is released with the last value that can load its items.
  public func finishLoading() {
    for representation in representations { representation.source.received?.isFinished() }
  }

  /// Whether the item has a representation that conforms to `type`: an `image/png` conforms to `image/*`.
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
    case .loader(let load): return try await Self.load(load, progress)
    case let source:
      let type = loadedType(type)
      let bytes = try await EventLoop.forLoading(progress) { loop throws(StagedoorError) in
        let (data, size) = try await source.open(type, progress)
        return try await data.readToEnd(source.bound(size), on: loop, progress)
      }
      source.received?.wasLoaded()
      return bytes
    }
  }

  /// Loads the representation of `type`, or else the best that conforms to it, into a new file in a new folder, in the folder for temporary files. Both
  /// belong to the caller, who removes both. The content is written in pieces, however large it is.
  public func loadFileRepresentation(
    as type: String, progress: ItemProgress = ItemProgress()
  ) async throws(StagedoorError) -> URL {
    let source = try source(of: type)
    let (type, name) = (loadedType(type), suggestedName)
    let file = try await EventLoop.forLoading(progress) { loop throws(StagedoorError) in
      let (data, size) = try await source.open(type, progress)
      return try await data.copy(toFileNamed: name, source.bound(size), on: loop, progress)
    }
    source.received?.wasLoaded()
    return file
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
    if let dropped = representations.first(where: { $0.source.received != nil }) { return dropped.source }
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
    case .delivered(_, let file): file
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

  /// Runs a load handler on a thread where it may take long.
  static func load<Loaded: Sendable>(
    _ loader: @escaping @Sendable (ItemProgress) async throws -> Loaded, _ progress: ItemProgress
  ) async throws(StagedoorError) -> Loaded {
    try await EventLoop.forLoading(progress) { _ throws(StagedoorError) in
      do { return try await loader(progress) } catch is CancellationError {
        throw .waitWasCancelled
      } catch let error as StagedoorError {
        throw error
      } catch {
        throw StagedoorError(.loadFailed, "\(error)")
      }
    }
  }
}

extension ItemProvider.Source {
  /// Opens the content, with its size if it is known. `type` is the type to ask the service for.
  func open(
    _ type: String, _ progress: ItemProgress
  ) async throws(StagedoorError) -> (OwnedFileDescriptor, size: Int?) {
    switch self {
    case .data(let data): return (try OwnedFileDescriptor.memoryFile(data), data.count)
    case .text(let text): return (try OwnedFileDescriptor.memoryFile(Data(text.utf8)), text.utf8.count)
    case .loader(let load):
      let data = try await ItemProvider.load(load, progress)
      return (try OwnedFileDescriptor.memoryFile(data), data.count)
    case .file(let file, _): return try await OwnedFileDescriptor.opening(file)
    case .fileLoader(let load):
      return try await OwnedFileDescriptor.opening(try await ItemProvider.load(load, progress))
    case .delivered(let item, _):
      let opened = try await item.open(type)
      progress.update(completedByteCount: 0, totalByteCount: opened.size)
      return opened
    }
  }

  /// The data of another program is bounded.
  fileprivate func bound(_ size: Int?) -> OwnedFileDescriptor.Bound {
    .init(size: size, limit: received?.delivery.loadLimit)
  }
}
