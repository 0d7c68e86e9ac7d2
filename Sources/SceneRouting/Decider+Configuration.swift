import SceneModel

extension Decider {
  // MARK: 4. The configuration

  /// The named configuration, whether or not it lists the type. Otherwise the first of the role that lists the type, or a family of it, or no types
  /// at all, or else the first.
  mutating func chooseConfiguration(
    of application: Int, for subject: Subject?, _ state: State
  ) throws(Stop) -> Route {
    let route = try route(of: application, for: subject, state)
    explanation.configuration = state.applications[application].manifest?.configurations[route.configuration].name
    explanation.configurationReason = route.because
    return route
  }

  mutating func route(of application: Int, for subject: Subject?, _ state: State) throws(Stop) -> Route {
    steps -= Steps.application
    if let name = options.configuration { return try namedRoute(name, application, state) }
    let route =
      if let subject {
        subject.declared.flatMap { state.declared[$0].route(of: application, role) }
          ?? state.applications[application].makeRoute(subject.type, role, state.types, &steps)
      } else {
        state.applications[application].firstRoute(role: role)
      }
    if let route { return route }
    throw .refusal(
      .noSuchConfiguration,
      "\(state.applications[application].identifier) has no configuration in the role \(quoted(role.string))"
        + others(of: application, state))
  }

  private func namedRoute(_ name: Text, _ application: Int, _ state: State) throws(Stop) -> Route {
    let configurations = state.applications[application].manifest?.configurations ?? []
    if let place = configurations.firstIndex(where: { $0.role == role && $0.name == name }) {
      return Route(configuration: place, because: .named, eligible: ConfigurationSet([place]))
    }
    let identifier = state.applications[application].identifier
    guard let other = configurations.first(where: { $0.name == name }) else {
      throw .refusal(
        .noSuchConfiguration,
        "\(identifier) has no configuration \(quoted(name.string))" + others(of: application, state))
    }
    throw .refusal(
      .roleMismatch,
      "the configuration \(quoted(name.string)) of \(identifier) has the role \(quoted(other.role.string)), and the payload asks for the role "
        + quoted(role.string))
  }

  /// The alternatives for the message: names in the role, or else the roles. A sandbox reads those of its own application only.
  private func others(of application: Int, _ state: State) -> String {
    if request.sender.isStranger(to: state.applications[application].identifier) { return "" }
    let configurations = state.applications[application].manifest?.configurations ?? []
    let names = configurations.filter { $0.role == role }.map { quoted($0.name.string) }
    if !names.isEmpty {
      return "; there \(names.count == 1 ? "is" : "are") \(names.listed("and"))"
    }
    var roles: [String] = []
    for role in configurations.map({ quoted($0.role.string) }) where !roles.contains(role) { roles.append(role) }
    return roles.isEmpty ? "" : "; there are some in \(roles.listed("and"))"
  }
}
