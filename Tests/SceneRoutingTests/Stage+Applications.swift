import SceneModel

/// An application that declares some activity types, with windows of several kinds. If none are listed it has one, "Default".
func app(
  _ identifier: Text, _ activityTypes: Text..., takes contentTypes: [Text] = [], hasOneScene: Bool = false,
  routing: Manifest.Routing = .seated, ranks: [Text: Manifest.HandlerRank] = [:],
  understudy: Manifest.Understudy? = nil, forwards: Bool = false,
  @Windows _ windows: () -> [SceneConfiguration] = { [window("Default")] }
) -> Manifest {
  Manifest(
    identifier: identifier, activityTypes: activityTypes, contentTypes: contentTypes.map(asked),
    handlerRanks: Dictionary(uniqueKeysWithValues: ranks.map { (asked($0), $1) }),
    supportsMultipleScenes: !hasOneScene, configurations: windows(), routing: routing, understudy: understudy,
    forwards: forwards)
}

/// A kind of window: a configuration, with the types that it names.
func window(
  _ name: Text, _ activityTypes: Text..., takes contentTypes: [Text] = [], role: Text = PayloadOptions.defaultRole,
  launch: SceneConfiguration.Launch = .automatic, can: Text? = nil, prefers: Text? = nil, atMost limit: Int? = nil
) -> SceneConfiguration {
  SceneConfiguration(
    name: name, role: role, activityTypes: activityTypes, contentTypes: contentTypes.map(asked), launch: launch,
    conditions: ActivationConditions(can: can.map(predicate), prefers: prefers.map(predicate)), maximumSessions: limit)
}

@resultBuilder
enum Windows {
  static func buildBlock(_ windows: SceneConfiguration...) -> [SceneConfiguration] { windows }
  static func buildBlock(_ windows: [SceneConfiguration]) -> [SceneConfiguration] { windows }
}

private func predicate(_ text: Text) -> Predicate {
  guard let predicate = try? Predicate(text) else { preconditionFailure("\(text) is no predicate") }
  return predicate
}

let externalDisplay: Text = "UIWindowSceneSessionRoleExternalDisplayNonInteractive"

/// A type in a manifest, which may be a wildcard.
private func asked(_ text: Text) -> ContentType {
  guard let type = ContentType(text, as: .asked) else { preconditionFailure("\(text) is no type") }
  return type
}
