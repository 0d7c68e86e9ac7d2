internal import SceneModel

/// Which content a scene takes: two conditions on the `targetContentIdentifier` of what is dropped.
///
/// ```swift
/// let onlySeven = SceneActivationConditions(
///   can: .equals("photo-7"), prefers: .equals("photo-7"))
/// let allPhotos = SceneActivationConditions(can: "SELF BEGINSWITH 'photo-'")
/// print(onlySeven.canActivateForTargetContentIdentifier ?? "anything", allPhotos)
/// ```
///
/// A scene for which nothing was set takes only what it shows already. `nil` puts back what the manifest says.
public struct SceneActivationConditions: Sendable, Hashable {
  /// Where this is false, the scene is never chosen.
  public var canActivateForTargetContentIdentifier: ActivationPredicate?
  /// Where this is true, the scene is chosen before others.
  public var prefersToActivateForTargetContentIdentifier: ActivationPredicate?

  /// Conditions; what is left out is the manifest's.
  public init(can: ActivationPredicate? = nil, prefers: ActivationPredicate? = nil) {
    canActivateForTargetContentIdentifier = can
    prefersToActivateForTargetContentIdentifier = prefers
  }
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
  /// As it was written.
  public let source: String

  /// Reads a predicate; ``StagedoorError/Code/invalidPredicate`` says where it stops being one.
  public init(_ source: String) throws(StagedoorError) {
    do throws(PredicateError) {
      self.source = try Predicate(Text(source)).source.string
    } catch {
      throw StagedoorError(.invalidPredicate, "\(error)")
    }
  }

  private init(known source: String) { self.source = source }

  /// What a session has; "" where nothing was set. One that does not parse any more is shown as it is.
  init?(stored source: String) {
    if source.isEmpty { return nil }
    self.source = source
  }

  /// Takes everything.
  public static let always = ActivationPredicate(known: "TRUEPREDICATE")
  /// Takes nothing.
  public static let never = ActivationPredicate(known: "FALSEPREDICATE")

  /// Takes just this.
  public static func equals(_ identifier: String) -> ActivationPredicate {
    ActivationPredicate(known: "SELF == \(literal(identifier))")
  }

  /// Takes what begins with this.
  public static func begins(with prefix: String) -> ActivationPredicate {
    ActivationPredicate(known: "SELF BEGINSWITH \(literal(prefix))")
  }

  /// Takes just these.
  public static func isOne(of identifiers: [String]) -> ActivationPredicate {
    identifiers.isEmpty
      ? .never : ActivationPredicate(known: "SELF IN {\(identifiers.map(literal).joined(separator: ", "))}")
  }

  /// Whether it takes `identifier`, as the service will find. One that does not parse takes nothing.
  public func matches(_ identifier: String) -> Bool {
    (try? Predicate(Text(source)))?.evaluate(Text(identifier)) ?? false
  }

  private static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { literal.unicodeScalars.append("\\") }
      literal.unicodeScalars.append(scalar)
    }
    return literal + "\""
  }
}

extension ActivationPredicate: ExpressibleByStringLiteral, CustomStringConvertible {
  /// A predicate that stands in the source. A wrong one is a mistake of the program, and traps.
  public init(stringLiteral source: String) {
    do {
      try self.init(source)
    } catch {
      preconditionFailure("\(quoted(source)) is no predicate: \(error.message)")
    }
  }

  /// As it was written.
  public var description: String { source }
}
