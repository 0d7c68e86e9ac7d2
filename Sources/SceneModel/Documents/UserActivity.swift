/// A description of what somebody was doing, so that it can be continued elsewhere.
///
/// The fields stand in one shared box: each drop copies sessions and deliveries, which hold activities, a few times.
package struct UserActivity: Hashable, Sendable {
  private var box: Shared<Fields>

  private struct Fields: Hashable, Sendable {
    var activityType: Text
    var targetContentIdentifier: Text?
    var title: Text?
    var userInfo: UserInfo
    var webpageURL: Text?
    var requiredUserInfoKeys: [Text]
    var keywords: [Text]
    var persistentIdentifier: Text?
    var expirationDate: Instant?
    var isEligibleForHandoff: Bool?
    var visibility: Visibility
  }

  package init(
    activityType: Text, targetContentIdentifier: Text? = nil, title: Text? = nil, userInfo: UserInfo = UserInfo(),
    webpageURL: Text? = nil, requiredUserInfoKeys: [Text] = [], keywords: [Text] = [],
    persistentIdentifier: Text? = nil, expirationDate: Instant? = nil, isEligibleForHandoff: Bool? = nil,
    visibility: Visibility = .all
  ) {
    box = Shared(
      Fields(
        activityType: activityType, targetContentIdentifier: targetContentIdentifier, title: title, userInfo: userInfo,
        webpageURL: webpageURL, requiredUserInfoKeys: requiredUserInfoKeys, keywords: keywords,
        persistentIdentifier: persistentIdentifier, expirationDate: expirationDate,
        isEligibleForHandoff: isEligibleForHandoff, visibility: visibility))
  }

  package var activityType: Text {
    get { box.value.activityType }
    set { box.value.activityType = newValue }
  }
  package var targetContentIdentifier: Text? {
    get { box.value.targetContentIdentifier }
    set { box.value.targetContentIdentifier = newValue }
  }
  package var title: Text? {
    get { box.value.title }
    set { box.value.title = newValue }
  }
  package var userInfo: UserInfo {
    get { box.value.userInfo }
    set { box.value.userInfo = newValue }
  }
  package var webpageURL: Text? {
    get { box.value.webpageURL }
    set { box.value.webpageURL = newValue }
  }
  package var requiredUserInfoKeys: [Text] {
    get { box.value.requiredUserInfoKeys }
    set { box.value.requiredUserInfoKeys = newValue }
  }
  package var keywords: [Text] {
    get { box.value.keywords }
    set { box.value.keywords = newValue }
  }
  package var persistentIdentifier: Text? {
    get { box.value.persistentIdentifier }
    set { box.value.persistentIdentifier = newValue }
  }
  package var expirationDate: Instant? {
    get { box.value.expirationDate }
    set { box.value.expirationDate = newValue }
  }
  /// Whether it may continue on another device; `nil` if that is for the person to say.
  package var isEligibleForHandoff: Bool? {
    get { box.value.isEligibleForHandoff }
    set { box.value.isEligibleForHandoff = newValue }
  }
  package var visibility: Visibility {
    get { box.value.visibility }
    set { box.value.visibility = newValue }
  }

  /// The key of the activity: its content's identifier, or else its web page.
  package var key: Text? {
    if let identifier = targetContentIdentifier, !identifier.isEmpty { return identifier }
    return webpageURL.flatMap { $0.isEmpty ? nil : $0 }
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
    if type.count > Limits.name {
      throw Fault(
        .limit, at: place.key("activity_type"), "expected at most \(Limits.name) bytes, got \(type.count)")
    }
    if key.count > Limits.text {
      throw Fault(
        .limit, at: place.key("target_content_identifier"), "expected at most \(Limits.text) bytes, got \(key.count)")
    }
    try userInfo.refuseSize(at: place.key("user_info"))
    try userInfo.refuseDepth(at: place.key("user_info"))
    self.init(activityType: type, targetContentIdentifier: key.isEmpty ? nil : key, userInfo: userInfo)
  }
}

extension UserActivity {
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
    if activity.activityType.isEmpty { throw node.missing("activityType", "the type of the activity") }
    self = activity
  }

  package func write(to fields: inout some DocumentFields) {
    fields["activityType"] = activityType
    fields["expirationDate"] = (expirationDate?.rfc3339).map { Text($0) }
    fields["isEligibleForHandoff"] = isEligibleForHandoff
    fields["keywords"] = keywords
    fields["persistentIdentifier"] = persistentIdentifier
    fields["requiredUserInfoKeys"] = requiredUserInfoKeys
    fields["targetContentIdentifier"] = targetContentIdentifier
    fields["title"] = title
    fields["userInfo"] = userInfo
    if visibility != .all { fields["visibility"] = visibility }
    fields["webpageURL"] = webpageURL
  }
}
