package import SceneModel

extension Decision {
  /// The decision as a document. With a delivery it is kept without its candidates, which are those of one moment.
  package func document(withCandidates: Bool = true) -> Value {
    var fields = UserInfo()
    explanation.write(to: &fields, withCandidates: withCandidates)
    fields["outcome"] = .string(outcome.name)
    if case .refused(let refusal) = outcome {
      fields["error"] = .string(refusal.errorName)
      fields["message"] = .string(Text(refusal.message))
    }
    return .dictionary(fields)
  }
}

extension Explanation {
  /// What was not reached is not there.
  fileprivate func write(to fields: inout UserInfo, withCandidates: Bool) {
    let type = routingActivity?.activityType ?? contentType
    fields["application"] = choice(application, applicationReason?.sentence(of: type))
    if withCandidates, !candidates.isEmpty {
      fields["candidates"] = .array(candidates.map(\.document))
      if candidatesLeftOut > 0 { fields["candidatesLeftOut"] = .integer(Int64(candidatesLeftOut)) }
    }
    if let sessionReason {
      var chosen: UserInfo = ["because": .string(Text(sessionReason.sentence))]
      chosen["session"] = session.map { .string(Text("\($0)")) }
      fields["chosen"] = .dictionary(chosen)
    }
    fields["configuration"] = choice(configuration, configurationReason?.sentence(of: type))
    fields["contentType"] = contentType.map(Value.string)
    fields["key"] = keySource.map { ["from": .string(Text($0.rawValue)), "value": .string(key)] }
    fields["routingActivity"] = routingActivity.map {
      [
        "activity": .integer(Int64($0.activity)), "activityType": .string($0.activityType),
        "item": .integer(Int64($0.item)),
      ]
    }
  }

  private func choice(_ chosen: Text?, _ because: String?) -> Value? {
    guard let chosen, let because else { return nil }
    return .dictionary(["because": .string(Text(because)), "chosen": .string(chosen)])
  }
}

extension Candidate {
  fileprivate var document: Value {
    var fields: UserInfo = [
      "session": .string(Text("\(session)")), "tier": .string(Text(tier.rawValue)), "because": .string(Text(because)),
    ]
    fields["can"] = can.map(Value.bool)
    fields["prefers"] = prefers.map(Value.bool)
    return .dictionary(fields)
  }
}

// MARK: - Reasons in words

extension ApplicationReason {
  fileprivate func sentence(of type: Text?) -> String {
    let type = type?.string ?? "the type"
    return switch self {
    case .named: "the options name it"
    case .ofSession: "the session is one of its own"
    case .ofRequestingSession: "the requesting session is one of its own"
    case .preferred: "it is the preferred one for \(type)"
    case .onlyOne: "only one declares \(type)"
    case .hasPreferringSession: "of those that declare the type it has a session that prefers this"
    case .activatedLast: "of those that declare the type it was used last"
    case .firstByIdentifier: "of those that declare the type it is the first by identifier"
    }
  }
}

extension ConfigurationReason {
  fileprivate func sentence(of type: Text?) -> String {
    let type = type?.string ?? "the type"
    return switch self {
    case .named: "the options name it"
    case .ofSession: "the session has it"
    case .namesType: "the first that names \(type)"
    case .namesFamily: "the first that names a family of \(type)"
    case .namesNoTypes: "the first that names no types"
    case .firstOfRole: "the first of its role"
    }
  }
}

extension SessionReason {
  fileprivate var sentence: String {
    switch self {
    case .named: "the options name it"
    case .onlyScene: "the application shows one scene, and this is it"
    case .noSceneYet: "the application shows one scene, and has none yet"
    case .policyNew: "the configuration makes a new session each time"
    case .policySingle: "the configuration has a single session, and this is it"
    case .policySingleNoneYet: "the configuration has a single session, and there is none yet"
    case .dispositionNew: "the sender asks for a new session"
    case .onlyInTier: "the only one in the highest tier"
    case .requestingSession: "the requesting session is in the highest tier"
    case .firstInTier: "the first in the highest tier: by state, then by when it was last activated and made"
    case .withoutKey: "there is no key, and an existing session will do: the first of its configuration"
    case .withoutKeyNew: "there is no key to find a session by"
    case .latest: "of the application's sessions the last that was activated"
    case .noCandidate: "no session takes it"
    }
  }
}
