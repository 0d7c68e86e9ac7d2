public import FoundationEssentials

/// The representations and the activities of an item.
///
/// The order of registration is the order of fidelity: register the best first.
///
/// ```swift
/// import FoundationEssentials
///
/// func dragged(photo: Data, title: String) -> DragItem {
///   var provider = ItemProvider()
///   provider.suggestedName = "\(title).png"
///   provider.registerObject(UserActivity("org.example.Gallery.openDetail", targetContentIdentifier: title))
///   provider.registerData(photo, as: "image/png")
///   provider.registerText("A picture called \(title)")
///   return DragItem(itemProvider: provider)
/// }
/// ```
///
/// The provider of a dropped item loads its data from the service:
///
/// ```swift
/// func show(_ item: DragItem) async throws {
///   let picture = try await item.itemProvider.loadDataRepresentation(as: "image/*")
///   print(picture.count)
/// }
/// ```
public struct ItemProvider: Sendable {
  /// Loads data when a host opens it. The handler checks its progress for a cancellation now and then, and may report how far it is.
  public typealias DataLoader = @Sendable (ItemProgress) async throws -> Data
  /// Makes a file when a host opens it.
  public typealias FileLoader = @Sendable (ItemProgress) async throws -> URL

  enum Source: Sendable {
    case data(Data)
    case text(String)
    case file(URL, openInPlace: Bool)
    case loader(DataLoader)
    case fileLoader(FileLoader)
    /// The service has the data.
    case delivered(ReceivedItem, file: URL?)

    var received: ReceivedItem? { if case .delivered(let item, _) = self { item } else { nil } }
  }

  struct Representation: Sendable {
    let type: String
    let visibility: Visibility
    let source: Source
  }

  /// The name for a file of the item.
  public var suggestedName: String?
  /// The activities of the item. The first activity that an application declares routes the item.
  public private(set) var userActivities: [UserActivity] = []
  private(set) var representations: [Representation] = []

  /// Makes an empty provider.
  public init() {}

  /// Makes a provider with one representation.
  init(of representation: Representation) { representations = [representation] }

  /// Makes a provider with an activity.
  public init(_ activity: UserActivity) { registerObject(activity) }

  /// Makes a provider with a file: a copy, or the file itself with `openInPlace`, as for a document that the user opens.
  public init(contentsOf file: URL, as type: String, openInPlace: Bool = false) {
    suggestedName = file.lastPathComponent
    registerFile(file, as: type, openInPlace: openInPlace)
  }

  /// The types of the representations: MIME types or uniform type identifiers, the best first.
  public var registeredTypes: [String] { representations.map(\.type) }

  // MARK: Registering

  /// Adds an activity.
  public mutating func registerObject(_ activity: UserActivity, visibility: Visibility? = nil) {
    var activity = activity
    if let visibility { activity.visibility = visibility }
    userActivities.append(activity)
  }

  /// Adds bytes.
  public mutating func registerData(_ data: Data, as type: String, visibility: Visibility = .all) {
    add(type, visibility, .data(data))
  }

  /// Adds text.
  public mutating func registerText(_ text: String, as type: String = "text/plain", visibility: Visibility = .all) {
    add(type, visibility, .text(text))
  }

  /// Adds a file. The service copies the file when the item is handed in, or the host opens it in its place.
  public mutating func registerFile(
    _ file: URL, as type: String, openInPlace: Bool = false, visibility: Visibility = .all
  ) {
    add(type, visibility, .file(file, openInPlace: openInPlace))
  }

  /// Promises bytes, which are loaded when a host opens them. This process must still run then; with ``DeliveryOptions/keepsPromises`` the service
  /// loads them when the item is handed in.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// var provider = ItemProvider()
  /// provider.registerDataRepresentation(as: "image/png") { progress in
  ///   var picture = Data()
  ///   for row in 0..<100 {
  ///     if progress.isCancelled { throw CancellationError() }
  ///     picture.append(contentsOf: [UInt8](repeating: UInt8(row), count: 1_000))
  ///     progress.update(completedByteCount: picture.count, totalByteCount: 100_000)
  ///   }
  ///   return picture
  /// }
  /// ```
  public mutating func registerDataRepresentation(
    as type: String, visibility: Visibility = .all, load: @escaping DataLoader
  ) {
    add(type, visibility, .loader(load))
  }

  /// Promises a file, which is made when a host opens it. The receiver gets the opened file, but not its name.
  public mutating func registerFileRepresentation(
    as type: String, visibility: Visibility = .all, load: @escaping FileLoader
  ) {
    add(type, visibility, .fileLoader(load))
  }

  mutating func add(_ type: String, _ visibility: Visibility, _ source: Source) {
    representations.append(Representation(type: type, visibility: visibility, source: source))
  }
}

/// One dragged item.
///
/// ```swift
/// var provider = ItemProvider(UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1"))
/// provider.suggestedName = "Tom"
/// var item = DragItem(itemProvider: provider)
/// item.localObject = "a value of this process"
/// ```
public struct DragItem: Sendable {
  /// The representations and activities of the item.
  public var itemProvider: ItemProvider
  /// An object of this process for the item. The object is never sent.
  public var localObject: (any Sendable)?

  /// Makes an item with a provider.
  public init(itemProvider: ItemProvider) { self.itemProvider = itemProvider }

  /// Makes an item that is an activity only.
  public init(_ activity: UserActivity) { self.init(itemProvider: ItemProvider(activity)) }
}
