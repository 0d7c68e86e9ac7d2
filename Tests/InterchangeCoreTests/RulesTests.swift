import SceneModel
import SceneRouting
import Testing
import TextRules

@testable import InterchangeCore

@Suite("The core asks the rules") struct RulesTests {
  private static let rules = """
    rule at-line
      when text matches '(?<path>[^:]+):(?<line>\\d+)'
      when file '{path}' exists
      then activity 'edit' key 'file://{file}'
      then info line '{line}'
    rule page
      when text matches '(?<page>\\w+)\\(\\d\\)'
      then activity 'view' key '{page}'
    rule elsewhere
      when text is 'elsewhere'
      then activity 'nobody'
    rule slow
      when text contains '(a|aa|aaa)*b'
      then activity 'view'
    """

  private static func set(_ text: String = rules) throws -> RuleSet {
    RuleSet([("/rules/it.rules", try RuleFile(Array(text.utf8)))])
  }

  private func stage() throws -> Stage {
    var stage = Stage(
      Manifest(
        identifier: "org.example.Cats", activityTypes: ["view", "edit"], contentTypes: [contentType("text/html")],
        supportsMultipleScenes: true, configurations: [SceneConfiguration(name: "Default")]))
    stage.book.setRules(try Self.set(), home: "/home/user")
    return stage
  }

  private func text(_ text: Text, _ change: (inout PayloadOptions) -> Void = { _ in }) throws -> Payload {
    var payload = try Payload(text: text, directory: "/src", info: [:])
    change(&payload.options)
    return payload
  }

  private func deliver(_ payload: Payload, _ stage: inout Stage, by caller: Caller = .shell) -> CallAnswer? {
    stage.call(.deliver(payload, digest: payload.options.token ?? .empty, size: 0), by: caller)
  }

  /// The rules that the shell was asked to consult.
  private func consulting(_ stage: Stage) -> (CallNumber, Consulting)? {
    for errand in stage.errands.reversed() {
      if case .consult(let number, let consulting) = errand { return (number, consulting) }
    }
    return nil
  }

  private func error(_ answer: CallAnswer?) -> InterchangeError.Name? {
    if case .refused(let error)? = answer { error.name } else { nil }
  }

  private func shown(_ stage: Stage) -> [Text?] { stage.sessions().map { $0.userActivity?.targetContentIdentifier } }

  @Test func `a text finds its window, and the stored decision names the rule`() throws {
    var stage = try stage()
    guard case .delivered(let delivered)? = deliver(try text("ls(1)"), &stage) else {
      return _ = Issue.record("it was not delivered")
    }
    #expect(shown(stage) == ["ls"])
    let stored = try #require(stage.shelf.deliveries[delivered.delivery])
    #expect(
      Decision.document(ofStored: stored.decision)?.string.contains(
        #""rule":{"file":"/rules/it.rules","line":6,"name":"page"}"#) == true)
    // Also when the file has changed since.
    stage.book.setRules(RuleSet(), home: .empty)
    #expect(stage.shelf.deliveries[delivered.delivery]?.decision == stored.decision)
    // The same text finds the same window.
    stage.book.setRules(try Self.set(), home: .empty)
    _ = deliver(try text("ls(1)"), &stage)
    #expect(stage.sessions().count == 1)
  }

  @Test func `what the disk must say is asked beforehand, by the rules as they were`() throws {
    var stage = try stage()
    #expect(deliver(try text("main.c:42"), &stage) == nil)
    let (number, consulting) = try #require(self.consulting(stage))
    guard case .asks(let paths)? = consulting.answers(Stage.types).first else {
      return _ = Issue.record("it asks nothing")
    }
    #expect(paths == ["/src/main.c"])
    stage.book.setRules(RuleSet(), home: .empty)
    stage.play(.consulted(number, consulting.answers(Stage.types, disk: ["/src/main.c": .file(.plainText)])))
    #expect(shown(stage) == ["file:///src/main.c"])
    #expect(stage.sessions().first?.userActivity?.userInfo == ["dir": "/src", "line": "42"])
  }

  @Test func `a rule that is not the one has changed nothing`() throws {
    var stage = try stage()
    _ = deliver(try text("main.c:42"), &stage)
    let (number, consulting) = try #require(self.consulting(stage))
    stage.play(.consulted(number, consulting.answers(Stage.types, disk: [:])))
    #expect(error(stage.answers[number]) == .routing("org.stagedoor.Error.NoActivity"))
    #expect(stage.sessions().isEmpty)
  }

  @Test func `rules are not asked for a declared type, a named application or session, or where the options say so`()
    throws
  {
    var stage = try stage()
    let names: [(inout PayloadOptions) -> Void] = [
      { $0.asksRules = false }, { $0.application = "org.example.Cats" },
      { $0.session = "6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41" },
    ]
    for change in names {
      #expect(error(deliver(try text("ls(1)", change), &stage)) != nil)
    }
    var declared = try text("ls(1)")
    declared.items[0].activities = [UserActivity(activityType: "view", targetContentIdentifier: "mine")]
    _ = deliver(declared, &stage)
    #expect(shown(stage) == ["mine"])
    // An undeclared type is put to the rules.
    var undeclared = try text("cat(1)")
    undeclared.items[0].activities = [UserActivity(activityType: "unknown")]
    _ = deliver(undeclared, &stage)
    #expect(Set(shown(stage)) == ["mine", "cat"])
  }

  @Test func `what a rule makes is routed without rules`() throws {
    var stage = try stage()
    #expect(
      error(deliver(try text("elsewhere"), &stage)) == .routing("org.stagedoor.Error.ActivityTypeNotDeclared"))
  }

  @Test func `a refusal names the rule that asked for what is not there`() throws {
    var stage = try stage()
    stage.book.setRules(
      try Self.set("rule it\nwhen text is 'x'\nthen application 'org.example.Player'\n"), home: .empty)
    let refusal = try #require(deliver(try text("x"), &stage)?.refusal)
    #expect(refusal.name == .routing("org.stagedoor.Error.NoSuchApplication"))
    #expect(refusal.message.hasPrefix("there is no application \"org.example.Player\""), "\(refusal.message)")
    #expect(refusal.message.hasSuffix("; the rule it asked so, /rules/it.rules:1"), "\(refusal.message)")
  }

  @Test func `a text that takes too long is refused, also after a second try aside`() throws {
    var stage = try stage()
    #expect(deliver(try text(Text(String(repeating: "a", count: 60_000) + "c b")), &stage) == nil)
    let (number, _) = try #require(self.consulting(stage))
    stage.play(.consulted(number, [.exhausted]))
    #expect(error(stage.answers[number]) == .limitsExceeded)
    #expect(stage.lastEffort <= Limits.conditionSteps)
  }

  @Test func `for a sandboxed sender no rule asks the disk`() throws {
    var stage = try stage()
    #expect(error(deliver(try text("main.c:42"), &stage, by: .sandbox("org.example.Mail"))) != nil)
    #expect(consulting(stage) == nil)
    #expect(error(deliver(try text("main.c:42") { $0.isFromStranger = true }, &stage)) != nil)
    #expect(consulting(stage) == nil)
  }

  @Test func `the same token gets the first answer, whatever the rules say by then`() throws {
    var stage = try stage()
    let first = deliver(try text("ls(1)") { $0.token = "t" }, &stage)
    stage.book.setRules(RuleSet(), home: .empty)
    #expect(deliver(try text("ls(1)") { $0.token = "t" }, &stage) == first)
    stage.book.setRules(try Self.set("rule other\nthen activity 'edit'"), home: .empty)
    #expect(deliver(try text("ls(1)") { $0.token = "t" }, &stage) == first)
  }

  @Test func `Explain says what the drop will do, and without a rule why each failed`() throws {
    var stage = try stage()
    func explained(_ payload: Payload, by caller: Caller = .shell) throws -> Explanation? {
      let asked = stage.book.consultation(on: payload, from: caller)
      let answer = asked.map { $0.answer ?? $0.rest.answers(Stage.types, disk: [:])[0] }
      return try? stage.book.explain(payload, consultation: answer, from: caller, at: stage.now).get().explanation
    }
    _ = deliver(try text("ls(1)"), &stage)
    let page = try explained(try text("ls(1)"))
    guard case .made(let rule, let made?)? = page?.rules else {
      Issue.record("no rule took it")
      return
    }
    #expect(rule == RuleReference(name: "page", file: "/rules/it.rules", line: 6))
    #expect(made.items.first?.activities.first?.targetContentIdentifier == "ls")
    #expect(page?.key == "ls")
    guard case .passed(let failures)? = try explained(try text("nothing"))?.rules else {
      return _ = Issue.record("no rule takes it")
    }
    #expect(failures.map(\.name) == ["at-line", "page", "elsewhere", "slow"])
    // A sandbox reads neither.
    #expect(try explained(try text("ls(1)"), by: .sandbox("org.example.Mail"))?.rules == nil)
    #expect(try explained(try text("nothing"), by: .sandbox("org.example.Mail"))?.rules == nil)
  }

  @Test func `each item by itself is put to the rules, as if it had come alone`() throws {
    var stage = try stage()
    var payload = try text("ls(1)")
    payload.items += try ["main.c:42", "nothing", "cat(1)"].flatMap { try text(Text($0)).items }
    payload.options.batch = .bestEffort
    #expect(stage.call(.deliverEach(payload, digest: .empty, size: 0)) == nil)
    let (number, consulting) = try #require(self.consulting(stage))
    stage.play(.consulted(number, consulting.answers(Stage.types, disk: ["/src/main.c": .file(.plainText)])))
    guard case .deliveredEach(let items)? = stage.answers[number], items.count == 4 else {
      return _ = Issue.record("\(stage.answers)")
    }
    #expect(shown(stage) == ["ls", "file:///src/main.c", "cat"])
    guard case .refused(let refusal) = items[2] else { return _ = Issue.record("\(items[2])") }
    #expect(refusal.name == .routing("org.stagedoor.Error.NoActivity"))
    let rules = stage.shelf.deliveries.values.compactMap { Decision.document(ofStored: $0.decision) }
    #expect(rules.count { $0.string.contains(#""name":"page""#) } == 2)
    #expect(stage.book.rulesWithMatches.map(\.matches) == [1, 2, 0, 0])
    stage.checkItself()
  }

  @Test func `promises of a payload that the rules refuse are ended`() throws {
    var stage = try stage()
    var payload = try text("main.c:42")
    payload.items[0].representations.append(Representation(type: contentType("image/png"), .promise("/promise")))
    #expect(deliver(payload, &stage) == nil)
    let (number, _) = try #require(self.consulting(stage))
    stage.play(.consulted(number, [.exhausted]))
    #expect(error(stage.answers[number]) == .limitsExceeded)
    #expect(stage.endedPromises == [["/promise"]])
    stage.checkItself()
  }

  @Test func `an item that takes too long fails alone, and only its promises are ended`() throws {
    var stage = try stage()
    var payload = try text("ls(1)")
    payload.items += try ["main.c:42", "cat(1)"].flatMap { try text(Text($0)).items }
    for item in 0...2 {
      payload.items[item].representations.append(
        Representation(type: contentType("image/png"), .promise(Text("/promise\(item)"))))
    }
    payload.options.batch = .bestEffort
    #expect(stage.call(.deliverEach(payload, digest: .empty, size: 0)) == nil)
    let (number, consulting) = try #require(self.consulting(stage))
    var answers = consulting.answers(Stage.types, disk: [:])
    answers[1] = .exhausted
    stage.play(.consulted(number, answers))
    guard case .deliveredEach(let items)? = stage.answers[number], items.count == 3 else {
      return _ = Issue.record("\(stage.answers)")
    }
    guard case .refused(let refusal) = items[1] else { return _ = Issue.record("\(items[1])") }
    #expect(refusal.name == .limitsExceeded)
    #expect(shown(stage) == ["ls", "cat"])
    #expect(stage.endedPromises == [["/promise1"]])
    stage.checkItself()
  }

  @Test func `rules are asked about a type as soon as nobody declares it`() throws {
    var stage = try stage()
    stage.book.setRules(
      try Self.set("rule old\nwhen activity is 'edit'\nthen activity 'view' key 'old'"), home: .empty)
    func edit() throws -> Payload { Payload(try UserActivity(type: "edit", key: "new", userInfo: UserInfo())) }
    for _ in 1...3 { _ = deliver(try edit(), &stage) }
    #expect(shown(stage) == ["new"])
    stage.play(
      .declared(
        Manifest(
          identifier: "org.example.Cats", activityTypes: ["view"], supportsMultipleScenes: true,
          configurations: [SceneConfiguration(name: "Default")])))
    _ = deliver(try edit(), &stage)
    #expect(Set(shown(stage)) == ["new", "old"])
  }

  @Test func `sources and errors know items by their places in what was handed in`() throws {
    var stage = try stage()
    var payload = try text("ls(1)")
    payload.items[0].representations.append(Representation(type: contentType("image/png"), .promise("/promise")))
    payload.items[0].representations.append(
      Representation(type: contentType("image/gif"), .file("file:///no.gif"), openInPlace: false))
    _ = deliver(payload, &stage)
    let orders = stage.errands.compactMap { if case .pack(_, let orders, _, _) = $0 { orders } else { nil } }.joined()
    #expect(orders.map(\.place) == ["items[0].representations[2].file"])
    payload.items[0].representations.removeLast()
    guard case .delivered(let delivered)? = deliver(payload, &stage) else {
      return _ = Issue.record("it was not delivered")
    }
    let kept = try #require(stage.shelf.baggage[delivered.delivery])
    #expect(kept.promises.map(\.item) == [0])
    stage.checkItself()
  }

  @Test func `what was refused or is private does not count, and a token that was answered ends its promises`() throws {
    var stage = try stage()
    var batch = try text("ls(1)")
    batch.items += try text("nothing").items
    _ = stage.call(.deliverEach(batch, digest: .empty, size: 0))
    #expect(stage.sessions().isEmpty)
    _ = deliver(try text("ls(1)") { $0.isPrivate = true }, &stage)
    #expect(stage.book.rulesWithMatches.map(\.matches) == [0, 0, 0, 0])
    var payload = try text("ls(1)") { $0.token = "t" }
    payload.items[0].representations.append(Representation(type: contentType("image/png"), .promise("/promise")))
    guard case .delivered(let delivered)? = deliver(payload, &stage) else {
      return _ = Issue.record("it was not delivered")
    }
    #expect(stage.book.rulesWithMatches.map(\.matches) == [0, 1, 0, 0])
    _ = stage.call(.cancel(delivered.delivery))
    let before = stage.endedPromises.count
    _ = deliver(payload, &stage)
    #expect(stage.endedPromises.count == before + 1)
    stage.checkItself()
  }

  @Test func `a call that waits for the disk is answered when the store refuses its turn`() throws {
    var stage = try stage()
    _ = deliver(try text("main.c:42"), &stage)
    let (number, consulting) = try #require(self.consulting(stage))
    let answer = consulting.answers(Stage.types, disk: ["/src/main.c": .file(.plainText)])
    stage.play(.refused(.consulted(number, answer), InterchangeError(.storageFailed, "full")))
    #expect(error(stage.answers[number]) == .storageFailed)
    stage.checkItself()
  }
}
