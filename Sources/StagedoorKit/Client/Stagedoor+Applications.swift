internal import DBus

extension Stagedoor {
  /// Declares an application for as long as the service runs: JSON, or a property list in XML. Declaring it again replaces it.
  ///
  /// An application that is installed has a manifest file instead.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// try await stagedoor.register(manifest: """
  ///   {
  ///     "CFBundleIdentifier": "org.example.Cats",
  ///     "NSUserActivityTypes": ["org.example.Cats.view"],
  ///     "UIApplicationSceneManifest": {
  ///       "UIApplicationSupportsMultipleScenes": true,
  ///       "UISceneConfigurations": {
  ///         "UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Cat"}]
  ///       }
  ///     }
  ///   }
  ///   """)
  /// ```
  public func register(manifest: String) async throws(StagedoorError) {
    _ = try await call("RegisterApplication", manifest, returning: ObjectPath.self)
  }

  /// Which application takes an activity type that several declare; `nil` where nobody has chosen.
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

  /// Chooses which application takes an activity type that several declare; `nil` leaves it to the service.
  public func setPreferredApplication(
    _ application: String?, for activityType: String
  ) async throws(StagedoorError) {
    try await call("SetPreferredApplication", activityType, application ?? "")
  }
}
