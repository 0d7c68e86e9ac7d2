/// A description of what somebody was doing, so that it can be continued elsewhere.
///
/// The fields stand in one shared box: each drop copies sessions and deliveries, which hold activities, a few times.
public struct UserActivity: Boxed, Hashable, Sendable {
  /// The box.
  public var fields: Shared<Fields>

  /// What an activity has.
  public struct Fields: Hashable, Sendable {
    package var activityType: Text
    package var targetContentIdentifier: Text?
    package var title: Text?
    package var userInfo: UserInfo
    package var webpageURL: Text?
    package var requiredUserInfoKeys: [Text]
    package var keywords: [Text]
    package var persistentIdentifier: Text?
    package var expirationDate: Instant?
    /// Whether it may continue on another device; `nil` if that is for the person to say.
    package var isEligibleForHandoff: Bool?
    package var visibility: Visibility
  }

  package init(
    activityType: Text, targetContentIdentifier: Text? = nil, title: Text? = nil, userInfo: UserInfo = UserInfo(),
    webpageURL: Text? = nil, requiredUserInfoKeys: [Text] = [], keywords: [Text] = [],
    persistentIdentifier: Text? = nil, expirationDate: Instant? = nil, isEligibleForHandoff: Bool? = nil,
    visibility: Visibility = .all
  ) {
    fields = Shared(
      Fields(
        activityType: activityType, targetContentIdentifier: targetContentIdentifier, title: title, userInfo: userInfo,
        webpageURL: webpageURL, requiredUserInfoKeys: requiredUserInfoKeys, keywords: keywords,
        persistentIdentifier: persistentIdentifier, expirationDate: expirationDate,
        isEligibleForHandoff: isEligibleForHandoff, visibility: visibility))
  }

  /// The key of the activity: its content's identifier, or else its web page.
  package var key: Text? {
    if let identifier = self.targetContentIdentifier, !identifier.isEmpty { return identifier }
    return self.webpageURL.flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Who may see a representation or an activity.
package enum Visibility: String, CaseIterable, Sendable {
  case all
  /// The host of the sender's own application.
  case application
  /// The sender's own connection.
  case ownProcess
}

extension UserActivity {
  /// An activity from separate arguments, with the same limits as in a document.
  package init(type: Text, key: Text, userInfo: UserInfo) throws(Fault) {
    let place = Place.document
    if type.isEmpty { throw .expected("the type of the activity", got: "\"\"", at: place.key("activity_type")) }
    if type.count > Limits.name { throw .tooLong(type.count, limit: Limits.name, at: place.key("activity_type")) }
    if key.count > Limits.text {
      throw .tooLong(key.count, limit: Limits.text, at: place.key("target_content_identifier"))
    }
    try userInfo.refuseSize(at: place.key("user_info"))
    try userInfo.refuseDepth(at: place.key("user_info"))
    self.init(activityType: type, targetContentIdentifier: key.isEmpty ? nil : key, userInfo: userInfo)
  }

  /// Reads an activity from a text inside another document; faults name the place of the text.
  package init(json text: Text, at place: Place, _ rules: ReadingRules) throws(Fault) {
    do throws(Fault) {
      try self.init(json: text, rules)
    } catch {
      throw error.below(place)
    }
  }
}

// MARK: - As a document

extension UserActivity: Document {
  private static let keys: [StaticString] = [
    "activityType", "targetContentIdentifier", "title", "userInfo", "webpageURL", "requiredUserInfoKeys", "keywords",
    "persistentIdentifier", "expirationDate", "isEligibleForHandoff", "visibility",
  ]

  package init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) {
    var activity = UserActivity(activityType: .empty)
    let fields = try node.requireFields("an activity", knowing: UserActivity.keys, rules.isStrict)
    for (key, node) in fields where !node.isNull {
      switch key {
      case "activityType": activity.activityType = try node.requireName("the type of the activity")
      case "targetContentIdentifier": activity.targetContentIdentifier = try node.requireText()
      case "title": activity.title = try node.requireText()
      case "userInfo": activity.userInfo = try node.requireDictionary()
      case "webpageURL": activity.webpageURL = try node.requireURL()
      case "requiredUserInfoKeys":
        activity.requiredUserInfoKeys = try node.list(of: "keys") { node throws(Fault) in try node.requireText() }
      case "keywords":
        activity.keywords = try node.list(of: "keywords") { node throws(Fault) in try node.requireText() }
      case "persistentIdentifier": activity.persistentIdentifier = try node.requireText()
      case "expirationDate": activity.expirationDate = try node.requireDate()
      case "isEligibleForHandoff": activity.isEligibleForHandoff = try node.requireBool()
      case "visibility": activity.visibility = try node.requireChoice(Visibility.self)
      default: break
      }
    }
    if activity.activityType.isEmpty {
      throw node.missing("activityType", "the type of the activity", among: UserActivity.keys)
    }
    self = activity
  }

  package func write(to fields: inout some DocumentFields) {
    fields["activityType"] = self.activityType
    fields["expirationDate"] = (self.expirationDate?.rfc3339).map { Text($0) }
    fields["isEligibleForHandoff"] = self.isEligibleForHandoff
    fields["keywords"] = self.keywords
    fields["persistentIdentifier"] = self.persistentIdentifier
    fields["requiredUserInfoKeys"] = self.requiredUserInfoKeys
    fields["targetContentIdentifier"] = self.targetContentIdentifier
    fields["title"] = self.title
    fields["userInfo"] = self.userInfo
    if self.visibility != .all { fields["visibility"] = self.visibility }
    fields["webpageURL"] = self.webpageURL
  }
}
