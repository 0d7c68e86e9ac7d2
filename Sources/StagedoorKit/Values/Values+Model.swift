internal import FoundationEssentials
internal import SceneModel

// Conversion to and from documents and their values.
extension UserActivity {
  func model(at place: Place = .document) throws(StagedoorError) -> SceneModel.UserActivity {
    SceneModel.UserActivity(
      activityType: Text(activityType), targetContentIdentifier: targetContentIdentifier.map { Text($0) },
      title: title.map { Text($0) }, userInfo: try SceneModel.UserInfo(userInfo, at: place.key("userInfo")),
      webpageURL: (webpageText ?? webpageURL?.absoluteString).map { Text($0) },
      requiredUserInfoKeys: requiredUserInfoKeys.sorted().map { Text($0) },
      keywords: keywords.sorted().map { Text($0) }, persistentIdentifier: persistentIdentifier.map { Text($0) },
      expirationDate: try expirationDate?.instant(at: place.key("expirationDate")),
      isEligibleForHandoff: isEligibleForHandoff,
      visibility: SceneModel.Visibility(visibility))
  }

  init(_ model: SceneModel.UserActivity) {
    self.init(
      model.activityType.string, targetContentIdentifier: model.targetContentIdentifier?.string,
      title: model.title?.string, userInfo: [String: UserInfoValue](model.userInfo),
      webpageURL: (model.webpageURL?.string).flatMap { URL(string: $0) },
      requiredUserInfoKeys: Set(model.requiredUserInfoKeys.map(\.string)), keywords: Set(model.keywords.map(\.string)),
      persistentIdentifier: model.persistentIdentifier?.string,
      expirationDate: model.expirationDate.map { Date($0) }, isEligibleForHandoff: model.isEligibleForHandoff,
      visibility: Visibility(model.visibility))
    if let text = model.webpageURL?.string, webpageURL?.absoluteString != text { webpageText = text }
  }

  /// The activity of a document; `nil` for "".
  init?(json: String) throws(StagedoorError) {
    if json.isEmpty { return nil }
    do throws(Fault) { self.init(try SceneModel.UserActivity(json: Text(json), ReadingRules.plain)) } catch {
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

extension UserInfoValue {
  /// The error names `place` if the value cannot be written.
  func model(at place: Place) throws(StagedoorError) -> SceneModel.Value {
    switch self {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let value): return .integer(Int64(value))
    case .double(let value):
      guard value.isFinite else { throw .invalidPayload(at: place, "expected a finite number, got \(value)") }
      return .double(value)
    case .string(let value): return .string(Text(value))
    case .data(let value): return .data([UInt8](value))
    case .date(let value): return .date(try value.instant(at: place))
    case .uuid(let value): return .uuid(Text(value.uuidString))
    case .url(let value):
      let text = Text(value.absoluteString)
      guard URLText.isValid(text) else {
        throw .invalidPayload(at: place, "expected an absolute URL, got \(quoted(text.string))")
      }
      return .url(text)
    case .array(let values):
      return .array(
        try values.enumerated().map { index, value throws(StagedoorError) in try value.model(at: place.index(index)) })
    case .set(let values):
      return .set(ValueSet(try values.map { value throws(StagedoorError) in try value.model(at: place) }))
    case .dictionary(let values): return .dictionary(try SceneModel.UserInfo(values, at: place))
    }
  }

  init(_ model: SceneModel.Value) {
    self =
      switch model {
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(Int(value))
      case .double(let value): .double(value)
      case .string(let value): .string(value.string)
      case .data(let value): .data(Data(value))
      case .date(let value): .date(Date(value))
      // A UUID or a URL that Foundation refuses is kept as text.
      case .uuid(let value): UUID(uuidString: value.string).map { .uuid($0) } ?? .string(value.string)
      case .url(let value): URL(string: value.string).map { .url($0) } ?? .string(value.string)
      case .array(let values): .array(values.map { UserInfoValue($0) })
      case .set(let set): .set(Set(set.elements.map { UserInfoValue($0) }))
      case .dictionary(let values): .dictionary([String: UserInfoValue](values))
      }
  }
}

extension SceneModel.UserInfo {
  init(_ values: [String: UserInfoValue], at place: Place) throws(StagedoorError) {
    self.init()
    for (key, value) in values { self[Text(key)] = try value.model(at: place.key(Text(key))) }
  }
}

extension [String: UserInfoValue] {
  init(_ model: SceneModel.UserInfo) {
    // Keys with different bytes can be equal in Swift, which compares characters.
    self.init(
      model.entries.map { ($0.key.string, UserInfoValue($0.value)) }, uniquingKeysWith: { first, _ in first })
  }
}

extension Date {
  /// In the present centuries a double distinguishes microseconds.
  init(_ instant: Instant) { self.init(timeIntervalSince1970: Double(instant.microseconds) / 1_000_000) }

  func instant(at place: Place) throws(StagedoorError) -> Instant {
    let seconds = timeIntervalSince1970
    // From the year 0 to the end of 9999, whose last microseconds are no doubles and were rounded up.
    let end = 253_402_300_800
    guard seconds >= -62_167_219_200, seconds <= Double(end) else {
      throw .invalidPayload(at: place, "expected a date in the years 0 to 9999")
    }
    return Instant(microseconds: min(Int64((seconds * 1_000_000).rounded()), Int64(end) * 1_000_000 - 1))
  }
}

extension Value {
  /// Reads a document that the service wrote.
  init(document json: String) throws(StagedoorError) {
    do throws(Fault) { self = try JSON.value(Text(json), atMost: .max, values: .max) } catch {
      throw .unexpectedReply("a document: \(error)")
    }
  }
}
