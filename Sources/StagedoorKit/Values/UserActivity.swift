public import FoundationEssentials

/// What somebody was doing, in a form in which it can be taken up elsewhere: in another window, or another day.
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
/// It is a value: `scene.userActivity?.title = "Tom"` changes what that scene shows, and nothing else.
public struct UserActivity: Sendable, Hashable {
  /// What is done: a type that an application's manifest declares in `NSUserActivityTypes`.
  public var activityType: String
  /// What it is done with. Scenes are found by it: see ``SceneActivationConditions``.
  public var targetContentIdentifier: String?
  /// What people read.
  public var title: String?
  /// All else that it takes to go on.
  public var userInfo: [String: UserInfoValue]
  /// The same on the web. It finds scenes where there is no ``targetContentIdentifier``.
  public var webpageURL: URL?
  /// The keys of ``userInfo`` that whoever goes on cannot do without.
  public var requiredUserInfoKeys: Set<String>
  /// Words to find it by.
  public var keywords: Set<String>
  /// What it can be called back by.
  public var persistentIdentifier: String?
  /// When it is of no use any more.
  public var expirationDate: Date?
  /// Who may see it in a drag.
  public var visibility: Visibility
  /// Whether it lags behind what the scene shows. Set it on a scene's activity, and the scene's delegate is asked to fill it in
  /// before it is stored: see ``SceneDelegate/scene(_:willSave:)``. It goes nowhere.
  public var needsSave = false

  /// An activity of a type.
  public init(
    _ activityType: String, targetContentIdentifier: String? = nil, title: String? = nil,
    userInfo: [String: UserInfoValue] = [:], webpageURL: URL? = nil, requiredUserInfoKeys: Set<String> = [],
    keywords: Set<String> = [], persistentIdentifier: String? = nil, expirationDate: Date? = nil,
    visibility: Visibility = .all
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
    self.visibility = visibility
  }
}

/// Who may see a part of what is dragged. For others it is not there at all.
///
/// ```swift
/// var provider = ItemProvider()
/// provider.registerText("a draft", visibility: .application)
/// ```
public enum Visibility: String, Sendable, Hashable, CaseIterable {
  /// Everyone.
  case all
  /// Whoever hosts the scenes of the sender's own application.
  case application
  /// The sender's own connection.
  case ownProcess
}
