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
  }

  /// The rules in their order, and how many deliveries each has made since the service started.
  package var rulesWithMatches: [(rule: RuleReference, matches: UInt64)] {
    rules.entries.map { ($0.reference, UInt64(memory.ruleMatches[$0.reference.key] ?? 0)) }
  }

  /// The count is for everyone, so private deliveries do not count.
  mutating func countMatch(of rule: RulesAnswer?, isPrivate: Bool) {
    guard case .made(let rule, _)? = rule, !isPrivate else { return }
    memory.ruleMatches[rule.key] = (memory.ruleMatches[rule.key] ?? 0) + 1
  }

  /// Puts a payload to the rules, or each of its items, and then packs what they make of it.
  mutating func consult(_ packing: consuming Packing, _ number: CallNumber) throws(Halt) {
    if rules.isEmpty { return try pack(packing, number) }
    // Most payloads are one part, which says by itself what it is about.
    if case .delivery = packing.purpose {
      if !packing.payload.items.isEmpty, !packing.payload.items[0].activities.isEmpty {
        let type = packing.payload.items[0].activities[0].activityType
        if let declared = memory.declaredType, type.count == declared.utf8.count, type.string == declared {
          return try pack(packing, number)
        }
        if memory.routing.declares(type), type.string.utf8.allSatisfy({ $0 < 0x80 }) {
          memory.declaredType = type.string
        }
      }
      if !areAsked(of: packing.payload) { return try pack(packing, number) }
    }
    let asked = packing.parts.map { areAsked(of: $0.payload) ? handedIn($0.payload, packing.caller) : nil }
    if !asked.contains(where: { $0 != nil }) { return try pack(packing, number) }
    if try answeredBefore(packing, number) { return }
    let consulting = Consulting(asked, rules, from: packing.caller.principal)
    var steps = PromptBook.stepsAtOnce
    let answers = consulting.answersAtOnce(types, steps: &steps)
    if answers.contains(where: \.isOpen) {
      packing.waitForRules()
      memory.packings[number] = packing
      step.errands.append(.consult(number, consulting))
    } else {
      try goOn(packing, answers, number)
    }
  }

  /// The shell has asked the rules.
  mutating func consulted(_ number: CallNumber, _ answers: [Consultation]) throws(Halt) {
    guard let packing = memory.packings[number] else { return }
    memory.packings[number] = nil
    try goOn(packing, answers, number)
  }

  private mutating func goOn(
    _ packing: consuming Packing, _ answers: [Consultation], _ number: CallNumber
  ) throws(Halt) {
    var parts = packing.parts
    for (place, answer) in zip(parts.indices, answers) {
      do throws(Halt) {
        switch answer {
        case .rule(let rule, let payload):
          // What a rule makes has the sender's rights.
          try refuseForeignRights(payload, packing.caller)
          let isLonger = payload.items.count > parts[place].payload.items.count
          parts[place] = Packing.Part(payload: payload, rule: .made(rule), isLonger: isLonger)
        case .none: break
        case .exhausted, .asks: throw .refused(.rulesTakeTooLong)
        }
      } catch {
        guard packing.isBestEffort, case .refused(let failure) = error else { throw error }
        let promises = packing.payload.items.promises(of: packing.caller)
        let others = Set(promises.filter { $0.item != place }.map(PromiseObject.init))
        endPromises(promises.filter { $0.item == place && !others.contains(PromiseObject($0)) })
        parts[place] = Packing.Part(
          payload: Payload(items: [], options: parts[place].payload.options), failure: failure)
      }
    }
    try pack(Packing(parts, packing), number)
  }

  /// What the rules say of a payload, as far as that can be said at once: `nil` if they are not asked.
  package func consultation(
    on payload: Payload, from caller: Caller
  ) -> (answer: Consultation?, rest: Consulting)? {
    guard areAsked(of: payload) else { return nil }
    let consulting = Consulting([handedIn(payload, caller)], rules, from: caller.principal, explains: true)
    var steps = PromptBook.stepsAtOnce
    let answer = consulting.answersAtOnce(types, steps: &steps)[0]
    return (answer.isOpen ? nil : answer, consulting)
  }

  /// The error names the rule that made the payload, unless the caller may not read rules.
  func error(of refusal: Refusal, _ rule: RulesAnswer?, _ caller: Caller) -> InterchangeError {
    let error = InterchangeError(refusal)
    return InterchangeError(error.name, error.message + blame(of: rule, caller))
  }

  /// The end of a refusal's message, which names the rule.
  func blame(of rule: RulesAnswer?, _ caller: Caller) -> String {
    guard case .made(let rule, _)? = rule, !caller.isSandboxed else { return "" }
    return "; the rule \(rule.name) asked so, \(rule.file):\(rule.line)"
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

extension RuleReference {
  /// The rule in its file, wherever it stands there. A new type of key would cost the start of the service a search for its conformance.
  fileprivate var key: Text { Text("\(file)\0\(name)") }
}

extension Principal {
  /// A name for it, which no other has.
  fileprivate var name: Text {
    switch self {
    case .connection(let name): name
    case .sandbox(let application): Text("sandbox \(application)")
    case .host(let application): Text("host \(application)")
    case .strangers, .departed: .empty
    }
  }
}

/// A question to the rules, for the shell: the rules as they were when the payload came.
package struct Consulting: Sendable {
  /// What is put to the rules; `nil` for an item that says by itself what it is about.
  package let handedIn: [HandedIn?]
  package let rules: RuleSet
  /// The sender, as one of those that take turns.
  package let sender: Text
  package let explains: Bool

  /// The bytes of the contents, which wait with the question.
  package var size: Int {
    handedIn.reduce(0) { size, handedIn in
      (handedIn?.payload.items ?? []).reduce(size) { $1.representations.reduce($0) { $0 + $1.content.inlineBytes } }
    }
  }

  init(_ handedIn: [HandedIn?], _ rules: RuleSet, from sender: Principal, explains: Bool = false) {
    (self.handedIn, self.rules, self.sender, self.explains) = (handedIn, rules, sender.name, explains)
  }

  /// Asks the rules about one item; `disk` is `nil` until the paths that they ask for have answers.
  package func answer(_ place: Int, _ types: TypeCatalog, disk: [Text: DiskAnswer]? = nil) -> Consultation {
    // Half of the steps find the paths, and half the rule.
    var steps = RuleLimits.steps / 2
    return answer(place, types, disk: disk, steps: &steps)
  }

  /// Asks the rules about all items.
  package func answers(_ types: TypeCatalog, disk: [Text: DiskAnswer]? = nil) -> [Consultation] {
    handedIn.indices.map { answer($0, types, disk: disk) }
  }

  /// The answers where too many texts wait for the rules.
  package var answersUnasked: [Consultation] { handedIn.map { $0 == nil ? .none([]) : .exhausted } }

  private func answer(
    _ place: Int, _ types: TypeCatalog, disk: [Text: DiskAnswer]?, steps: inout Int
  ) -> Consultation {
    handedIn[place].map { rules.consult($0, types, disk: disk, explains: explains, steps: &steps) } ?? .none([])
  }

  /// The answers for as many items as the steps suffice for.
  func answersAtOnce(_ types: TypeCatalog, steps: inout Int) -> [Consultation] {
    var answers: [Consultation] = []
    for place in handedIn.indices {
      answers.append(answer(place, types, disk: nil, steps: &steps))
      if case .exhausted? = answers.last { break }
    }
    return answers
  }
}

extension Consultation {
  /// Whether the shell has to ask.
  fileprivate var isOpen: Bool {
    switch self {
    case .asks, .exhausted: true
    case .rule, .none: false
    }
  }
}

// Errands are compared in tests, and these by what they ask about.
extension Consulting: Hashable {
  package static func == (one: Self, other: Self) -> Bool {
    one.handedIn.map(\.?.payload) == other.handedIn.map(\.?.payload)
  }
  package func hash(into hasher: inout Hasher) { hasher.combine(handedIn.map(\.?.payload)) }
}

extension InterchangeError {
  static let rulesTakeTooLong = InterchangeError(
    .limitsExceeded,
    "the rules take too long on this text, or too many texts wait for them: hand in less, or say \"rules\": false")
}
