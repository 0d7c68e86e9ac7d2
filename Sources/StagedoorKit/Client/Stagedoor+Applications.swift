internal import DBus
internal import InterchangeWire
internal import SceneModel

extension Stagedoor {
  /// Declares an application for as long as the service runs: JSON, or a property list in XML. Declaring it again replaces it.
  ///
  /// An installed application has a manifest file instead.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let stagedoor = try await Stagedoor.connect()
  /// try await stagedoor.register(manifest: String(contentsOf: URL(filePath: "Info.plist"), encoding: .utf8))
  /// ```
  public func register(manifest: String) async throws(StagedoorError) {
    _ = try await call("RegisterApplication", manifest, returning: ObjectPath.self)
  }

  /// The application that was chosen for an activity type which several applications declare; `nil` if none was chosen.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// try await stagedoor.setPreferredApplication("org.example.Cats", for: "org.example.view")
  /// print(try await stagedoor.preferredApplication(for: "org.example.view") ?? "whoever was last")
  /// ```
  public func preferredApplication(for activityType: String) async throws(StagedoorError) -> String? {
    let identifier = try await call("GetPreferredApplication", activityType, returning: String.self)
    return identifier.isEmpty ? nil : identifier
  }

  /// Chooses the application for an activity type which several applications declare; `nil` leaves the choice to the service.
  public func setPreferredApplication(
    _ application: String?, for activityType: String
  ) async throws(StagedoorError) {
    try await call("SetPreferredApplication", activityType, application ?? "")
  }

  /// The applications, by their identifiers.
  public func applications() async throws(StagedoorError) -> [ApplicationSummary] {
    try await call("ListApplications", returning: [Structure<String, ObjectPath, String, Bool>].self).map {
      ApplicationSummary(identifier: $0.members.0, name: $0.members.2, isHostAttached: $0.members.3)
    }
  }

  /// One application. Throws ``StagedoorError/Code/noSuchApplication`` if it does not exist.
  public func application(_ identifier: String) async throws(StagedoorError) -> ApplicationDetails {
    do throws(StagedoorError) {
      let properties = try await call(
        "GetAll", InterchangeNames.application.rawValue, at: InterchangeNames.path(ofApplication: Text(identifier)),
        in: Self.properties, returning: Properties.self)
      return try ApplicationDetails(identifier, properties)
    } catch  where error.code == .unknownObject {
      throw StagedoorError(.noSuchApplication, "there is no application \(quoted(identifier))")
    }
  }

  /// The applications that take an activity type or a content type. A payload of the type would go to the first.
  public func handlers(of type: String) async throws(StagedoorError) -> [(identifier: String, name: String)] {
    try await call("ListHandlers", type, returning: [Structure<String, String>].self)
      .map { (identifier: $0.members.0, name: $0.members.1) }
  }

  /// The types with an application that somebody has chosen, and that application.
  public func preferredApplications() async throws(StagedoorError) -> [(type: String, application: String)] {
    try await call("ListPreferredApplications", returning: [Structure<String, String>].self)
      .map { (type: $0.members.0, application: $0.members.1) }
  }

  /// The person's rules, in the order in which they are tried, and how many deliveries each has made since the service started.
  package func rules() async throws(StagedoorError) -> [(name: String, file: String, line: Int, matches: UInt64)] {
    try await call("ListRules", returning: [RuleRow].self)
      .map { (name: $0.members.0, file: $0.members.1, line: Int($0.members.2), matches: $0.members.3) }
  }

  /// Reverses ``register(manifest:)``. The sessions stay, and take no part in routing.
  public func unregister(_ application: String) async throws(StagedoorError) {
    try await call("UnregisterApplication", application)
  }

  /// The version of the service's interface.
  public func version() async throws(StagedoorError) -> UInt32 { try await property("Version") }
}

extension ApplicationDetails {
  fileprivate init(_ identifier: String, _ properties: [String: Variant]) throws(StagedoorError) {
    func value<Value: BusValue>(_ name: String, or missing: Value) throws(StagedoorError) -> Value {
      try properties[name]?.read() ?? missing
    }
    self.init(
      identifier: identifier, name: try value("Name", or: identifier),
      activityTypes: try value("ActivityTypes", or: []), contentTypes: try value("ContentTypes", or: []),
      supportsMultipleScenes: try value("SupportsMultipleScenes", or: false),
      configurations: try value("Configurations", or: [ConfigurationRow]()).map {
        Configuration(role: $0.members.0, name: $0.members.1, activityTypes: $0.members.2)
      },
      isHostAttached: try value("HostAttached", or: false), manifestPath: try value("ManifestPath", or: ""),
      isUnderstudied: try value("Understudied", or: false))
  }
}
