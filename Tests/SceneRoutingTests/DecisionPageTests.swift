import FoundationEssentials
import SceneModel
import SceneRouting
import SceneTestSupport
import Testing
import TextRules

/// `docs/decision.md` agrees with the decisions, and no two fields of a decision contradict each other.
@Suite struct DecisionPageTests {
  private static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: "\(Self.repository)/\(path)")), as: UTF8.self)
  }

  /// The first cells of all rows of the tables under a heading.
  private func firstCells(under heading: String) throws -> [String] {
    let section = try #require(try text("docs/decision.md").split(separator: "\n## ").first { $0.hasPrefix(heading) })
    return section.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { row in
      String(row.dropFirst(2).prefix { $0 != "|" }).trimming(" ")
    }
  }

  @Test func `the page has each reason, and no other`() throws {
    let type = Text("T")
    let reasons =
      ApplicationReason.allCases.map { $0.sentence(of: type) }
      + ConfigurationReason.allCases.map { $0.sentence(of: type) }
      + SessionReason.allCases.map(\.sentence)
    let cells = try firstCells(under: "Reasons").filter { !$0.hasPrefix("of the ") || $0.contains("\u{27}s") }
    #expect(cells.sorted() == reasons.sorted())
  }

  @Test func `the page has each word that a field can be`() throws {
    let page = try text("docs/decision.md")
    let words = KeySource.allCases.map(\.rawValue) + Candidate.Tier.allCases.map(\.rawValue)
    for word in words + ["created", "activated", "restored", "refused"] {
      #expect(page.contains("`\(word)`"), "\(word)")
    }
  }

  @Test func `the page has each field that a decision has, and no field contradicts another`() throws {
    let types = TypeCatalog()
    let pool = try WorldGenerator.Pool()
    var fields: Set<String> = []
    var outcomes: Set<String> = []
    for seed in 0..<600 {
      var generator = WorldGenerator(random: SeededRandom(seed: UInt64(200_000 + seed)), pool: pool)
      let world = generator.world()
      let state = Case(world: world, request: generator.request(world)).state(types)
      for _ in 0..<10 {
        var request = generator.request(world)
        request.listsCandidates = true
        let decision = decided(state, request, at: WorldGenerator.now).explained { explanation in
          if seed.isMultiple(of: 2) {
            explanation.rules = .made(
              RuleReference(name: "page", file: "/rules/mine.rules", line: 1),
              Payload(items: [Item(representations: [Representation(type: .plainText, .text("ls(1)"))])]))
          } else {
            explanation.rules = .passed([RuleFailure(name: "page", because: "it names no window")])
          }
        }
        let document = try JSON.value(decision.json)
        Self.collect(document, "", &fields)
        outcomes.insert(Self.string(document, "outcome") ?? "")
        if let contradiction = Self.contradiction(document) {
          Issue.record("seed \(seed): \(contradiction): \(JSON.text(of: document))")
          return
        }
      }
    }
    // Its own page has those of a payload.
    fields = Set(fields.map { $0.hasPrefix("rule.payload.") ? "rule.payload" : $0 })
    #expect(outcomes == ["created", "activated", "restored", "refused"])
    // More candidates than a decision lists, which no small world has.
    fields.insert("candidatesLeftOut")
    // The fields that `GetDelivery` adds.
    let source = try text("Sources/Interchange/Shell/Questions.swift")
    for match in source.matches(of: #/(story|ending)\["([a-z]+)"\] = (?!nil)/#) where match.output.2 != "ended" {
      fields.insert((match.output.1 == "ending" ? "ended." : "") + match.output.2)
    }
    let documented = Set(try firstCells(under: "Fields").map { $0.trimming("`") }).subtracting(["field"])
    #expect(documented == fields, "\(documented.symmetricDifference(fields).sorted())")
  }

  @Test func `more candidates than a hundred are counted`() throws {
    var stage = Stage(app("org.example.Cats", "view"))
    for number in 0..<103 { stage.session("\(number)", number: UInt64(1000 + number)) }
    _ = stage.play { Request(Payload(activity("view", "cat1")), newSession: $0, listsCandidates: true) }
    let document = try JSON.value(try #require(stage.decision).json)
    #expect(Self.elements(document, "candidates").count == 100)
    #expect(Self.field(document, "candidatesLeftOut") == .integer(3))
  }

  // MARK: Documents

  private static func field(_ value: Value, _ name: Text) -> Value? {
    if case .dictionary(let fields) = value { fields[name] } else { nil }
  }

  private static func string(_ value: Value?, _ name: Text) -> String? {
    if let value, case .string(let text)? = field(value, name) { text.string } else { nil }
  }

  private static func bool(_ value: Value, _ name: Text) -> Bool? {
    if case .bool(let bool)? = field(value, name) { bool } else { nil }
  }

  private static func elements(_ value: Value, _ name: Text) -> [Value] {
    if case .array(let elements)? = field(value, name) { elements } else { [] }
  }

  /// The names of the fields, with a dot where one is inside another.
  private static func collect(_ value: Value, _ name: String, _ fields: inout Set<String>) {
    switch value {
    case .dictionary(let inner):
      for entry in inner.entries {
        collect(entry.value, name.isEmpty ? entry.key.string : "\(name).\(entry.key.string)", &fields)
      }
    case .array(let elements):
      fields.insert(name)
      for element in elements { collect(element, name, &fields) }
    default: fields.insert(name)
    }
  }

  /// Which fields exclude each other.
  private static func contradiction(_ document: Value) -> String? {
    let outcome = string(document, "outcome")
    let chosen = string(field(document, "chosen"), "session")
    let isRefused = outcome == "refused"
    if isRefused != (string(document, "error") != nil) { return "outcome and error" }
    if isRefused != (string(document, "message") != nil) { return "outcome and message" }
    if (outcome == "activated" || outcome == "restored") != (chosen != nil) { return "outcome and chosen.session" }
    if field(document, "routingActivity") != nil, field(document, "contentType") != nil {
      return "routingActivity and contentType"
    }
    var tiers: [Candidate.Tier] = []
    for candidate in elements(document, "candidates") {
      guard let tier = string(candidate, "tier").flatMap({ Candidate.Tier(rawValue: $0) }) else { return "no tier" }
      let (can, prefers) = (bool(candidate, "can"), bool(candidate, "prefers"))
      switch tier {
      case .prefers: if can == false || prefers == false { return "tier prefers" }
      case .can: if can == false || prefers == true { return "tier can" }
      case .out: if can == true || (prefers == true && can != false) { return "tier out" }
      }
      let session = string(candidate, "session") ?? ""
      if string(candidate, "path")?.hasSuffix(session.replacing("-", with: "_")) != true { return "path and session" }
      let because = string(candidate, "because") ?? ""
      if because.isEmpty || (because.hasSuffix(" is false") && tier != .out) { return "because and tier" }
      tiers.append(tier)
    }
    return tiers == tiers.sorted() ? nil : "the order of the candidates"
  }
}

extension String {
  fileprivate func trimming(_ character: Character) -> String {
    var rest = self[...]
    while rest.first == character { rest.removeFirst() }
    while rest.last == character { rest.removeLast() }
    return String(rest)
  }
}
