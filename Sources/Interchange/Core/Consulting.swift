package import SceneModel
import SceneRouting
package import TextRules

// The rules of the person say what a payload is about, before its contents are packed.
//
// Most payloads name an application or a declared type, and no rule is asked. A short text is put to the rules at once. If the disk must be asked, or the
// text takes long, the shell asks the rules beside its loop: the call waits meanwhile, with the rules as they were.
extension PromptBook {
  /// The steps that a payload takes at once: a quarter of a millisecond.
  private static let stepsAtOnce = RuleLimits.steps / 16

  /// Replaces the rules. A payload that is put to them sees all of the old ones or all of the new ones.
  ///
  /// - Parameter home: The directory for which `~` stands in a path.
  package mutating func setRules(_ rules: RuleSet, home: Text) {
    (self.rules, self.home) = (rules, home)
    let kept = Set(rules.entries.map(RuleKey.init))
    ruleMatches = ruleMatches.filter { kept.contains($0.key) }
  }

  /// The rules in their order, and how many deliveries each has made since the service started.
  package var rulesWithMatches: [(rule: RuleReference, matches: UInt64)] {
    rules.entries.map { ($0.reference, ruleMatches[RuleKey($0)] ?? 0) }
  }

  mutating func countMatch(of rule: RuleReference) {
    ruleMatches[RuleKey(file: rule.file, name: rule.name), default: 0] += 1
  }

  /// Puts a payload to the rules, and then packs what they make of it.
  mutating func consult(_ packing: consuming Packing, _ number: CallNumber) throws(Halt) {
    guard areAsked(of: packing.payload) else { return try pack(packing, number) }
    if try answeredBefore(packing, number) { return }
    let handedIn = handedIn(packing.payload, packing.caller)
    var steps = PromptBook.stepsAtOnce
    let answer = rules.consult(handedIn, types, steps: &steps)
    step.effort += PromptBook.stepsAtOnce - steps
    switch answer {
    case .asks, .exhausted:
      memory.packings[number] = packing
      step.errands.append(
        .consult(number, Consulting(handedIn, rules, from: packing.caller.connection, explains: false)))
    case .rule, .none: try goOn(packing, answer, number)
    }
  }

  /// The shell has asked the rules.
  mutating func consulted(_ number: CallNumber, _ answer: Consultation) throws(Halt) {
    guard let packing = memory.packings[number] else { return }
    memory.packings[number] = nil
    try goOn(packing, answer, number)
  }

  private mutating func goOn(
    _ packing: consuming Packing, _ answer: Consultation, _ number: CallNumber
  ) throws(Halt) {
    switch answer {
    case .rule(let rule, let payload):
      // What a rule makes has the sender's rights.
      try refuseForeignRights(payload, packing.caller)
      packing = Packing(payload, packing.caller, packing.purpose, deliveries: packing.deliveries)
      packing.rule = rule
      try pack(packing, number)
    case .none: try pack(packing, number)
    case .exhausted, .asks: throw .refused(.rulesTakeTooLong)
    }
  }

  /// What the rules say of a payload, as far as that can be said at once: `nil` if they are not asked.
  package func consultation(
    on payload: Payload, from caller: Caller
  ) -> (answer: Consultation?, rest: Consulting)? {
    guard areAsked(of: payload) else { return nil }
    let consulting = Consulting(handedIn(payload, caller), rules, from: caller.connection, explains: true)
    var steps = PromptBook.stepsAtOnce
    let answer = rules.consult(consulting.handedIn, types, explains: true, steps: &steps)
    switch answer {
    case .asks, .exhausted: return (nil, consulting)
    case .rule, .none: return (answer, consulting)
    }
  }

  private func areAsked(of payload: Payload) -> Bool {
    !rules.isEmpty && memory.routing.asksRules(of: payload)
  }

  private func handedIn(_ payload: Payload, _ caller: Caller) -> HandedIn {
    let isStranger = payload.options.isFromStranger
    return HandedIn(
      payload, source: isStranger ? .empty : ownApplication(of: caller) ?? caller.application,
      isSandboxed: isStranger || caller.isSandboxed, home: home)
  }
}

/// A rule in its file, wherever it stands there.
struct RuleKey: Hashable, Sendable {
  let file: Text
  let name: Text
}

extension RuleKey {
  init(_ entry: RuleSet.Entry) { self.init(file: entry.file, name: entry.rule.name) }
}

/// A question to the rules, for the shell: the rules as they were when the payload came.
package struct Consulting: Sendable {
  package let handedIn: HandedIn
  package let rules: RuleSet
  /// The connection of the caller.
  package let sender: Text
  package let explains: Bool

  init(_ handedIn: HandedIn, _ rules: RuleSet, from sender: Text?, explains: Bool) {
    (self.handedIn, self.rules, self.sender, self.explains) = (handedIn, rules, sender ?? .empty, explains)
  }

  /// Asks the rules; `disk` is `nil` until the paths that they ask for have answers.
  package func answer(_ types: TypeCatalog, disk: [Text: DiskAnswer]? = nil) -> Consultation {
    // Half of the steps find the paths, and half the rule.
    var steps = RuleLimits.steps / 2
    return rules.consult(handedIn, types, disk: disk, explains: explains, steps: &steps)
  }
}

// Errands are compared in tests, and these by their payloads.
extension Consulting: Hashable {
  package static func == (one: Self, other: Self) -> Bool { one.handedIn.payload == other.handedIn.payload }
  package func hash(into hasher: inout Hasher) { hasher.combine(handedIn.payload) }
}

extension InterchangeError {
  static let rulesTakeTooLong = InterchangeError(
    .limitsExceeded, "the rules take too long on this text: hand in less of it, or say \"rules\": false")
}
