import SceneModel
import SceneRouting

/// Everything that is known at one moment, in unordered lists.
struct ReferenceWorld {
  var manifests: [Manifest] = []
  var sessions: [Session] = []
  /// Each type occurs once.
  var preferences: [ReferencePreference] = []

  func manifest(of application: Text) -> Manifest? { manifests.first { $0.identifier == application } }

  func session(_ identifier: UniqueIdentifier) -> Session? { sessions.first { $0.identifier == identifier } }

  /// The sessions of an application that take part in routing: those whose configuration is in its manifest.
  func sessions(of manifest: Manifest) -> [Session] {
    sessions.filter { session in
      session.application == manifest.identifier
        && manifest.configurations.contains { $0.role == session.role && $0.name == session.configuration }
    }
  }
}

struct ReferencePreference {
  let type: Text
  let application: Text
}

extension Manifest {
  func configurations(of role: Text) -> [SceneConfiguration] { configurations.filter { $0.role == role } }
}

/// The condition of one session: the one that its host set, or else the one of its manifest.
enum ReferenceCondition {
  case notSet
  case set(Predicate)
  case unreadable

  init(_ stored: Text, else manifest: Predicate?) {
    if stored.isEmpty {
      self = manifest.map { .set($0) } ?? .notSet
    } else {
      self = (try? Predicate(stored)).map { .set($0) } ?? .unreadable
    }
  }

  var isSet: Bool { if case .set = self { true } else { false } }
  var isUnreadable: Bool { if case .unreadable = self { true } else { false } }

  func holds(for key: Text, unlessSet: Bool) -> Bool {
    if case .set(let predicate) = self { predicate.evaluate(key) } else { unlessSet }
  }
}

extension ReferenceWorld {
  func conditions(of session: Session) -> (can: ReferenceCondition, prefers: ReferenceCondition) {
    let configuration = manifest(of: session.application)?.configurations(of: session.role)
      .first { $0.name == session.configuration }
    return (
      can: ReferenceCondition(session.canActivatePredicate, else: configuration?.conditions.can),
      prefers: ReferenceCondition(session.prefersToActivatePredicate, else: configuration?.conditions.prefers)
    )
  }
}

private let types = Stage.types

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

  func isDeclared(by manifest: Manifest) -> Bool {
    switch self {
    case .activity(let activity): manifest.activityTypes.contains(activity.activityType)
    case .content(let representation):
      manifest.contentTypes.contains { types.conforms(representation.type, to: $0) }
    }
  }

  /// How far the nearest type that the manifest lists is from T; `nil` if it lists none.
  func distance(to manifest: Manifest) -> Int? {
    guard case .content = self else { return 0 }
    return manifest.contentTypes.compactMap { distance(to: $0) }.min()
  }

  /// For the few types of the generated worlds, by hand.
  func distance(to listed: ContentType) -> Int? {
    guard case .content(let representation) = self, types.conforms(representation.type, to: listed) else { return nil }
    let (one, other) = (types.canonical(representation.type), types.canonical(listed))
    if one == other { return 0 }
    // The same without its parameters.
    if one.name == other.name { return 1 }
    switch other.name.string {
    case "text/plain": return one.name == "text/markdown" ? 2 : nil
    case "public.image", "public.text", "x/*": return 3
    case "application/octet-stream": return 4
    case "*/*": return 5
    default: return nil
    }
  }

  func isNamed(by configuration: SceneConfiguration) -> Bool {
    switch self {
    case .activity(let activity): configuration.activityTypes.contains(activity.activityType)
    case .content(let representation):
      configuration.contentTypes.contains { types.canonical($0) == types.canonical(representation.type) }
    }
  }

  func isOfFamilyNamed(by configuration: SceneConfiguration) -> Bool {
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
    for text in [self.targetContentIdentifier, self.webpageURL] {
      if let text, !text.isEmpty { return text }
    }
    return nil
  }
}

extension Item {
  /// The first file URL or link that everyone may see. From a sandbox a file's URL is none.
  func referenceKey(isSandboxed: Bool) -> (Text, KeySource)? {
    for representation in representations where representation.visibility == .all {
      guard let url = representation.referenceURL(), !(isSandboxed && url.string.hasPrefix("file:")) else { continue }
      if case .file = representation.content { return (url, .file) }
      return (url, .link)
    }
    return nil
  }

  /// The other spellings of generated URLs.
  private static let normal: [String: Text] = ["HTTP://B:80": "http://b/", "file://localhost/x/../%61/": "file:///a"]

  fileprivate static func firstLink(in list: String) -> Text? {
    let line = list.split(whereSeparator: \.isNewline).first { !$0.hasPrefix("#") }.map { Text(String($0)) }
    return line.flatMap { URLText.isValid($0) ? normal[$0.string] ?? $0 : nil }
  }
}

extension Representation {
  fileprivate func referenceURL() -> Text? {
    switch content {
    case .file(let url): url
    case .text(let text): isLink() ? Item.firstLink(in: text.string) : nil
    case .data(let data): isLink() ? Item.firstLink(in: String(decoding: data, as: UTF8.self)) : nil
    case .stored(_, let url): url
    case .descriptor, .promise: nil
    }
  }

  private func isLink() -> Bool {
    ["text/uri-list", "public.file-url", "x-scheme-handler/http"].contains { name in
      ContentType(name).map { types.canonical($0) == types.canonical(type) } ?? false
    }
  }
}
