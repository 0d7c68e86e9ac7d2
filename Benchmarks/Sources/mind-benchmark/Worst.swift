import SceneModel
import SceneRouting

/// The most expensive decisions within the limits, each in milliseconds and steps. Measure these after a change of `Limits` or `Steps`.
enum Worst {
  static func measure() {
    let key = Text(String(repeating: "a", count: 12_800))
    let marked = Text(String(repeating: "É", count: 6_400))
    let long = String(repeating: "a", count: 4_000)
    conditions("patterns of 4 KB, longest key", 200, key) { "SELF LIKE[cd] '*\(long)\($0)*'" }
    conditions("patterns of 4 KB, longest key to fold", 200, marked) { "SELF LIKE[cd] '*\(long)\($0)*'" }
    conditions("patterns of 4 KB, short key", 20_000, "ab") { "SELF LIKE[cd] '*\(long.prefix(2_000))\($0)*'" }
    conditions("small patterns, short key", 200_000, "ab") { "SELF LIKE '*\($0)*'" }
    conditions("small patterns, longest key", 20_000, key) { "SELF LIKE '*\($0)*'" }
    conditions("unequal, short key", 200_000, "ab") { "SELF != 'b' AND SELF != 'ab' AND SELF != '\($0)'" }
    conditions("orders, longest key", 200_000, key) { "SELF > '\(key.string.prefix(2_000))\($0)b'" }
    conditions("lists, short key", 5_000, "ab") { number in
      "NOT SELF IN {" + (0..<300).map { "'\(number % 1_000)\($0)'" }.joined(separator: ",") + ",'ab'}"
    }
    conditions("parts, short key", 5_000, "ab") { number in
      (0..<120).map { "SELF CONTAINS '\(number)\($0)'" }.joined(separator: " OR ")
    }
    conditions("expressions of stars, longest key", 200, key) { "SELF MATCHES '(a*)*(a|aa)*[b\($0)]'" }
    conditions("expressions of 8,000 steps, short key", 1_000, "aa") { "SELF MATCHES '((a?){1000}){4}[bc]|\($0)b'" }
    conditions("expressions of classes, longest key", 200, marked) { "SELF MATCHES '([^a-z]*[À-ſ]|\\W+)*[x\($0)]'" }
    conditions("expressions without case, longest key", 200, marked) { "SELF MATCHES[c] '([α-ω]|[à-ž]|É)*[x\($0)]'" }
    conditions("beginnings, longest key", 100_000, key) {
      "SELF BEGINSWITH '\(key.string.prefix(1 + $0 % 4_000))' AND SELF CONTAINS 'b\($0)'"
    }
    // Many sessions wait for the same key, and veto it.
    conditions("vetoes of what is shown", 100_000, "ab", shows: "ab") { "SELF != 'ab' AND SELF != '\($0)'" }
    for count in [1_000, 8_000] { applications(count) }
    manyConfigurations(key)
    types()
    activities()
  }

  private static func best(_ name: String, _ state: State, _ payload: Payload, each: Bool = false, lists: Bool = false)
  {
    var steps = 0
    var milliseconds = Double.infinity
    var outcome: Text = ""
    for _ in 0..<3 {
      var left = Limits.conditionSteps
      let payloads = each ? payload.split : [payload]
      let time = nanoseconds(1) {
        for payload in payloads {
          let request = Request(payload, newSession: World.identifier(1 << 40), listsCandidates: lists)
          guard case .decided(let decision) = decide(state, request, at: Instant(microseconds: 0), within: &left) else {
            preconditionFailure("the state knows everything")
          }
          outcome = decision.outcome.name
        }
      }
      milliseconds = min(milliseconds, time / 1_000_000)
      steps = Limits.conditionSteps - left
    }
    print(
      name, outcome, "\(Int(milliseconds * 100)) ms/100", "\(steps) steps",
      "\(Int(milliseconds * 1e8 / Double(max(1, steps)))) ns/100", separator: "\t")
  }

  private static func conditions(
    _ name: String, _ count: Int, _ key: Text, shows shown: Text? = nil, _ condition: (Int) -> String
  ) {
    var world = World(.short, size: 0)
    for number in 0..<count { world.add(number, shows: shown, can: condition(number)) }
    let payload = Payload(UserActivity(activityType: World.activityType, targetContentIdentifier: key))
    best(name, world.state, payload)
    best("\(name), explained", world.state, payload, lists: true)
  }

  private static func manifest(_ identifier: String, takes: [String] = [], _ configurations: Int = 1) -> Manifest {
    let types = takes.compactMap { ContentType(Text($0), as: .asked) }
    return Manifest(
      identifier: Text(identifier), activityTypes: ["view"], contentTypes: types, supportsMultipleScenes: true,
      configurations: (0..<configurations).map { SceneConfiguration(name: Text("C\($0)"), contentTypes: types) })
  }

  private static func applications(_ count: Int) {
    var state = State(types: TypeCatalog(), isComplete: true)
    for number in 0..<count {
      state.register(manifest("org.example.A\(number)", takes: ["*/*", "text/plain", "text/*"], 4))
    }
    best("\(count) applications, no key", state, Payload(UserActivity(activityType: "view")))
    best(
      "\(count) applications, key", state, Payload(UserActivity(activityType: "view", targetContentIdentifier: "ab")))
    guard let type = ContentType("text/html") else { return }
    best(
      "\(count) applications, content", state,
      Payload(items: [Item(representations: [Representation(type: type, .file("file:///a"))])]))
  }

  private static func manyConfigurations(_ key: Text) {
    var state = State(types: TypeCatalog(), isComplete: true)
    var manifest = manifest("org.example.A", 64)
    manifest.contentTypes = []
    state.register(manifest)
    var number = 0
    for configuration in 0..<64 {
      for length in stride(from: 1, to: 4_000, by: 40) {
        var session = Session(
          identifier: World.identifier(number), application: "org.example.A", configuration: Text("C\(configuration)"),
          created: Instant(microseconds: 0))
        session.canActivatePredicate = Text("SELF BEGINSWITH '\(key.string.prefix(length))'")
        state.update(session)
        number += 1
      }
    }
    best(
      "64 configurations with beginnings", state,
      Payload(UserActivity(activityType: "view", targetContentIdentifier: key)))
  }

  private static func types() {
    var state = State(types: TypeCatalog(), isComplete: true)
    let register = nanoseconds(1) {
      for number in 0..<100 {
        state.register(
          manifest("org.example.A\(number)", takes: (0..<1_000).map { "text/plain;a=1;b=\(number)x\($0)" }, 64))
      }
    }
    print("to register 100 manifests of 1000 types", Int(register / 1_000_000), "ms", separator: "\t")
    let parameters = (0..<40).map { ";a\($0)=1" }.joined()
    func representation(_ text: String) -> Representation? {
      ContentType(Text(text)).map { Representation(type: $0, .text("")) }
    }
    best(
      "many declared parameters", state,
      Payload(items: [Item(representations: [representation("text/plain;a=1\(parameters)")].compactMap(\.self))]))
    let items = (0..<1_000).map { item in
      Item(representations: (0..<25).compactMap { representation("text/x-\(item)-\($0)\(parameters)") })
    }
    best("25,000 types that nobody takes", state, Payload(items: items))
    best("25,000 types that nobody takes, each", state, Payload(items: items), each: true)
  }

  private static func activities() {
    var state = State(types: TypeCatalog(), isComplete: true)
    state.register(manifest("org.example.A"))
    let items = (0..<500).map { item in
      Item(activities: (0..<100).map { UserActivity(activityType: Text("org.example.nobody.\(item).\($0)")) })
    }
    best("50,000 activities that nobody declares", state, Payload(items: items))
    best("50,000 activities that nobody declares, each", state, Payload(items: items), each: true)
  }
}
