internal import SceneModel

/// The content that a scene takes: two conditions on the `targetContentIdentifier` of a drop.
///
/// ```swift
/// let onlySeven = SceneActivationConditions(
///   can: .equals("photo-7"), prefers: .equals("photo-7"))
/// let allPhotos = SceneActivationConditions(can: "SELF BEGINSWITH 'photo-'")
/// print(onlySeven.canActivateForTargetContentIdentifierPredicate ?? "anything", allPhotos)
/// ```
///
/// A scene without conditions takes only the content that it shows already. `nil` restores the manifest's condition.
public struct SceneActivationConditions: Sendable, Hashable {
  /// If this is false, the service never chooses the scene.
  public var canActivateForTargetContentIdentifierPredicate: ActivationPredicate?
  /// If this is true, the service chooses the scene before others.
  public var prefersToActivateForTargetContentIdentifierPredicate: ActivationPredicate?

  /// Makes conditions; a missing condition is the manifest's.
  public init(can: ActivationPredicate? = nil, prefers: ActivationPredicate? = nil) {
    canActivateForTargetContentIdentifierPredicate = can
    prefersToActivateForTargetContentIdentifierPredicate = prefers
  }

  /// The scene takes the drops of this key, and no others: for a window with one document.
  ///
  /// ```swift
  /// @MainActor func show(_ photo: String, in scene: Scene) { scene.activationConditions = .only(photo) }
  /// ```
  public static func only(_ identifier: String) -> SceneActivationConditions {
    SceneActivationConditions(can: .equals(identifier), prefers: .equals(identifier))
  }
}

extension SceneActivationConditions {
  // The conditions as the service has them; "" for the manifest's.
  var can: String { canActivateForTargetContentIdentifierPredicate?.source ?? "" }
  var prefers: String { prefersToActivateForTargetContentIdentifierPredicate?.source ?? "" }
}

/// A condition on one text, `SELF`.
///
/// ```swift
/// let cats: ActivationPredicate = "SELF BEGINSWITH[c] 'cat' AND NOT SELF ENDSWITH '-draft'"
/// print(cats.matches("Cat-7"))  // true
/// print(ActivationPredicate.equals("it's"))  // SELF == "it's"
///
/// let typed = readLine() ?? "SELF LIKE 'photo-*'"
/// print(try ActivationPredicate(typed))
/// ```
public struct ActivationPredicate: Sendable, Hashable {
  /// The predicate in its original spelling.
  public let source: String

  /// Reads a predicate. ``StagedoorError/Code/invalidPredicate`` names the place of a fault.
  public init(_ source: String) throws(StagedoorError) {
    do throws(PredicateError) { self.source = try Predicate(Text(source)).source.string } catch {
      throw StagedoorError(.invalidPredicate, "\(error)")
    }
  }

  private init(known source: String) { self.source = source }

  /// Reads a session's condition; "" means that none was set. A condition that no longer parses keeps its spelling.
  init?(stored source: String) {
    if source.isEmpty { return nil }
    self.source = source
  }

  /// Takes every key.
  public static let always = ActivationPredicate(known: "TRUEPREDICATE")
  /// Takes no key.
  public static let never = ActivationPredicate(known: "FALSEPREDICATE")

  /// Takes exactly this key.
  public static func equals(_ identifier: String) -> ActivationPredicate {
    ActivationPredicate(known: "SELF == \(Text(identifier).asConstant)")
  }

  /// Takes keys that begin with this text.
  public static func begins(with prefix: String) -> ActivationPredicate {
    ActivationPredicate(known: "SELF BEGINSWITH \(Text(prefix).asConstant)")
  }

  /// Takes exactly these keys.
  public static func isOne(of identifiers: [String]) -> ActivationPredicate {
    if identifiers.isEmpty { return .never }
    let constants = identifiers.map { Text($0).asConstant }
    return ActivationPredicate(known: "SELF IN {\(constants.joined(separator: ", "))}")
  }

  /// Whether the predicate takes `identifier`; the service evaluates it in the same way. A predicate that does not parse takes no key.
  public func matches(_ identifier: String) -> Bool {
    (try? Predicate(Text(source)))?.evaluate(Text(identifier)) ?? false
  }
}

extension ActivationPredicate: ExpressibleByStringLiteral, CustomStringConvertible {
  /// A predicate in the source. A faulty predicate is a mistake of the program, and traps.
  public init(stringLiteral source: String) {
    do {
      try self.init(source)
    } catch {
      preconditionFailure("\(quoted(source)) is no predicate: \(error.message)")
    }
  }

  /// The predicate in its original spelling.
  public var description: String { source }
}
