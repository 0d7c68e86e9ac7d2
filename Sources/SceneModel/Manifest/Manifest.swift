/// An application's description of its windows: the part of its `Info.plist` that the service uses.
package struct Manifest: Hashable, Sendable {
  /// The rules by which its sessions take payloads.
  package enum Routing: String, CaseIterable, Sendable {
    /// A window takes the content that it shows, or for which it has conditions.
    case seated
    /// The literal rule of Apple's documentation: a window takes everything unless its conditions say otherwise.
    case uikit
  }

  /// How much an application is for a content type.
  package enum HandlerRank: String, CaseIterable, Comparable, Sendable {
    case owner = "Owner"
    case `default` = "Default"
    case alternate = "Alternate"
    /// Only if somebody chose the application.
    case none = "None"

    /// The greater rank comes first.
    package static func < (one: Self, other: Self) -> Bool { one.order < other.order }
    private var order: Int {
      switch self {
      case .owner: 3
      case .default: 2
      case .alternate: 1
      case .none: 0
      }
    }
  }

  /// Who stands in for an application that knows nothing of this service.
  package enum Understudy: Hashable, Sendable {
    /// Whoever registers the application.
    case registrar
    /// The owner of a name on the bus.
    case owner(Text)
  }

  /// The application's identifier, which is also its name on the bus.
  package var identifier: Text
  package var displayName: Text?
  package var bundleName: Text?
  package var activityTypes: [Text]
  /// The content types that it takes without an activity.
  package var contentTypes: [ContentType]
  /// The ranks of these types that are not `default`.
  package var handlerRanks: [ContentType: HandlerRank]
  package var supportsMultipleScenes: Bool
  /// In the order of their roles' bytes, and within a role in the order of the manifest.
  package var configurations: [SceneConfiguration]
  /// Whether the host is asked for the configuration of a new session.
  package var isDynamic: Bool
  package var routing: Routing
  /// The number of sessions without a scene that are kept. Beyond it the session that was activated longest ago is discarded.
  package var keptSessions: Int
  /// Another program stands in for this application, which yields to all that others declare.
  package var understudy: Understudy?
  /// Whether its sessions stand for other places, to which its host passes on what they get.
  package var forwards: Bool
  /// A command line that starts the application.
  package var exec: Text?

  package init(
    identifier: Text, displayName: Text? = nil, bundleName: Text? = nil, activityTypes: [Text] = [],
    contentTypes: [ContentType] = [], handlerRanks: [ContentType: HandlerRank] = [:],
    supportsMultipleScenes: Bool = false, configurations: [SceneConfiguration], isDynamic: Bool = false,
    routing: Routing = .seated, keptSessions: Int = Limits.keptSessions, understudy: Understudy? = nil,
    forwards: Bool = false, exec: Text? = nil
  ) {
    self.identifier = identifier
    self.displayName = displayName
    self.bundleName = bundleName
    self.activityTypes = activityTypes
    self.contentTypes = contentTypes
    self.handlerRanks = handlerRanks
    self.supportsMultipleScenes = supportsMultipleScenes
    self.configurations = configurations
    self.isDynamic = isDynamic
    self.routing = routing
    self.keptSessions = keptSessions
    self.understudy = understudy
    self.forwards = forwards
    self.exec = exec
  }

  package func rank(of type: ContentType) -> HandlerRank { handlerRanks[type] ?? .default }

  /// The name that people read.
  package var name: Text {
    [displayName, bundleName].compactMap(\.self).first { !$0.isEmpty && !BuildVariable.occurs(in: $0) } ?? identifier
  }
}
