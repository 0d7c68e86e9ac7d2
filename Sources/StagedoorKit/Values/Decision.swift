internal import SceneModel

/// The decision which session a payload belongs to, and why.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let activity = UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1")
/// let decision = try await stagedoor.explain(Payload(activity))
/// for candidate in decision.candidates { print(candidate.session, candidate.tier, candidate.reason) }
/// ```
public struct Decision: Sendable, Hashable {
  /// The outcome of a decision.
  ///
  /// ```swift
  /// func isNew(_ decision: Decision) -> Bool { decision.outcome == .delivered(.created) }
  /// ```
  public enum Outcome: Sendable, Hashable {
    /// A session gets the payload.
    case delivered(Delivery.Outcome)
    /// The payload is refused.
    case refused(StagedoorError.Code)
  }

  /// A choice, and its reason.
  ///
  /// ```swift
  /// func why(_ decision: Decision) -> String { decision.application?.reason ?? "no application was chosen" }
  /// ```
  public struct Choice: Sendable, Hashable {
    /// The choice.
    public let value: String
    /// The reason.
    public let reason: String
  }

  /// A session that the decision considered.
  ///
  /// ```swift
  /// func vetoed(_ decision: Decision) -> [Decision.Candidate] { decision.candidates.filter { !$0.can } }
  /// ```
  public struct Candidate: Sendable, Hashable {
    /// The session.
    public let session: SessionIdentifier
    /// Its rank: "prefers", "can" or "out".
    public let tier: String
    /// Whether its *can* condition allows the payload. A session without conditions is "out" although it can.
    public let can: Bool
    /// Whether it prefers the payload: its *prefers* condition is true, or it shows the same already.
    public let prefers: Bool
    /// The reason.
    public let reason: String
  }

  /// The outcome of the decision.
  public let outcome: Outcome
  /// The message of a refusal; "" otherwise.
  public let message: String
  /// The application.
  public let application: Choice?
  /// The configuration.
  public let configuration: Choice?
  /// The key of the payload, and its place.
  public let key: Choice?
  /// The session that takes the payload; `nil` if the service would make one, or for a refusal.
  public let session: SessionIdentifier?
  /// The reason for this session, or for a new one.
  public let reason: String
  /// The considered sessions, the best first; at most a hundred.
  public let candidates: [Candidate]
  /// The whole document of the decision.
  public let json: String
}

extension Decision {
  init(json: String) throws(StagedoorError) {
    let document = try Value(document: json)
    guard let outcome = document["outcome"]?.string else { throw .unexpectedReply("a decision without an outcome") }
    if let delivered = Delivery.Outcome(rawValue: outcome) {
      self.outcome = .delivered(delivered)
    } else {
      self.outcome = .refused(StagedoorError.Code(rawValue: document["error"]?.string ?? ""))
    }
    message = document["message"]?.string ?? ""
    application = Choice(document["application"], "chosen", "because")
    configuration = Choice(document["configuration"], "chosen", "because")
    key = Choice(document["key"], "value", "from")
    let chosen = document["chosen"]
    session = chosen?["session"]?.string.flatMap { SessionIdentifier($0) }
    reason = chosen?["because"]?.string ?? ""
    candidates = (document["candidates"]?.elements ?? []).compactMap { Candidate($0) }
    self.json = json
  }
}

extension Decision.Choice {
  fileprivate init?(_ document: Value?, _ value: Text, _ reason: Text) {
    guard let text = document?[value]?.string else { return nil }
    self.init(value: text, reason: document?[reason]?.string ?? "")
  }
}

extension Decision.Candidate {
  fileprivate init?(_ document: Value) {
    guard let session = document["session"]?.string.flatMap({ SessionIdentifier($0) }) else { return nil }
    let tier = document["tier"]?.string ?? ""
    self.init(
      session: session, tier: tier, can: document["can"]?.flag ?? true,
      prefers: document["prefers"]?.flag ?? (tier == "prefers"), reason: document["because"]?.string ?? "")
  }
}
