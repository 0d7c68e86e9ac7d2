import SceneModel

/// One play, from its first act until all is quiet.
package struct Play: Sendable {
  package private(set) var steps = 0
  /// The simulated time, in microseconds.
  package private(set) var played: Int64 = 0
  package private(set) var breach: Breach?
  /// The index of the act during which the law broke.
  package private(set) var endedAt = 0

  /// - Parameter teller: Takes the story, line by line.
  package init(_ script: Script, teller: ((String) -> Void)? = nil) throws(TheatreFailure) {
    let world = try World(Setting(seed: script.seed))
    world.teller = teller
    world.tell(
      "seed \(script.seed): \(world.setting.durability), \(world.setting.applications.map { $0.identifier.string + ($0.forwards ? " forwards" : "") })"
    )
    world.chance = Chance(script.seed, 3)
    world.install()
    world.open()
    for (place, act) in script.acts.enumerated() {
      if world.broken != nil { break }
      endedAt = place
      world.tell("#\(place) at \(world.played / 1000) ms: \(act)")
      world.perform(act)
    }
    world.tell("# the end")
    world.chance = Chance(script.seed, 4)
    if world.broken == nil { world.comeToRest() }
    (steps, played, breach) = (world.steps, world.played, world.broken)
  }

  // MARK: Shorter

  /// The shortest script, found by leaving out acts, that still breaks the same law.
  package static func shortened(_ script: Script, breaking law: Law) throws(TheatreFailure) -> Script {
    var (script, tries) = (script, 400)
    func stillBreaks(_ acts: [Act]) throws(TheatreFailure) -> Int? {
      tries -= 1
      let play = try Play(Script(seed: script.seed, acts: acts))
      return play.breach?.law == law ? play.endedAt : nil
    }
    if let end = try stillBreaks(script.acts) { script.acts = Array(script.acts.prefix(end + 1)) }
    var size = max(1, script.acts.count / 2)
    while tries > 0 {
      var place = 0
      var isShorter = false
      while place < script.acts.count, tries > 0 {
        var acts = script.acts
        acts.removeSubrange(place..<min(place + size, acts.count))
        if try stillBreaks(acts) != nil {
          script.acts = acts
          isShorter = true
        } else {
          place += size
        }
      }
      if size == 1, !isShorter { break }
      if !isShorter || size > script.acts.count { size = max(1, size / 2) }
    }
    return script
  }
}

extension Script {
  package var text: String { (["seed \(seed)"] + acts.map(\.description)).joined(separator: "\n") + "\n" }

  /// Reads the text of a file. Lines that begin with "#" are comments.
  package init?(text: String) {
    var lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }[...]
    guard let first = lines.popFirst(), first.hasPrefix("seed "), let seed = UInt64(first.dropFirst(5)) else {
      return nil
    }
    var acts: [Act] = []
    for line in lines {
      guard let act = Act(line) else { return nil }
      acts.append(act)
    }
    self.init(seed: seed, acts: acts)
  }
}
