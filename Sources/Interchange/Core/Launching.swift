import SceneModel
import SceneRouting

// How applications with held deliveries are started: by the bus if it knows how, otherwise by the command of their manifest. Without either, a host
// may still attach.
extension PromptBook {
  mutating func start(_ application: Text) throws(Halt) {
    if memory.hosts[application] != nil || memory.rounds[application]?.isFailing ?? false { return }
    if let start = memory.starts[application], !start.mayBeginAgain(at: now.uptime) { return }
    forgetStart(of: application)
    guard memory.routing.manifest(of: application) != nil else {
      memory.starts[application] = .impossible(since: now.uptime)
      return
    }
    let number = newStart()
    memory.starts[application] = .asking(number: number, isKnown: false)
    // The application itself knows nothing of this service: its understudy is started.
    switch memory.routing.manifest(of: application)?.understudy {
    case nil: step.errands.append(.launch(application: application, number: number, name: application))
    case .owner(let name): step.errands.append(.launch(application: application, number: number, name: name))
    case .registrar: try run(application, number)
    }
  }

  mutating func forgetStart(of application: Text) {
    guard let start = memory.starts[application] else { return }
    memory.starts[application] = nil
    if let number = start.number { step.errands.append(.forgetLaunch(application: application, number: number)) }
  }

  mutating func launched(_ application: Text, _ number: Int, _ news: LaunchNews) throws(Halt) {
    guard let start = memory.starts[application], start.number == number else { return }
    switch (start, news) {
    case (.asking, .isKnown): memory.starts[application] = .asking(number: number, isKnown: true)
    case (.asking, .started):
      memory.starts[application] = .begun(number: number, since: now.uptime)
      log("\(application): the bus has started it, or it was there already")
    case (.asking, .unknown): try run(application, number)
    case (_, .failed(let why)): try launchFailed(application, why)
    case (.begun, .commandEnded(failure: nil)): memory.starts[application] = .ended(until: now.uptime + Start.followsBy)
    case (.begun, .commandEnded(failure: let why?)):
      try launchFailed(application, Text("\(application) could not be started: \(why)"))
    case (.begun, .left(wasStarted: true)):
      try launchFailed(application, Text("\(application) was started, and left the bus before it attached"))
    case (.begun, .left(wasStarted: false)):
      forgetStart(of: application)
      if memory.deliveriesToApplication.count(of: application) > 0 { try self.start(application) }
    case (.begun, _), (.asking, _), (.ended, _), (.impossible, _): break
    }
  }

  private mutating func run(_ application: Text, _ number: Int) throws(Halt) {
    guard let command = memory.routing.manifest(of: application)?.exec else {
      memory.starts[application] = .impossible(since: now.uptime)
      return
    }
    let token = try activationToken(for: application)
    memory.starts[application] = .begun(number: number, since: now.uptime)
    log("\(application): starting \(quoted(command.string))")
    step.errands.append(.run(application: application, number: number, command: command, activationToken: token))
  }

  /// The token of the newest held delivery, for the window that the user asked for last.
  private func activationToken(for application: Text) throws(Halt) -> Text? {
    guard let last = memory.deliveriesToApplication[application].last, let stored = try delivery(last.identifier) else {
      return nil
    }
    return (try? Payload(json: stored.payload, ReadingRules(storedIn: types)))?.options.activationToken
  }

  /// Fails the deliveries that are held now.
  private mutating func launchFailed(_ application: Text, _ why: Text) throws(Halt) {
    memory.starts[application] = nil
    log(.error, why.string)
    try begin(.failing(why: why, through: memory.order), of: application)
  }

  /// Whether anything can start the application; `nil` while the shell is finding out.
  func canBeStarted(_ application: Text) -> Bool? {
    if memory.hosts[application] != nil || memory.rounds[application]?.isFailing ?? false { return true }
    return memory.starts[application].map(\.isPossible) ?? false
  }
}
