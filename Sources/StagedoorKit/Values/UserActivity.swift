public import FoundationEssentials

/// A description of a user's work, so that another window can continue the work, also on another day.
///
/// ```swift
/// var activity = UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1")
/// activity.title = "Tom"
/// activity.userInfo = ["name": "Tom", "age": 3]
///
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.deliver(activity)
/// print(delivery.session, delivery.outcome)
/// ```
///
/// An activity is a value: `scene.userActivity?.title = "Tom"` changes the activity of that scene, and no other.
public struct UserActivity: Sendable, Hashable {
  /// The type, which an application's manifest declares in `NSUserActivityTypes`.
  public var activityType: String
  /// The key of the content. The service finds scenes by this key: see ``SceneActivationConditions``.
  public var targetContentIdentifier: String?
  /// The title that people read.
  public var title: String?
  /// Further data to continue the activity.
  public var userInfo: [String: UserInfoValue]
  /// The same content on the web. The URL is the key of an activity without a ``targetContentIdentifier``.
  public var webpageURL: URL? { didSet { webpageText = nil } }
  /// The URL as it came, if Foundation writes it in another way or does not know it: a key has its bytes.
  var webpageText: String?
  /// The keys of ``userInfo`` that are needed to continue the activity.
  public var requiredUserInfoKeys: Set<String>
  /// Words for a search.
  public var keywords: Set<String>
  /// An identifier by which the activity can be withdrawn.
  public var persistentIdentifier: String?
  /// The date after which the activity is refused.
  public var expirationDate: Date?
  /// Whether the activity may continue on another device; `nil` leaves that to the person's configuration.
  public var isEligibleForHandoff: Bool?
  /// Who may see the activity in a drag.
  public var visibility: Visibility
  /// Whether the activity is out of date. Set this on a scene's activity, and the scene's delegate fills in the changes before the activity
  /// is stored: see ``SceneDelegate/scene(_:willSave:)``. This flag is never sent.
  public var needsSave = false

  /// Makes an activity of a type.
  public init(
    _ activityType: String, targetContentIdentifier: String? = nil, title: String? = nil,
    userInfo: [String: UserInfoValue] = [:], webpageURL: URL? = nil, requiredUserInfoKeys: Set<String> = [],
    keywords: Set<String> = [], persistentIdentifier: String? = nil, expirationDate: Date? = nil,
    isEligibleForHandoff: Bool? = nil, visibility: Visibility = .all
  ) {
    self.activityType = activityType
    self.targetContentIdentifier = targetContentIdentifier
    self.title = title
    self.userInfo = userInfo
    self.webpageURL = webpageURL
    self.requiredUserInfoKeys = requiredUserInfoKeys
    self.keywords = keywords
    self.persistentIdentifier = persistentIdentifier
    self.expirationDate = expirationDate
    self.isEligibleForHandoff = isEligibleForHandoff
    self.visibility = visibility
  }
}

/// Who may see a part of a payload. For others this part is absent.
///
/// ```swift
/// var provider = ItemProvider()
/// provider.registerText("a draft", visibility: .application)
/// ```
public enum Visibility: String, Sendable, Hashable, CaseIterable {
  /// Everyone.
  case all
  /// The host of the sender's own application.
  case application
  /// The sender's own connection.
  case ownProcess
}
