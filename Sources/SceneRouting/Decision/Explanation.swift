package import SceneModel

/// Why a decision is what it is, step by step as far as it came.
package struct Explanation: Hashable, Sendable {
  package var application: Text?
  package var applicationReason: ApplicationReason?
  package var configuration: Text?
  package var configurationReason: ConfigurationReason?
  /// "" for none.
  package var key = Text.empty
  package var keySource: KeySource?
  package var routingActivity: RoutingActivity?
  /// What it was routed by where no activity did.
  package var contentType: Text?
  /// It is hidden from some: others than its sender are not told.
  package var hidesContentType = false
  /// The best first; only where they were asked for.
  package var candidates: [Candidate] = []
  package var candidatesLeftOut = 0
  /// `nil` for a session that has to be made.
  package var session: UniqueIdentifier?
  package var sessionReason: SessionReason?
}

package enum KeySource: String, Hashable, Sendable, CaseIterable {
  case targetContentIdentifier, webpageURL, file, link
}

/// Which activity routes, by its place in the payload.
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

package enum ApplicationReason: Hashable, Sendable, CaseIterable {
  case named
  case ofSession
  case ofRequestingSession
  case preferred
  case onlyOne
  case hasPreferringSession
  case activatedLast
  case firstByIdentifier
}

package enum ConfigurationReason: Hashable, Sendable, CaseIterable {
  case named
  case ofSession
  case namesType
  case namesFamily
  case namesNoTypes
  case firstOfRole
}

package enum SessionReason: Hashable, Sendable, CaseIterable {
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

/// A session that was looked at.
package struct Candidate: Hashable, Sendable {
  /// The best first.
  package enum Tier: String, Sendable, CaseIterable, Comparable {
    case prefers, can, out

    package static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
    private var rank: Int { self == .prefers ? 0 : self == .can ? 1 : 2 }
  }

  package let session: UniqueIdentifier
  package let tier: Tier
  /// `nil` where predicates are not asked.
  package let can: Bool?
  package let prefers: Bool?
  package var because: String
}
