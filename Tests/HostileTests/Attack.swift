/// A way in which `Clients/attacker.py` attacks the service.
enum Attack: String, CaseIterable, Sendable {
  /// Floods of calls that are short.
  case shortCalls = "short_calls"
  case pings, unanswered
  case unknownMethods = "unknown_methods"
  case introspections, lists, explanations
  case managedObjects = "managed_objects"
  /// Calls that change something, as fast as they can be sent.
  case tokens, drops, windows
  /// Calls that are long, or take long.
  case foreignContentTypes = "foreign_content_types"
  case slowDecisions = "slow_decisions"
  case brokenDocuments = "broken_documents"
  case nestedDocuments = "nested_documents"
  case longPaths = "long_paths"
  case longTexts = "long_texts"
  case dictionaries
  /// What uses something up.
  case descriptors, quitters
  case waitingCalls = "waiting_calls"
  case hostsWithoutTheName = "hosts_without_the_name"
  case largeActivities = "large_activities"

  /// One of each kind: those that once stopped the service, or filled the memory.
  static let few: [Attack] = [
    .shortCalls, .drops, .foreignContentTypes, .dictionaries, .descriptors, .quitters, .waitingCalls,
    .hostsWithoutTheName, .largeActivities,
  ]
}

/// Where an attacker sits.
enum Seat: String, CaseIterable, Sendable {
  case outside, sandbox
}
