/// Manifests in the form of an `Info.plist`. Reading a written manifest gives an equal one, if it had no faults and its roles are in the order of
/// their bytes.
extension Manifest: DocumentWriting {
  package func write(to fields: inout some DocumentFields) {
    fields["CFBundleDisplayName"] = displayName
    if !contentTypes.isEmpty {
      fields.list("CFBundleDocumentTypes", [contentTypes]) { $0["LSItemContentTypes"] = $1.map(\.spelling) }
    }
    fields["CFBundleIdentifier"] = identifier
    fields["CFBundleName"] = bundleName
    fields["NSUserActivityTypes"] = activityTypes
    if isDynamic { fields["StagedoorDynamicConfiguration"] = true }
    fields["StagedoorExec"] = exec
    if keptSessions != Limits.keptSessions { fields["StagedoorKeepSessions"] = keptSessions }
    if routing != .seated { fields["StagedoorRouting"] = routing }
    fields.object("UIApplicationSceneManifest") { scenes in
      if supportsMultipleScenes { scenes["UIApplicationSupportsMultipleScenes"] = true }
      scenes.set("UISceneConfigurations", .dictionary(configurationsByRole))
    }
  }

  private var configurationsByRole: UserInfo {
    var roles = UserInfo()
    for role in Set(configurations.map(\.role)) {
      roles[role] = .array(configurations.filter { $0.role == role }.map(\.document))
    }
    return roles
  }
}

extension SceneConfiguration: DocumentWriting {
  /// Without its role, which is its key.
  package func write(to fields: inout some DocumentFields) {
    fields["StagedoorActivityTypes"] = activityTypes
    fields["StagedoorCanActivatePredicate"] = conditions.can?.source
    fields["StagedoorContentTypes"] = contentTypes.map(\.spelling)
    if launch != .automatic { fields["StagedoorLaunch"] = launch }
    fields["StagedoorMaximumSessions"] = maximumSessions
    fields["StagedoorPrefersToActivatePredicate"] = conditions.prefers?.source
    fields["UISceneClassName"] = sceneClassName
    fields["UISceneConfigurationName"] = name
    fields["UISceneDelegateClassName"] = delegateClassName
    fields["UISceneStoryboardFile"] = storyboardFile
  }
}
