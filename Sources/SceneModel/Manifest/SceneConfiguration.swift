/// A kind of window that an application has.
package struct SceneConfiguration: Hashable, Sendable {
  /// Whether a drop makes a session or finds one.
  package enum Launch: String, CaseIterable, Sendable {
    case automatic
    /// A new session each time.
    case new
    /// One session only.
    case single
  }

  /// Unique in its role.
  package var name: Text
  package var role: Text
  package var delegateClassName: Text?
  package var storyboardFile: Text?
  package var sceneClassName: Text?
  /// The activity types that it lists, and families of them: `com.example.*`.
  package var activityTypes: [Text]
  package var contentTypes: [ContentType]
  package var launch: Launch
  /// The conditions that its sessions start with.
  package var conditions: ActivationConditions
  package var maximumSessions: Int?

  package init(
    name: Text, role: Text = PayloadOptions.defaultRole, delegateClassName: Text? = nil, storyboardFile: Text? = nil,
    sceneClassName: Text? = nil, activityTypes: [Text] = [], contentTypes: [ContentType] = [],
    launch: Launch = .automatic, conditions: ActivationConditions = ActivationConditions(), maximumSessions: Int? = nil
  ) {
    self.name = name
    self.role = role
    self.delegateClassName = delegateClassName
    self.storyboardFile = storyboardFile
    self.sceneClassName = sceneClassName
    self.activityTypes = activityTypes
    self.contentTypes = contentTypes
    self.launch = launch
    self.conditions = conditions
    self.maximumSessions = maximumSessions
  }

  /// Whether it lists no types, and so is for all.
  package var namesNoTypes: Bool { activityTypes.isEmpty && contentTypes.isEmpty }

  package func names(_ activityType: Text) -> Bool { activityTypes.contains(activityType) }

  package func namesFamily(of activityType: Text) -> Bool {
    activityTypes.contains { ActivityTypeFamily.family($0, contains: activityType) }
  }
}

/// A family of activity types, written `com.example.*`: all longer types that begin with `com.example.`.
package enum ActivityTypeFamily {
  package static func isFamily(_ name: Text) -> Bool { name.hasSuffix(".*") && name.count > 2 }

  package static func family(_ family: Text, contains type: Text) -> Bool {
    guard isFamily(family), type.count > family.count - 1 else { return false }
    return family.withBytes { family in
      type.withBytes { type in
        let start = UnsafeRawBufferPointer(rebasing: family.dropLast())
        return Text.areEqual(start, UnsafeRawBufferPointer(rebasing: type.prefix(start.count)))
      }
    }
  }
}
