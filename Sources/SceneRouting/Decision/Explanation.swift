package import SceneModel
package import TextRules

/// The reasons for a decision, for each step that it reached.
package struct Explanation: Hashable, Sendable {
  package var application: Text?
  package var applicationReason: ApplicationReason?
  package var configuration: Text?
  package var configurationReason: ConfigurationReason?
  /// "" for no key.
  package var key = Text.empty
  package var keySource: KeySource?
  package var routingActivity: RoutingActivity?
  /// The content type that routed the payload, if no activity did.
  package var contentType: Text?
  /// Whether the type is hidden from some: only the sender may see it then.
  package var hidesContentType = false
  /// The best first; empty unless the request asked for them.
  package var candidates: [Candidate] = []
  package var candidatesLeftOut = 0
  /// `nil` for a session that must be made.
  package var session: UniqueIdentifier?
  package var sessionReason: SessionReason?
  /// `nil` if no rule made the payload, and nobody asked why.
  package var rules: RulesAnswer?
}

/// What the rules of the person said. Most decisions have none, and decisions are copied often: so it is a box.
package indirect enum RulesAnswer: Hashable, Sendable {
  /// This rule made the payload, which only an explanation has.
  case made(RuleReference, Payload? = nil)
  /// Why no rule took the payload.
  case passed([RuleFailure])
}

package enum KeySource: String, Hashable, Sendable, CaseIterable {
  case targetContentIdentifier, webpageURL, file, link
}

/// The activity that routes, by its place in the payload.
package struct RoutingActivity: Hashable, Sendable {
  package let item: Int
  package let activity: Int
  package let activityType: Text

  package init(item: Int, activity: Int, activityType: Text) {
    self.item = item
    self.activity = activity
    self.activityType = activityType
  }
}

// The cases of the following have numbers, which are stored: new cases come last.

package enum ApplicationReason: Int, Hashable, Sendable, CaseIterable {
  case named
  case ofSession
  case ofRequestingSession
  case preferred
  case onlyOne
  case noUnderstudy
  case listsType
  case listsNearestType
  case highestRank
  case hasPreferringSession
  case activatedLast
  case firstByIdentifier
}

package enum ConfigurationReason: Int, Hashable, Sendable, CaseIterable {
  case named
  case ofSession
  case namesType
  case namesFamily
  case namesNoTypes
  case firstOfRole
}

package enum SessionReason: Int, Hashable, Sendable, CaseIterable {
  case named
  case onlyScene
  case noSceneYet
  case policyNew
  case policySingle
  case policySingleNoneYet
  case dispositionNew
  case onlyInTier
  case requestingSession
  case firstInTier
  case withoutKey
  case withoutKeyNew
  case latest
  case noCandidate
}

/// A session that the decision looked at.
package struct Candidate: Hashable, Sendable {
  /// The best first.
  package enum Tier: String, Sendable, CaseIterable, Comparable {
    case prefers, can, out

    package static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
    private var rank: Int { self == .prefers ? 0 : self == .can ? 1 : 2 }
  }

  package let session: UniqueIdentifier
  package let tier: Tier
  /// `nil` if predicates do not count.
  package let can: Bool?
  package let prefers: Bool?
  package var because: String
}
