internal import SceneModel

/// Which session a payload belongs to, and why.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let activity = UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1")
/// let decision = try await stagedoor.explain(Payload(activity))
/// for candidate in decision.candidates { print(candidate.session, candidate.tier, candidate.reason) }
/// ```
public struct Decision: Sendable, Hashable {
  /// What would be done.
  ///
  /// ```swift
  /// func isNew(_ decision: Decision) -> Bool { decision.outcome == .delivered(.created) }
  /// ```
  public enum Outcome: Sendable, Hashable {
    /// It goes to a session.
    case delivered(Delivery.Outcome)
    /// It goes nowhere.
    case refused(StagedoorError.Code)
  }

  /// Something that was chosen, and why.
  ///
  /// ```swift
  /// func why(_ decision: Decision) -> String { decision.application?.reason ?? "it did not come so far" }
  /// ```
  public struct Choice: Sendable, Hashable {
    /// What was chosen.
    public let value: String
    /// Why.
    public let reason: String
  }

  /// A session that was looked at.
  ///
  /// ```swift
  /// func vetoed(_ decision: Decision) -> [Decision.Candidate] { decision.candidates.filter { !$0.can } }
  /// ```
  public struct Candidate: Sendable, Hashable {
    /// The session.
    public let session: SessionIdentifier
    /// Where it stands: "prefers", "can" or "out".
    public let tier: String
    /// Whether its condition allows it.
    public let can: Bool
    /// Whether it is eager.
    public let prefers: Bool
    /// Why.
    public let reason: String
  }

  /// What would be done.
  public let outcome: Outcome
  /// Why it is refused; "" where it is not.
  public let message: String
  /// Which application.
  public let application: Choice?
  /// Which configuration.
  public let configuration: Choice?
  /// What the payload is about, and where it says so.
  public let key: Choice?
  /// The session that takes it; `nil` where one would be made, or it is refused.
  public let session: SessionIdentifier?
  /// Why it is that session, or a new one.
  public let reason: String
  /// The sessions that were looked at, the best first; at most a hundred.
  public let candidates: [Candidate]
  /// The whole document, for those who want more of it.
  public let json: String
}

extension Decision {
  init(json: String) throws(StagedoorError) {
    let document = try DocumentValue(json: json)
    guard let outcome = document["outcome"]?.text else { throw .unexpectedReply("a decision without an outcome") }
    if let delivered = Delivery.Outcome(rawValue: outcome) {
      self.outcome = .delivered(delivered)
    } else {
      self.outcome = .refused(StagedoorError.Code(rawValue: document["error"]?.text ?? ""))
    }
    message = document["message"]?.text ?? ""
    application = Choice(document["application"], "chosen", "because")
    configuration = Choice(document["configuration"], "chosen", "because")
    key = Choice(document["key"], "value", "from")
    let chosen = document["chosen"]
    session = chosen?["session"]?.text.flatMap { SessionIdentifier($0) }
    reason = chosen?["because"]?.text ?? ""
    candidates = (document["candidates"]?.elements ?? []).compactMap { Candidate($0) }
    self.json = json
  }
}

extension Decision.Choice {
  fileprivate init?(_ document: DocumentValue?, _ value: Text, _ reason: Text) {
    guard let text = document?[value]?.text else { return nil }
    self.init(value: text, reason: document?[reason]?.text ?? "")
  }
}

extension Decision.Candidate {
  fileprivate init?(_ document: DocumentValue) {
    guard let session = document["session"]?.text.flatMap({ SessionIdentifier($0) }) else { return nil }
    self.init(
      session: session, tier: document["tier"]?.text ?? "", can: document["can"]?.bool ?? false,
      prefers: document["prefers"]?.bool ?? false, reason: document["because"]?.text ?? "")
  }
}
