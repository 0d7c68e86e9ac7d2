import InterchangeCore
import InterchangeTurns
import SceneModel
import SceneRouting
import SessionStore
import TextRules

// The person's rules change while texts are dropped. The laws know what a played rule means without the module that reads rules.

/// A rule of a play. It takes some words, and may ask whether the file of the word exists.
struct PlayedRule {
  let name: Text
  let words: ClosedRange<Int>
  /// Whether the file has to exist, or must not; `nil` if the rule asks for none.
  let file: Bool?

  var source: String {
    var lines = ["rule \(name)", "  when text matches '(?<word>word-[\(words.lowerBound)-\(words.upperBound)])'"]
    if let file { lines.append("  when \(file ? "" : "not ")file '\(PlayedRule.path(of: "{word}"))' exists") }
    lines.append("  then activity 'org.theatre.open' key '\(name) {word}'")
    return lines.map { $0 + "\n" }.joined()
  }

  static func path(of word: String) -> String { "/words/\(word)" }
}

/// A text that was dropped, and what the rules of that moment make of it.
struct DroppedText {
  /// `nil` if no rule takes it.
  let rule: Text?
  let word: Text
  /// The rule that Explain named just before; `nil` if it was not asked.
  var explained: Text??
}

extension World {
  func changeRules() {
    rules = (0..<chance.below(5)).map { number in
      let first = chance.below(10)
      return PlayedRule(
        name: Text("rule-\(life)-\(steps)-\(number)"), words: first...min(9, first + chance.below(4)),
        file: [nil, nil, true, false][chance.below(4)])
    }
    readRules()
  }

  /// The service reads the rules, now and when it starts.
  func readRules() {
    do throws(RuleFaults) {
      let file = try RuleFile(Array(rules.map(\.source).joined().utf8))
      tell("   the rules are now \(rules.map(\.name))")
      prompter.setRules(RuleSet([(path: "/rules/played.rules", file: file)]), home: "/home")
    } catch {
      breaks(.theatre, "the rules have a fault: \(error.all[0])")
    }
  }

  func dropText() {
    // The real program would need the same files.
    if setting.isFaultless { return }
    let (caller, number) = (caller(), chance.below(10))
    let word = Text("word-\(number)")
    guard let payload = try? Payload(text: word, directory: "/words", info: [:]) else { return }
    let from = connections[caller].caller
    let rule = rules.first { rule in
      guard rule.words.contains(number) else { return false }
      return rule.file.map { !from.isSandboxed && $0 == exists(word) } ?? true
    }
    var text = DroppedText(rule: rule?.name, word: word)
    endTurn()
    if broken != nil { return }
    if !from.isSandboxed, !prompter.hasTurn, let decision = explained(payload, from) {
      if case .made(let rule, _)? = decision.explanation.rules {
        text.explained = rule.name
      } else {
        text.explained = .some(nil)
      }
    }
    call(caller, .deliver(payload, digest: .empty, size: 100), text: text)
  }

  private func explained(_ payload: Payload, _ caller: Caller) -> Decision? {
    let asked = prompter.book.consultation(on: payload, from: caller)
    let consultation = asked.map { $0.answer ?? answers($0.rest)[0] }
    let result = disk.undisturbed {
      try? prompter.explain(payload, consultation: consultation, from: caller, at: moment)
    }
    return try? result?.get()
  }

  /// The disk and the rules answer.
  func answers(_ consulting: Consulting) -> [Consultation] {
    let first = consulting.answers(types)
    let paths: [Text] = first.flatMap { answer -> [Text] in if case .asks(let paths) = answer { paths } else { [] } }
    if paths.isEmpty { return first }
    let disk = paths.map { path in
      let word = Text(path.string.split(separator: "/").last.map(String.init) ?? "")
      return (path, exists(word) ? DiskAnswer.file(.plainText) : .nothing)
    }
    return consulting.answers(types, disk: Dictionary(disk) { $1 })
  }

  /// Some words have files, which stay as they are.
  private func exists(_ word: Text) -> Bool {
    var chance = Chance(setting.seed, word.string.utf8.reduce(UInt64(77)) { $0 &* 31 &+ UInt64($1) })
    return chance.once(in: 2)
  }

  /// The delivery of a text says which rule made it.
  func checkRule(_ delivered: Delivered, of text: DroppedText) {
    guard let stored = disk.undisturbed({ (try? store.delivery(delivered.delivery)) ?? nil }),
      let document = Decision.document(ofStored: stored.decision), let decision = try? JSON.value(document)
    else { return }
    let rule = decision["rule"]?["name"]?.string.map { Text($0) }
    if rule != text.rule {
      breaks(.rules, "\(text.word) was for \(text.rule ?? "no rule"), and the decision names \(rule ?? "none")")
    }
    if let explained = text.explained, explained != rule {
      breaks(.rules, "Explain named \(explained ?? "no rule") for \(text.word), and the decision \(rule ?? "none")")
    }
    let key = text.rule.map { Text("\($0) \(text.word)") }
    let shown = decision["key"]?["value"]?.string.map { Text($0) }
    if shown != key { breaks(.rules, "\(text.word) became \(shown ?? "nothing"), and not \(key ?? "nothing")") }
  }
}
