/// A way in which `Clients/attacker.py` attacks the service.
enum Attack: String, CaseIterable, Sendable {
  /// Floods of short calls.
  case shortCalls = "short_calls"
  case pings, unanswered
  case unknownMethods = "unknown_methods"
  case introspections, lists, explanations
  case managedObjects = "managed_objects"
  /// Calls that change something, sent as fast as possible.
  case tokens, drops, windows
  /// Calls that are long, or that the service needs long for.
  case foreignContentTypes = "foreign_content_types"
  case slowDecisions = "slow_decisions"
  /// Texts chosen against a thousand rules, and the same texts past the rules.
  case ruledTexts = "ruled_texts"
  case textsWithoutRules = "texts_without_rules"
  case brokenDocuments = "broken_documents"
  case nestedDocuments = "nested_documents"
  case longPaths = "long_paths"
  case longTexts = "long_texts"
  case dictionaries
  /// Calls that use something up.
  case descriptors, quitters
  case waitingCalls = "waiting_calls"
  case hostsWithoutTheName = "hosts_without_the_name"
  case largeActivities = "large_activities"

  /// One attack of each kind: those that once stopped the service, or filled its memory.
  static let few: [Attack] = [
    .shortCalls, .drops, .ruledTexts, .foreignContentTypes, .dictionaries, .descriptors, .quitters, .waitingCalls,
    .hostsWithoutTheName, .largeActivities,
  ]
}

/// The place from which an attacker calls.
enum Seat: String, CaseIterable, Sendable {
  case outside, sandbox
}
