import SceneModel
import SceneRouting

@testable import InterchangeCore

/// A value of the memory whose changes can be undone, as lines to compare.
private protocol Portrayed { var lines: [String] { get } }
extension Table: Portrayed { fileprivate var lines: [String] { values.map { "\($0): \($1)" } } }
extension Queues: Portrayed { fileprivate var lines: [String] { keys.map { "\($0): \(Array(self[$0]))" } } }
extension Undoable: Portrayed { fileprivate var lines: [String] { ["\(wrappedValue)"] } }

/// Everything that a core knows and will act upon, to compare with what the same core knows later. What it remembers only for speed is left out.
func portrait(of book: PromptBook) -> [String] {
  let memory = book.memory
  let values = Mirror(reflecting: memory).children.flatMap { child -> [String] in
    let label = child.label ?? ""
    guard !["sessions", "recent"].contains(label), let value = child.value as? any Portrayed else { return [] }
    return value.lines.map { "\(label) \($0)" }.sorted()
  }
  let manifests = memory.manifests.values.keys.sorted().map { memory.routing.manifest(of: $0) }
  let preferred = memory.preferences.values.keys.sorted().map { memory.routing.preferredApplication(for: $0) }
  return values + ["routed \(manifests) \(preferred)"] + Resource.allCases.map { "\($0) \(book.ledger.total($0))" }
}

/// Records, sayings and errands in the order in which they came, to compare with those of another core. Numbers that grow with each attempt are left
/// out, and identifiers get names in the order in which they appear.
func portrait(of steps: [Step]) -> [String] {
  var names: [String: String] = [:]
  func named(_ line: String) -> String {
    line.replacing(/[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}/) { match -> String in
      let identifier = String(match.output.0.replacing("_", with: "-"))
      names[identifier] = names[identifier] ?? "#\(names.count + 1)"
      return names[identifier] ?? ""
    }
  }
  return steps.flatMap { step in
    let errands = step.errands.map { "\($0)".replacing(/\(\d+, |number: \d+/, with: "") }
    let lines = step.records.map { "\($0)" } + step.sayings.map { "\($0)" } + errands
    return lines.map(named) + ["call again: \(step.callAgain.map { "\($0)" } ?? "never")"]
  }
}
