/// Manifests as an `Info.plist` has them. What is read from one of these is equal to what was written, where it was right: no faults,
/// and its roles in the order of their bytes.
extension Manifest: DocumentWriting {
  package var document: Value {
    var fields = DocumentFields()
    fields["CFBundleIdentifier"] = identifier
    fields["CFBundleDisplayName"] = displayName
    fields["CFBundleName"] = bundleName
    fields["NSUserActivityTypes"] = activityTypes
    if !contentTypes.isEmpty {
      var types = DocumentFields()
      types["LSItemContentTypes"] = contentTypes.map(\.spelling)
      fields.set("CFBundleDocumentTypes", .array([types.value]))
    }
    fields.set("UIApplicationSceneManifest", scenes)
    if isDynamic { fields["StagedoorDynamicConfiguration"] = true }
    if routing != .seated { fields["StagedoorRouting"] = routing }
    fields["StagedoorExec"] = exec
    return fields.value
  }

  private var scenes: Value {
    var roles = UserInfo()
    for role in Set(configurations.map(\.role)) {
      roles[role] = .array(configurations.filter { $0.role == role }.map(\.document))
    }
    var fields = DocumentFields()
    if supportsMultipleScenes { fields["UIApplicationSupportsMultipleScenes"] = true }
    fields.set("UISceneConfigurations", .dictionary(roles))
    return fields.value
  }
}

extension SceneConfiguration: DocumentWriting {
  /// Without its role, which is the key that it stands under.
  package var document: Value {
    var fields = DocumentFields()
    fields["UISceneConfigurationName"] = name
    fields["UISceneDelegateClassName"] = delegateClassName
    fields["UISceneStoryboardFile"] = storyboardFile
    fields["UISceneClassName"] = sceneClassName
    fields["StagedoorActivityTypes"] = activityTypes
    fields["StagedoorContentTypes"] = contentTypes.map(\.spelling)
    if launch != .automatic { fields["StagedoorLaunch"] = launch }
    fields["StagedoorCanActivatePredicate"] = conditions.can?.source
    fields["StagedoorPrefersToActivatePredicate"] = conditions.prefers?.source
    fields.set("StagedoorMaximumSessions", maximumSessions.map { .integer(Int64($0)) })
    return fields.value
  }
}
