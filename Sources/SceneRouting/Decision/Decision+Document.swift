package import SceneModel
import TextRules

extension Decision: DocumentWriting {
  package func write(to fields: inout some DocumentFields) {
    var refusal: Refusal?
    if case .refused(let found) = outcome { refusal = found }
    explanation.write(to: &fields, outcome: outcome.name, refusal)
  }

  package var json: Text { JSONObjectWriter.text { write(to: &$0) } }
}

extension Explanation {
  /// Steps that the decision did not reach are absent.
  func write(to fields: inout some DocumentFields, outcome: Text, _ refusal: Refusal? = nil) {
    let type = routingActivity?.activityType ?? contentType
    fields.choose("application", application, applicationReason?.sentence(of: type))
    if !candidates.isEmpty {
      fields["candidates"] = candidates
      if candidatesLeftOut > 0 { fields["candidatesLeftOut"] = candidatesLeftOut }
    }
    if let reason = sessionReason {
      fields.object("chosen") { chosen in
        chosen["because"] = Text(reason.sentence)
        chosen["path"] = session.map(SessionReference.path)
        chosen["session"] = session
      }
    }
    fields.choose("configuration", configuration, configurationReason?.sentence(of: type))
    fields["contentType"] = contentType
    fields["error"] = refusal?.errorName
    if let source = keySource {
      fields.object("key") { key in
        key["from"] = source
        key["value"] = self.key
      }
    }
    fields["message"] = refusal.map { Text($0.message) }
    fields["outcome"] = outcome
    if let place = routingActivity {
      fields.object("routingActivity") { activity in
        activity["activity"] = place.activity
        activity["activityType"] = place.activityType
        activity["item"] = place.item
      }
    }
    switch rules {
    case nil: break
    case .made(let rule, let payload):
      fields.object("rule") { fields in
        fields["file"] = rule.file
        fields["line"] = rule.line
        fields["name"] = rule.name
        fields["payload"] = payload
      }
    case .passed(let failures):
      fields.list("rules", failures) { fields, failure in
        fields["because"] = failure.because
        fields["name"] = failure.name
      }
    }
  }
}

extension DocumentFields {
  fileprivate mutating func choose(_ key: StaticString, _ chosen: Text?, _ because: String?) {
    guard let chosen, let because else { return }
    object(key) { choice in
      choice["because"] = Text(because)
      choice["chosen"] = chosen
    }
  }
}

extension Candidate: DocumentWriting {
  package func write(to fields: inout some DocumentFields) {
    fields["because"] = Text(because)
    // A session without conditions is out although no *can* condition is false; the value `true` would contradict that.
    if tier != .out || can != true { fields["can"] = can }
    fields["path"] = SessionReference.path(of: session)
    // A session that only shows the key is in the highest tier too; the value of its condition would contradict that.
    if tier != .prefers || prefers != false { fields["prefers"] = prefers }
    fields["session"] = session
    fields["tier"] = tier
  }
}

// MARK: - Reasons in words

extension ApplicationReason {
  package func sentence(of type: Text?) -> String {
    let type = type?.string ?? "the type"
    return switch self {
    case .named: "the options name it"
    case .ofSession: "the session is one of its own"
    case .ofRequestingSession: "the requesting session is one of its own"
    case .preferred: "it is the preferred one for \(type)"
    case .onlyOne: "only one declares \(type)"
    case .noUnderstudy: "of those that declare the type it is the only one that is no understudy"
    case .listsType: "of those that declare the type it is the only one that lists \(type) itself"
    case .listsNearestType: "of those that declare the type it is the only one that lists the nearest type"
    case .highestRank: "of those that declare the type it has the highest LSHandlerRank"
    case .hasPreferringSession: "of those that declare the type it has a session that prefers this"
    case .activatedLast: "of those that declare the type it was used last"
    case .firstByIdentifier: "of those that declare the type it is the first by identifier"
    }
  }
}

extension ConfigurationReason {
  package func sentence(of type: Text?) -> String {
    let type = type?.string ?? "the type"
    return switch self {
    case .named: "the options name it"
    case .ofSession: "the session already has it"
    case .namesType: "the first that names \(type)"
    case .namesFamily: "the first that names a family of \(type)"
    case .namesNoTypes: "the first that names no types"
    case .firstOfRole: "the first of its role"
    }
  }
}

extension SessionReason {
  package var sentence: String {
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
