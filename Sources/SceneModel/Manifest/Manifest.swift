/// What an application says of its windows: the part of its `Info.plist` that means something here.
package struct Manifest: Hashable, Sendable {
  /// Whose rules decide which of its sessions takes something.
  package enum Routing: String, CaseIterable, Sendable {
    /// A window takes what it shows or was given conditions for.
    case seated
    /// The literal rule of Apple's documentation: a window takes everything unless it says otherwise.
    case uikit
  }

  /// The application's identifier, which is also its name on the bus.
  package var identifier: Text
  package var displayName: Text?
  package var bundleName: Text?
  /// The activity types that may open its scenes.
  package var activityTypes: [Text]
  /// The content types that it takes without an activity.
  package var contentTypes: [ContentType]
  package var supportsMultipleScenes: Bool
  /// By their roles' bytes, and within each role in the order of the manifest.
  package var configurations: [SceneConfiguration]
  /// The host is asked which configuration a new session gets.
  package var isDynamic: Bool
  package var routing: Routing
  /// How many sessions without a scene are kept. Beyond that the one which was activated first goes.
  package var keptSessions: Int
  /// A command line that starts the application.
  package var exec: Text?

  package init(
    identifier: Text, displayName: Text? = nil, bundleName: Text? = nil, activityTypes: [Text] = [],
    contentTypes: [ContentType] = [], supportsMultipleScenes: Bool = false, configurations: [SceneConfiguration],
    isDynamic: Bool = false, routing: Routing = .seated,
    keptSessions: Int = Limits.keptSessions, exec: Text? = nil
  ) {
    self.identifier = identifier
    self.displayName = displayName
    self.bundleName = bundleName
    self.activityTypes = activityTypes
    self.contentTypes = contentTypes
    self.supportsMultipleScenes = supportsMultipleScenes
    self.configurations = configurations
    self.isDynamic = isDynamic
    self.routing = routing
    self.keptSessions = keptSessions
    self.exec = exec
  }

  /// What people read.
  package var name: Text {
    [displayName, bundleName].compactMap(\.self).first { !$0.isEmpty && !BuildVariable.occurs(in: $0) } ?? identifier
  }
}
