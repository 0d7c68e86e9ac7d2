import SceneModel
import SceneRouting
import SceneTestSupport
import Testing
import TextRules

/// `docs/decision.md` agrees with the decisions, and no two fields of a decision contradict each other.
@Suite struct DecisionPageTests {
  /// The first cells of all rows of the tables under a heading.
  private func firstCells(under heading: String) throws -> [String] {
    try Page("docs/decision.md").section(heading).rows.map { $0[0] }
  }

  @Test func `the page has each reason, and no other`() throws {
    let type = Text("T")
    let reasons =
      ApplicationReason.allCases.map { $0.sentence(of: type) }
      + ConfigurationReason.allCases.map { $0.sentence(of: type) }
      + SessionReason.allCases.map(\.sentence)
    #expect(try firstCells(under: "Reasons").sorted() == reasons.sorted())
  }

  @Test func `the page has each word that a field can be`() throws {
    let page = try Page("docs/decision.md").text
    let words = KeySource.allCases.map(\.rawValue) + Candidate.Tier.allCases.map(\.rawValue)
    for word in words + ["created", "activated", "restored", "refused"] {
      #expect(page.contains("`\(word)`"), "\(word)")
    }
  }

  @Test func `the page has each field that a decision has, and no field contradicts another`() throws {
    var fields: Set<String> = []
    var outcomes: Set<String> = []
    for seed in 0..<600 {
      var generator = WorldGenerator(seed: 200_000 + seed)
      let world = generator.world()
      let state = Case(world: world, request: generator.request(world)).state()
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
        outcomes.insert(document["outcome"]?.string ?? "")
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
    let source = try Page("Sources/Interchange/Shell/Questions.swift").text
    for match in source.matches(of: #/(story|ending)\["([a-z]+)"\] = (?!nil)/#) where match.output.2 != "ended" {
      fields.insert((match.output.1 == "ending" ? "ended." : "") + match.output.2)
    }
    let documented = Set(try firstCells(under: "Fields").map { $0.trimming("`") })
    #expect(documented == fields, "\(documented.symmetricDifference(fields).sorted())")
  }

  @Test func `more candidates than a hundred are counted`() throws {
    var stage = Stage(app("org.example.Cats", "view"))
    for number in 0..<103 { stage.session("\(number)") }
    _ = stage.play { Request(Payload(activity("view", "cat1")), newSession: $0, listsCandidates: true) }
    let document = try JSON.value(try #require(stage.decision).json)
    #expect(document["candidates"]?.elements.count == 100)
    #expect(document["candidatesLeftOut"] == .integer(3))
  }

  // MARK: Documents

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
    let outcome = document["outcome"]?.string
    let chosen = document["chosen"]?["session"]?.string
    let isRefused = outcome == "refused"
    if isRefused != (document["error"]?.string != nil) { return "outcome and error" }
    if isRefused != (document["message"]?.string != nil) { return "outcome and message" }
    if (outcome == "activated" || outcome == "restored") != (chosen != nil) { return "outcome and chosen.session" }
    if document["routingActivity"] != nil, document["contentType"] != nil {
      return "routingActivity and contentType"
    }
    var tiers: [Candidate.Tier] = []
    for candidate in document["candidates"]?.elements ?? [] {
      guard let tier = candidate["tier"]?.string.flatMap({ Candidate.Tier(rawValue: $0) }) else { return "no tier" }
      let (can, prefers) = (candidate["can"]?.flag, candidate["prefers"]?.flag)
      switch tier {
      case .prefers: if can == false || prefers == false { return "tier prefers" }
      case .can: if can == false || prefers == true { return "tier can" }
      case .out: if can == true || (prefers == true && can != false) { return "tier out" }
      }
      let session = candidate["session"]?.string ?? ""
      if candidate["path"]?.string?.hasSuffix(session.replacing("-", with: "_")) != true { return "path and session" }
      let because = candidate["because"]?.string ?? ""
      if because.isEmpty || (because.hasSuffix(" is false") && tier != .out) { return "because and tier" }
      tiers.append(tier)
    }
    return tiers == tiers.sorted() ? nil : "the order of the candidates"
  }
}
