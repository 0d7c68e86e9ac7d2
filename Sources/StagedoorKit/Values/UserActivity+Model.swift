internal import FoundationEssentials
internal import SceneModel

// Conversion to and from documents.
extension UserActivity {
  func model(at place: Place = .document) throws(StagedoorError) -> SceneModel.UserActivity {
    SceneModel.UserActivity(
      activityType: Text(activityType), targetContentIdentifier: targetContentIdentifier.map { Text($0) },
      title: title.map { Text($0) }, userInfo: try SceneModel.UserInfo(userInfo, at: place.key("userInfo")),
      webpageURL: (webpageURL?.absoluteString).map { Text($0) },
      requiredUserInfoKeys: requiredUserInfoKeys.sorted().map { Text($0) },
      keywords: keywords.sorted().map { Text($0) },
      persistentIdentifier: persistentIdentifier.map { Text($0) },
      expirationDate: try expirationDate?.instant(at: place.key("expirationDate")),
      visibility: SceneModel.Visibility(visibility))
  }

  init(_ model: SceneModel.UserActivity) {
    self.init(
      model.activityType.string, targetContentIdentifier: model.targetContentIdentifier?.string,
      title: model.title?.string, userInfo: [String: UserInfoValue](model.userInfo),
      webpageURL: (model.webpageURL?.string).flatMap { URL(string: $0) },
      requiredUserInfoKeys: Set(model.requiredUserInfoKeys.map(\.string)), keywords: Set(model.keywords.map(\.string)),
      persistentIdentifier: model.persistentIdentifier?.string,
      expirationDate: model.expirationDate.map { Date($0) }, visibility: Visibility(model.visibility))
  }

  /// The activity of a document; `nil` for "".
  init?(json: String) throws(StagedoorError) {
    if json.isEmpty { return nil }
    do throws(Fault) {
      self.init(try SceneModel.UserActivity(json: Text(json), ReadingRules.plain))
    } catch {
      throw .unexpectedReply("an activity: \(error)")
    }
  }

  func json() throws(StagedoorError) -> String { try model().json.string }
}

extension ReadingRules {
  /// Rules without the desktop's types: the service, which knows these types, has checked the documents that this library reads.
  static let plain = ReadingRules(types: TypeCatalog())
}

extension SceneModel.Visibility {
  init(_ visibility: Visibility) { self = Self(rawValue: visibility.rawValue) ?? .ownProcess }
}

extension Visibility {
  init(_ model: SceneModel.Visibility) { self = Self(rawValue: model.rawValue) ?? .ownProcess }
}
