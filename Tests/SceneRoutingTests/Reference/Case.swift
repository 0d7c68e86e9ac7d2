import SceneModel
import SceneRouting
import SceneTestSupport

struct Case {
  var world: ReferenceWorld
  var request: Request

  func state() -> State {
    var state = State(types: Stage.types, isComplete: true)
    for manifest in world.manifests { state.register(manifest) }
    for session in world.sessions { state.update(session) }
    for preference in world.preferences { state.setPreferredApplication(preference.application, for: preference.type) }
    return state
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
    func removeEach<Element>(of path: WritableKeyPath<Case, [Element]>) {
      for index in self[keyPath: path].indices { add { $0[keyPath: path].remove(at: index) } }
    }
    func set<Value: Equatable>(_ path: WritableKeyPath<Case, Value>, to plain: Value) {
      if self[keyPath: path] != plain { add { $0[keyPath: path] = plain } }
    }
    removeEach(of: \.world.manifests)
    for (index, manifest) in world.manifests.enumerated() {
      set(\.world.manifests[index].contentTypes, to: [])
      set(\.world.manifests[index].handlerRanks, to: [:])
      set(\.world.manifests[index].understudy, to: nil)
      removeEach(of: \.world.manifests[index].configurations)
      for (part, configuration) in manifest.configurations.enumerated() {
        let plain = SceneConfiguration(name: configuration.name, role: configuration.role)
        set(\.world.manifests[index].configurations[part], to: plain)
      }
    }
    removeEach(of: \.world.sessions)
    for index in world.sessions.indices {
      set(\.world.sessions[index].canActivatePredicate, to: "")
      set(\.world.sessions[index].prefersToActivatePredicate, to: "")
      set(\.world.sessions[index].userActivity, to: nil)
    }
    removeEach(of: \.world.preferences)
    set(\.request.payload.options.requestingSession, to: nil)
    if request.payload.items.count > 1 { removeEach(of: \.request.payload.items) }
    for index in request.payload.items.indices {
      removeEach(of: \.request.payload.items[index].activities)
      removeEach(of: \.request.payload.items[index].representations)
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

// MARK: - Laws

extension Case {
  func brokenLaw() -> String? {
    brokenLaw(decided(state(), request, at: WorldGenerator.now))
  }

  /// How a decision differs from what the rules say, if it does.
  func brokenLaw(_ decision: Decision) -> String? {
    let answer = ReferenceAnswer(decision, to: request)
    let wanted = ReferenceRouter(world: world, request: request).answer()
    return answer == wanted ? nil : "it is\n\(answer)\nand by the rules\n\(wanted)"
  }
}
