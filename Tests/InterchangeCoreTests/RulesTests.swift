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

  private let stage = Stage(
    cats { ($0.activityTypes, $0.contentTypes) = (["view", "edit"], [contentType("text/html")]) })

  init() throws { stage.setRules(try Self.set(), home: "/home/user") }

  private func text(_ text: Text, _ change: (inout PayloadOptions) -> Void = { _ in }) throws -> Payload {
    var payload = try Payload(text: text, directory: "/src", info: [:])
    change(&payload.options)
    return payload
  }

  @discardableResult
  private func deliver(_ payload: Payload, by caller: Caller = .shell) -> CallAnswer? {
    stage.call(.deliver(payload, digest: payload.options.token ?? .empty, size: 0), by: caller)
  }

  /// The rules that the shell was asked to consult last.
  private func consulting() -> (CallNumber, Consulting)? {
    stage.errands.compactMap { if case .consult(let number, let consulting) = $0 { (number, consulting) } else { nil } }
      .last
  }

  /// A promise, which ends with its call.
  private func promise(_ path: Text = "/promise") -> Representation { .promise(path, type: "image/png") }

  /// The answer of `Explain`.
  private func decision(on payload: Payload, by caller: Caller = .shell) -> Decision? {
    let asked = stage.book.consultation(on: payload, from: caller)
    let answer = asked.map { $0.answer ?? $0.rest.answers(Stage.types, disk: [:])[0] }
    return stage.decision(on: payload, consultation: answer, by: caller)
  }

  private func shown() -> [Text?] { stage.sessions().map { $0.userActivity?.targetContentIdentifier } }

  @Test func `a text finds its window, and the stored decision names the rule`() throws {
    let delivered = try #require(deliver(try text("ls(1)"))?.delivered)
    #expect(shown() == ["ls"])
    let stored = try #require(stage.shelf.deliveries[delivered.delivery])
    #expect(
      Decision.document(ofStored: stored.decision)?.string.contains(
        #""rule":{"file":"/rules/it.rules","line":6,"name":"page"}"#) == true)
    #expect(Decision.document(ofStored: stored.decision)?.string.contains("candidates") == false)
    // Also when the file has changed since.
    stage.setRules(RuleSet())
    #expect(stage.shelf.deliveries[delivered.delivery]?.decision == stored.decision)
    // The same text finds the same window.
    stage.setRules(try Self.set())
    deliver(try text("ls(1)"))
    #expect(stage.sessions().count == 1)
  }

  @Test func `what the disk must say is asked beforehand, by the rules as they were`() throws {
    #expect(deliver(try text("main.c:42")) == nil)
    let (number, consulting) = try #require(self.consulting())
    guard case .asks(["/src/main.c"])? = consulting.answers(Stage.types).first else {
      return _ = Issue.record("it does not ask for the file")
    }
    stage.setRules(RuleSet())
    stage.play(.consulted(number, consulting.answers(Stage.types, disk: ["/src/main.c": .file(.plainText)])))
    #expect(shown() == ["file:///src/main.c"])
    #expect(stage.sessions().first?.userActivity?.userInfo == ["dir": "/src", "line": "42"])
  }

  @Test func `a rule that is not the one has changed nothing`() throws {
    deliver(try text("main.c:42"))
    let (number, consulting) = try #require(self.consulting())
    stage.play(.consulted(number, consulting.answers(Stage.types, disk: [:])))
    #expect(stage.answers[number]?.refusal?.name == .routing("org.stagedoor.Error.NoActivity"))
    #expect(stage.sessions().isEmpty)
  }

  @Test func `no rule is asked for a declared type, a named application or session, or where options say so`() throws {
    let names: [(inout PayloadOptions) -> Void] = [
      { $0.asksRules = false }, { $0.application = "org.example.Cats" },
      { $0.session = "6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41" },
    ]
    for change in names { #expect(deliver(try text("ls(1)", change))?.refusal != nil) }
    var declared = try text("ls(1)")
    declared.items[0].activities = [UserActivity(activityType: "view", targetContentIdentifier: "mine")]
    deliver(declared)
    #expect(shown() == ["mine"])
    // An undeclared type is put to the rules.
    var undeclared = try text("cat(1)")
    undeclared.items[0].activities = [UserActivity(activityType: "unknown")]
    deliver(undeclared)
    #expect(Set(shown()) == ["mine", "cat"])
  }

  @Test func `what a rule makes is routed without rules`() throws {
    let refusal = deliver(try text("elsewhere"))?.refusal
    #expect(refusal?.name == .routing("org.stagedoor.Error.ActivityTypeNotDeclared"))
  }

  @Test func `a refusal names the rule that asked for what is not there`() throws {
    stage.setRules(try Self.set("rule it\nwhen text is 'x'\nthen application 'org.example.Player'\n"))
    let refusal = try #require(deliver(try text("x"))?.refusal)
    #expect(refusal.name == .routing("org.stagedoor.Error.NoSuchApplication"))
    #expect(refusal.message.hasPrefix("there is no application \"org.example.Player\""), "\(refusal.message)")
    #expect(refusal.message.hasSuffix("; the rule it asked so, /rules/it.rules:1"), "\(refusal.message)")
    // Explain says the same. A sandbox reads no rules.
    for (caller, message) in [
      (.shell, refusal.message),
      (.sandbox("org.example.Mail"), refusal.message.replacing("; the rule it asked so, /rules/it.rules:1", with: "")),
    ] as [(Caller, String)] {
      guard case .refused(let explained)? = decision(on: try text("x"), by: caller)?.outcome else {
        Issue.record("\(caller) gets it")
        continue
      }
      #expect(explained.message == message)
    }
  }

  @Test func `a text that takes too long is refused, also after a second try aside, and its promises end`() throws {
    var payload = try text(Text(String(repeating: "a", count: 60_000) + "c b"))
    payload.items[0].representations.append(promise())
    #expect(deliver(payload) == nil)
    let (number, _) = try #require(self.consulting())
    stage.play(.consulted(number, [.exhausted]))
    #expect(stage.answers[number]?.refusal?.name == .limitsExceeded)
    #expect(stage.endedPromises == [["/promise"]])
    stage.checkItself()
  }

  @Test func `for a sandboxed sender no rule asks the disk`() throws {
    #expect(deliver(try text("main.c:42"), by: .sandbox("org.example.Mail"))?.refusal != nil)
    #expect(consulting() == nil)
    #expect(deliver(try text("main.c:42") { $0.isFromStranger = true })?.refusal != nil)
    #expect(consulting() == nil)
  }

  @Test func `the same token gets the first answer, whatever the rules say by then`() throws {
    let first = deliver(try text("ls(1)") { $0.token = "t" })
    stage.setRules(RuleSet())
    #expect(deliver(try text("ls(1)") { $0.token = "t" }) == first)
    stage.setRules(try Self.set("rule other\nthen activity 'edit'"))
    #expect(deliver(try text("ls(1)") { $0.token = "t" }) == first)
  }

  @Test func `Explain says what the drop will do, and without a rule why each failed`() throws {
    func explained(_ payload: Payload, by caller: Caller = .shell) -> Explanation? {
      decision(on: payload, by: caller)?.explanation
    }
    deliver(try text("ls(1)"))
    let page = explained(try text("ls(1)"))
    guard case .made(let rule, let made?)? = page?.rules else { return _ = Issue.record("no rule took it") }
    #expect(rule == RuleReference(name: "page", file: "/rules/it.rules", line: 6))
    #expect(made.items.first?.activities.first?.targetContentIdentifier == "ls")
    #expect(page?.key == "ls")
    guard case .passed(let failures)? = explained(try text("nothing"))?.rules else {
      return _ = Issue.record("no rule takes it")
    }
    #expect(failures.map(\.name) == ["at-line", "page", "elsewhere", "slow"])
    // A sandbox reads neither.
    #expect(explained(try text("ls(1)"), by: .sandbox("org.example.Mail"))?.rules == nil)
    #expect(explained(try text("nothing"), by: .sandbox("org.example.Mail"))?.rules == nil)
  }

  @Test func `each item by itself is put to the rules, as if it had come alone`() throws {
    var payload = try text("ls(1)")
    payload.items += try ["main.c:42", "nothing", "cat(1)"].flatMap { try text(Text($0)).items }
    payload.options.batch = .bestEffort
    #expect(stage.call(.deliverEach(payload, digest: .empty, size: 0)) == nil)
    let (number, consulting) = try #require(self.consulting())
    stage.play(.consulted(number, consulting.answers(Stage.types, disk: ["/src/main.c": .file(.plainText)])))
    let items = try #require(stage.answers[number]?.items)
    #expect(shown() == ["ls", "file:///src/main.c", "cat"])
    let noActivity = InterchangeError.Name.routing("org.stagedoor.Error.NoActivity")
    #expect(items.map(\.refusal?.name) == [nil, nil, noActivity, nil])
    let rules = stage.shelf.deliveries.values.compactMap { Decision.document(ofStored: $0.decision) }
    #expect(rules.count { $0.string.contains(#""name":"page""#) } == 2)
    #expect(stage.book.rulesWithMatches.map(\.matches) == [1, 2, 0, 0])
    stage.setRules(RuleSet())
    #expect(stage.book.unsettled == [])
    stage.setRules(try Self.set())
    #expect(stage.book.rulesWithMatches.map(\.matches) == [1, 2, 0, 0])
    stage.checkItself()
  }

  @Test func `an item that takes too long fails alone, and only its promises are ended`() throws {
    var payload = try text("ls(1)")
    payload.items += try ["main.c:42", "cat(1)"].flatMap { try text(Text($0)).items }
    for item in 0...2 { payload.items[item].representations.append(promise(Text("/promise\(item)"))) }
    payload.options.batch = .bestEffort
    #expect(stage.call(.deliverEach(payload, digest: .empty, size: 0)) == nil)
    let (number, consulting) = try #require(self.consulting())
    var answers = consulting.answers(Stage.types, disk: [:])
    answers[1] = .exhausted
    stage.play(.consulted(number, answers))
    let items = try #require(stage.answers[number]?.items)
    #expect(items.map(\.refusal?.name) == [nil, .limitsExceeded, nil])
    #expect(shown() == ["ls", "cat"])
    #expect(stage.endedPromises == [["/promise1"]])
    stage.checkItself()
  }

  @Test func `where too many texts wait, an item that no rule is asked about goes on`() throws {
    var payload = try text("main.c:42")
    var declared = try text("x").items[0]
    declared.activities = [UserActivity(activityType: "view", targetContentIdentifier: "mine")]
    payload.items.append(declared)
    payload.options.batch = .bestEffort
    #expect(stage.call(.deliverEach(payload, digest: .empty, size: 0)) == nil)
    let (number, consulting) = try #require(self.consulting())
    stage.play(.consulted(number, consulting.answersUnasked))
    let items = try #require(stage.answers[number]?.items)
    #expect(items.map(\.refusal?.name) == [.limitsExceeded, nil])
    #expect(shown() == ["mine"])
    stage.checkItself()
  }

  @Test func `rules are asked about a type as soon as nobody declares it`() throws {
    stage.setRules(try Self.set("rule old\nwhen activity is 'edit'\nthen activity 'view' key 'old'"))
    func edit() throws -> Payload { Payload(try UserActivity(type: "edit", key: "new", userInfo: UserInfo())) }
    for _ in 1...3 { deliver(try edit()) }
    #expect(shown() == ["new"])
    stage.play(.declared(cats()))
    deliver(try edit())
    #expect(Set(shown()) == ["new", "old"])
  }

  @Test func `sources and errors know items by their places in what was handed in`() throws {
    var payload = try text("ls(1)")
    payload.items[0].representations += [promise(), .file("no.gif", type: "image/gif")]
    deliver(payload)
    let orders = stage.errands.compactMap { if case .pack(_, let orders, _, _) = $0 { orders } else { nil } }.joined()
    #expect(orders.map(\.place) == ["items[0].representations[2].file"])
    payload.items[0].representations.removeLast()
    let delivered = try #require(deliver(payload)?.delivered)
    let kept = try #require(stage.shelf.baggage[delivered.delivery])
    #expect(kept.promises.map(\.item) == [0])
    stage.checkItself()
  }

  @Test func `what was refused or is private does not count, and a token that was answered ends its promises`() throws {
    var batch = try text("ls(1)")
    batch.items += try text("nothing").items
    stage.call(.deliverEach(batch, digest: .empty, size: 0))
    #expect(stage.sessions().isEmpty)
    deliver(try text("ls(1)") { $0.isPrivate = true })
    #expect(stage.book.rulesWithMatches.map(\.matches) == [0, 0, 0, 0])
    var payload = try text("ls(1)") { $0.token = "t" }
    payload.items[0].representations.append(promise())
    let delivered = try #require(deliver(payload)?.delivered)
    #expect(stage.book.rulesWithMatches.map(\.matches) == [0, 1, 0, 0])
    stage.call(.cancel(delivered.delivery))
    let before = stage.endedPromises.count
    deliver(payload)
    #expect(stage.endedPromises.count == before + 1)
    stage.checkItself()
  }

  @Test func `a call that waits for the disk is answered when the store refuses its turn`() throws {
    deliver(try text("main.c:42"))
    let (number, consulting) = try #require(self.consulting())
    let answer = consulting.answers(Stage.types, disk: ["/src/main.c": .file(.plainText)])
    stage.play(.refused(.consulted(number, answer), InterchangeError(.storageFailed, "full")))
    #expect(stage.answers[number]?.refusal?.name == .storageFailed)
    stage.checkItself()
  }
}
