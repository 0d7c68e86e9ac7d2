import SceneModel
import SceneRouting
import SceneTestSupport

/// A world, and a request in it.
struct Case {
  var world: ReferenceWorld
  var request: Request

  func state(_ types: TypeCatalog) -> State {
    var state = State(types: types, isComplete: true)
    for manifest in world.manifests { state.register(manifest) }
    for session in world.sessions { state.update(session) }
    for preference in world.preferences { state.setPreferredApplication(preference.application, for: preference.type) }
    return state
  }

  func answer(_ types: TypeCatalog) -> ReferenceAnswer {
    ReferenceRouter(world: world, types: types, request: request, now: WorldGenerator.now).answer()
  }

  // MARK: - Shrinking

  /// The case with one thing less, as long as it still breaks the law.
  func shrunk(_ breaks: (Case) -> Bool) -> Case {
    var smallest = self
    while let smaller = smallest.smaller().first(where: breaks) { smallest = smaller }
    return smallest
  }

  private func smaller() -> [Case] {
    var cases: [Case] = []
    func add(_ change: (inout Case) -> Void) {
      var changed = self
      change(&changed)
      cases.append(changed)
    }
    for index in world.manifests.indices {
      add { $0.world.manifests.remove(at: index) }
      if !world.manifests[index].contentTypes.isEmpty { add { $0.world.manifests[index].contentTypes = [] } }
      if !world.manifests[index].handlerRanks.isEmpty { add { $0.world.manifests[index].handlerRanks = [:] } }
      if world.manifests[index].understudy != nil { add { $0.world.manifests[index].understudy = nil } }
      for part in world.manifests[index].configurations.indices {
        add { $0.world.manifests[index].configurations.remove(at: part) }
        let plain = SceneConfiguration(
          name: world.manifests[index].configurations[part].name, role: world.manifests[index].configurations[part].role
        )
        if world.manifests[index].configurations[part] != plain {
          add { $0.world.manifests[index].configurations[part] = plain }
        }
      }
    }
    for index in world.sessions.indices {
      add { $0.world.sessions.remove(at: index) }
      if !world.sessions[index].canActivatePredicate.isEmpty {
        add { $0.world.sessions[index].canActivatePredicate = "" }
      }
      if !world.sessions[index].prefersToActivatePredicate.isEmpty {
        add { $0.world.sessions[index].prefersToActivatePredicate = "" }
      }
      if world.sessions[index].userActivity != nil { add { $0.world.sessions[index].userActivity = nil } }
    }
    for index in world.preferences.indices { add { $0.world.preferences.remove(at: index) } }
    if request.payload.options.requestingSession != nil { add { $0.request.payload.options.requestingSession = nil } }
    for index in request.payload.items.indices {
      if request.payload.items.count > 1 { add { $0.request.payload.items.remove(at: index) } }
      for part in request.payload.items[index].activities.indices {
        add { $0.request.payload.items[index].activities.remove(at: part) }
      }
      for part in request.payload.items[index].representations.indices {
        add { $0.request.payload.items[index].representations.remove(at: part) }
      }
    }
    return cases
  }
}

// MARK: - Printing

extension Case: CustomStringConvertible {
  var description: String {
    var lines: [String] = []
    for manifest in world.manifests {
      lines.append(
        "\(manifest.identifier): \(manifest.activityTypes) \(manifest.contentTypes) \(manifest.routing)"
          + (manifest.supportsMultipleScenes ? "" : ", one scene")
          + (manifest.understudy == nil ? "" : ", an understudy")
          + " \(manifest.handlerRanks)")
      lines += manifest.configurations.map { "  \($0.shown)" }
    }
    lines += world.sessions.map { "session \($0.json)" }
    lines += world.preferences.map { "\($0.type) is preferred by \($0.application)" }
    lines.append("request \(request.payload.json) from \(request.sender)")
    return lines.joined(separator: "\n")
  }
}

extension SceneConfiguration {
  fileprivate var shown: String {
    var text = "\(role)/\(name): \(activityTypes) \(contentTypes) \(launch)"
    if let can = conditions.can { text += ", can \(can)" }
    if let prefers = conditions.prefers { text += ", prefers \(prefers)" }
    if let maximumSessions { text += ", at most \(maximumSessions)" }
    return text
  }
}
