internal import DBus

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
}
