public import FoundationEssentials

/// What an item can be shown as, and what could be done with it.
///
/// The order of registration is the order of fidelity: the best first.
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
/// A provider of an item that was dropped here loads its data from the service:
///
/// ```swift
/// func show(_ item: DragItem) async throws {
///   let picture = try await item.itemProvider.loadData(as: "image/*")
///   print(picture.count)
/// }
/// ```
public struct ItemProvider: Sendable {
  /// Loads data when somebody wants it.
  public typealias Loader = @Sendable () async throws -> Data

  enum Source: Sendable {
    case data(Data)
    case text(String)
    case file(URL, openInPlace: Bool)
    case loader(Loader)
    /// It is with the service.
    case delivered(ReceivedItem, size: Int?, file: URL?)
  }

  struct Representation: Sendable {
    let type: String
    let visibility: Visibility
    let source: Source
  }

  /// What a file of it would be called.
  public var suggestedName: String?
  /// What could be done with it. The first that an application declares is what routes the item.
  public private(set) var userActivities: [UserActivity] = []
  private(set) var representations: [Representation] = []

  /// A provider of nothing yet.
  public init() {}

  /// A provider of an activity.
  public init(_ activity: UserActivity) { registerObject(activity) }

  /// A provider of a file.
  public init(contentsOf file: URL, as type: String) {
    suggestedName = file.lastPathComponent
    registerFile(file, as: type)
  }

  /// The types that it has: MIME types or uniform type identifiers, the best first.
  public var registeredTypes: [String] { representations.map(\.type) }

  // MARK: Registering

  /// Adds something that could be done with it.
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

  /// Adds a file. It is copied when the item is handed in, or opened where it is.
  public mutating func registerFile(
    _ file: URL, as type: String, openInPlace: Bool = false, visibility: Visibility = .all
  ) {
    add(type, visibility, .file(file, openInPlace: openInPlace))
  }

  /// Adds bytes that are loaded when the item is handed in.
  public mutating func registerData(
    as type: String, visibility: Visibility = .all, load: @escaping Loader
  ) {
    add(type, visibility, .loader(load))
  }

  mutating func add(_ type: String, _ visibility: Visibility, _ source: Source) {
    representations.append(Representation(type: type, visibility: visibility, source: source))
  }
}

/// One thing that is dragged.
///
/// ```swift
/// var provider = ItemProvider(UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1"))
/// provider.suggestedName = "Tom"
/// var item = DragItem(itemProvider: provider)
/// item.localObject = "what only this process knows of it"
/// ```
public struct DragItem: Sendable {
  /// What it can be shown as.
  public var itemProvider: ItemProvider
  /// What this process knows of it. It goes nowhere.
  public var localObject: (any Sendable)?

  /// An item of a provider.
  public init(itemProvider: ItemProvider) { self.itemProvider = itemProvider }

  /// An item that is an activity and nothing else.
  public init(_ activity: UserActivity) { self.init(itemProvider: ItemProvider(activity)) }
}
