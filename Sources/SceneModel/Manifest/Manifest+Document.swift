/// Manifests in the form of an `Info.plist`. Reading a written manifest gives an equal one, if it had no faults and its roles are in the order of
/// their bytes.
extension Manifest: DocumentWriting {
  package func write(to fields: inout some DocumentFields) {
    fields["CFBundleDisplayName"] = displayName
    if !contentTypes.isEmpty {
      fields.list("CFBundleDocumentTypes", documentTypes) { fields, types in
        if let rank = handlerRanks[types[0]] { fields["LSHandlerRank"] = rank }
        fields["LSItemContentTypes"] = types.map(\.spelling)
      }
    }
    fields["CFBundleIdentifier"] = identifier
    fields["CFBundleName"] = bundleName
    fields["NSUserActivityTypes"] = activityTypes
    if isDynamic { fields["StagedoorDynamicConfiguration"] = true }
    fields["StagedoorExec"] = exec
    if forwards { fields["StagedoorForwards"] = true }
    if keptSessions != Limits.keptSessions { fields["StagedoorKeepSessions"] = keptSessions }
    if routing != .seated { fields["StagedoorRouting"] = routing }
    switch understudy {
    case .registrar: fields["StagedoorUnderstudy"] = true
    case .owner(let name): fields["StagedoorUnderstudy"] = name
    case nil: break
    }
    fields.object("UIApplicationSceneManifest") { scenes in
      if supportsMultipleScenes { scenes["UIApplicationSupportsMultipleScenes"] = true }
      scenes.set("UISceneConfigurations", .dictionary(configurationsByRole))
    }
  }

  /// The types in their order, those of one rank together.
  private var documentTypes: [[ContentType]] {
    contentTypes.reduce(into: []) { groups, type in
      if let last = groups.last?.last, rank(of: last) == rank(of: type) {
        groups[groups.count - 1].append(type)
      } else {
        groups.append([type])
      }
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
