import InterchangeCore
import InterchangeTurns
import SceneModel
import SessionStore

// What relays pass on: for strangers, from other places, and to applications whose sessions stand for other places.
extension World {
  /// Some payloads came from elsewhere. Their activation tokens repeat what they say of it.
  func passOn(_ payload: inout Payload, from caller: Int) {
    var own = chance.aside
    let isRelay = programs.contains { $0.connection == caller && forwarder($0.application) != nil }
    let origin = own.once(in: isRelay ? 2 : 25) ? Text("place-\(own.below(3))") : nil
    payload.options.origin = origin
    payload.options.isFromStranger = own.once(in: isRelay ? 2 : 12)
    if origin != nil { payload.options.activationToken = origin }
    guard payload.options.isFromStranger else { return }
    payload.options.activationToken = Text("\(origin ?? .empty) strange")
    showToAll(&payload.items)
  }

  /// A stranger hides nothing from anyone.
  func showToAll(_ items: inout [Item]) {
    for item in items.indices {
      for place in items[item].activities.indices where items[item].activities[place].visibility != .all {
        (items[item].activities[place].visibility, items[item].activities[place].title) = (.all, nil)
      }
    }
  }

  /// An application whose sessions stand for other places.
  func forwarder(_ application: Text) -> Setting.Stage? {
    setting.applications.first { $0.forwards && $0.identifier == application }
  }

  // MARK: Laws

  /// Only its host says what stands for another place.
  func checkPlace(_ session: UniqueIdentifier, _ changed: [SessionField], _ cue: Cue) {
    guard changed.contains(.written(.title)) || changed.contains(.written(.userActivity)),
      let application = prompter.book.application(of: session), forwarder(application) != nil,
      // Without its manifest nobody knows that it forwards.
      installed[application] != nil
    else { return }
    // The program may have left since it wrote.
    if case .call(_, let caller, let ask) = cue, caller.connection.flatMap({ programNames[$0] }) == application {
      switch ask {
      case .write(session, _), .adopt(application, _, _, _): return
      default: break
      }
    }
    breaks(.forwarding, "the content of \(session) changes, and its host has not written it")
  }

  /// Looks at what was delivered although its sender, or its way, might not be the right one.
  func checkPassing(_ delivered: Delivered, _ sent: Sent) {
    let payload: Payload
    switch sent.ask {
    case .deliver(let asked, _, _), .deliverEach(let asked, _, _), .activate(_, let asked, _): payload = asked
    default: return
    }
    let isStranger = payload.options.isFromStranger
    let namesFile = payload.items.contains {
      $0.representations.contains { if case .file = $0.content { true } else { false } }
    }
    if isStranger, payload.items.isEmpty || namesFile { breaks(.strangers, "\(payload.json) was delivered") }
    let hosted = programs.filter { $0.connection == sent.isThere }.map(\.application)
    if payload.options.origin != nil, connections[sent.isThere].isThere,
      !hosted.contains(where: { forwarder($0) != nil })
    {
      breaks(.forwarding, "\(sent.caller) hosts nothing that forwards, and states an origin")
    }
    guard setting.applications.contains(where: \.forwards),
      let stored = disk.undisturbed({ (try? store.delivery(delivered.delivery)) ?? nil }),
      let stage = forwarder(stored.application)
    else { return }
    // Nothing at all, for a new session, is what NewSession delivers as well.
    let isNewSession = payload.items.isEmpty && payload.options.disposition == .new
    if payload.options.session == nil, !isNewSession {
      breaks(.forwarding, "\(payload.json) names no session, and comes to one")
    }
    if !stage.acceptsSandboxed, isStranger || sent.caller.isSandboxed && sent.caller.application != stage.identifier {
      breaks(.forwarding, "\(stage.identifier) takes nothing from sandboxes, and got \(payload.json)")
    }
  }

  /// A host that is given a delivery again is told so.
  func checkAttempt(_ question: HostQuestion) {
    if case .configuration = question { return }
    guard let told = question.options.flatMap({ try? JSON.value($0) }),
      let delivery = told["delivery"]?.string.flatMap({ UniqueIdentifier(Text($0)) }),
      let attempt = told["attempt"]?.number
    else { return }
    let before = attempts.updateValue(attempt, forKey: delivery) ?? 0
    if attempt <= before { breaks(.handing, "\(delivery) comes with the attempt \(attempt) after \(before)") }
  }

  /// Compares connection options with what the sender has repeated for this: see `passOn`, `sizePromises` and the drops.
  func checkTold(_ options: Text) {
    guard let told = try? JSON.value(options) else { return breaks(.handing, "\(options) is no document") }
    let token = told["activationToken"]?.string.map { Text($0) } ?? .empty
    let isStranger = token.holds("strange")
    let origin = token.holds("place-") ? token.string.split(separator: " ").first.map(String.init) : nil
    if told["origin"]?.string != origin { breaks(.handing, "the origin is \(origin ?? "not said"), and: \(options)") }
    for activity in told["userActivities"]?.elements ?? []
    where activity["isEligibleForHandoff"] != activity["persistentIdentifier"].map({ .bool($0 == .string("true")) }) {
      breaks(.handing, "not every activity has what its sender said of handing it off: \(options)")
    }
    for item in told["items"]?.elements ?? [] {
      guard let said = item["suggestedName"]?.string?.split(separator: " "), said.count == 2, let size = Int64(said[1])
      else { continue }
      let promised = item["representations"]?.elements.first { $0["type"]?.string == String(said[0]) }
      if let promised, promised["size"]?.number != size { breaks(.handing, "not \(said) is told, but \(options)") }
    }
    if isStranger, told["sourceApplication"] != nil || options.holds("\"file\":") {
      breaks(.strangers, "a host is told \(options)")
    }
    if let delivery = told["delivery"]?.string.flatMap({ UniqueIdentifier(Text($0)) }), let drag = dragged[delivery] {
      if told["operation"]?.string.map({ Text($0) }) != drag.operation { breaks(.handing, "it is no \(options)") }
    }
  }
}
