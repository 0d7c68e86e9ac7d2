import SceneModel
import Testing
import TextRules

func ruleSet(_ text: String) throws -> RuleSet { RuleSet([("/rules/test.rules", try RuleFile(Array(text.utf8)))]) }

func rule(_ lines: String...) throws -> RuleSet {
  try ruleSet("rule it\n" + lines.map { "  \($0)\n" }.joined())
}

/// A piece of text, as `DropText` hands it in.
func dropped(_ text: String, info: UserInfo = UserInfo()) -> Payload {
  var payload = Payload(items: [Item(representations: [Representation(type: .plainText, .text(Text(text)))])])
  payload.options.info = info
  return payload
}

/// An item with these representations, as `DeliverItems` hands it in.
func dropped(_ representations: (type: Text, content: Representation.Content)...) throws -> Payload {
  let all = try representations.map { Representation(type: try #require(ContentType($0.type)), $0.content) }
  return Payload(items: [Item(representations: all)])
}

extension RuleSet {
  /// Asks the rules as the service does: what the disk must say is asked in between.
  func answer(
    _ payload: Payload, from source: Text = .empty, isSandboxed: Bool = false, disk: [Text: DiskAnswer] = [:],
    steps: Int = RuleLimits.steps
  ) -> Consultation {
    let handedIn = HandedIn(payload, source: source, isSandboxed: isSandboxed, home: "/home/user")
    var left = steps
    let first = consult(handedIn, TypeCatalog(), explains: true, steps: &left)
    guard case .asks(let paths) = first else { return first }
    let answers = Dictionary(uniqueKeysWithValues: paths.map { ($0, disk[$0] ?? .nothing) })
    left = steps
    return consult(handedIn, TypeCatalog(), disk: answers, explains: true, steps: &left)
  }

  /// The paths in the question to the disk; `nil` if nobody asks the disk.
  func askedPaths(_ text: String) -> [Text]? {
    var steps = RuleLimits.steps
    guard case .asks(let paths) = consult(HandedIn(dropped(text)), TypeCatalog(), steps: &steps) else { return nil }
    return paths
  }

  func answer(_ text: String, info: UserInfo = UserInfo(), disk: [Text: DiskAnswer] = [:]) -> Consultation {
    answer(dropped(text, info: info), disk: disk)
  }
}

extension Consultation {
  var payload: Payload? { if case .rule(_, let payload) = self { payload } else { nil } }
  var rule: Text? { if case .rule(let rule, _) = self { rule.name } else { nil } }
  var activity: UserActivity? { payload?.items.first?.activities.first }
  var failures: [String] {
    if case .none(let failures) = self { failures.map { "\($0.name): \($0.because)" } } else { [] }
  }
}

let plainFile = DiskAnswer.file(.plainText)
