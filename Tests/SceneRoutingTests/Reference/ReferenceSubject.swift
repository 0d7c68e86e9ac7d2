import SceneModel

/// What a payload is routed by: A and its T, or a T alone if there is no A.
enum ReferenceSubject {
  case activity(UserActivity)
  case content(Representation)

  var activity: UserActivity? {
    switch self {
    case .activity(let activity): activity
    case .content: nil
    }
  }

  var visibility: Visibility {
    switch self {
    case .activity(let activity): activity.visibility
    case .content(let representation): representation.visibility
    }
  }

  // MARK: What manifests say of T

  func isDeclared(by manifest: Manifest, _ types: TypeCatalog) -> Bool {
    switch self {
    case .activity(let activity): manifest.activityTypes.contains(activity.activityType)
    case .content(let representation):
      manifest.contentTypes.contains { types.conforms(representation.type, to: $0) }
    }
  }

  func isNamed(by configuration: SceneConfiguration, _ types: TypeCatalog) -> Bool {
    switch self {
    case .activity(let activity): configuration.activityTypes.contains(activity.activityType)
    case .content(let representation):
      configuration.contentTypes.contains { types.canonical($0) == types.canonical(representation.type) }
    }
  }

  func isOfFamilyNamed(by configuration: SceneConfiguration, _ types: TypeCatalog) -> Bool {
    switch self {
    case .activity(let activity):
      configuration.activityTypes.contains { name in
        // `com.example.*` takes every type that is longer than `com.example.` and begins with it.
        guard name.string.utf8.count > 2, name.string.hasSuffix(".*") else { return false }
        let beginning = String(name.string.dropLast())
        return activity.activityType.string.hasPrefix(beginning) && activity.activityType.string != beginning
      }
    case .content(let representation):
      configuration.contentTypes.contains { types.conforms(representation.type, to: $0) }
    }
  }
}

// MARK: - 2. The key

extension UserActivity {
  /// `targetContentIdentifier`, or else `webpageURL`; an empty string is no key.
  var referenceKey: Text? {
    for text in [targetContentIdentifier, webpageURL] {
      if let text, !text.isEmpty { return text }
    }
    return nil
  }
}

extension Item {
  /// The first file URL or link that everyone may see.
  func referenceKey(_ types: TypeCatalog) -> Text? {
    for representation in representations where representation.visibility == .all {
      switch representation.content {
      case .file(let url): return url
      case .text(let text) where representation.isLink(types):
        if let link = Item.firstLink(in: text.string) { return link }
      case .data(let data) where representation.isLink(types):
        if let link = Item.firstLink(in: String(decoding: data, as: UTF8.self)) { return link }
      case .stored(_, let url): if let url { return url }
      case .text, .data, .descriptor, .promise: continue
      }
    }
    return nil
  }

  private static func firstLink(in list: String) -> Text? {
    let line = list.split(whereSeparator: \.isNewline).first { !$0.hasPrefix("#") }.map { Text(String($0)) }
    return line.flatMap { URLText.isValid($0) ? $0 : nil }
  }
}

extension Representation {
  fileprivate func isLink(_ types: TypeCatalog) -> Bool {
    ["text/uri-list", "public.url", "public.file-url"].contains { name in
      ContentType(name).map { types.canonical($0) == types.canonical(type) } ?? false
    }
  }
}
