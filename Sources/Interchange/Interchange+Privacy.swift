import SceneModel
import SceneRouting
import SessionStore

// Decisions, as those may see them who are neither the sender of a private delivery nor its host.
extension Interchange {
  /// Why a session would take something tells what it shows, so of a private one that is left out.
  func hideSecrets(of candidates: inout [Candidate]) throws {
    endTurn()
    for place in candidates.indices {
      guard let session = try storedSession(candidates[place].session), session.isPrivate || session.hasSecrets else {
        continue
      }
      candidates[place].because = "what it shows is private, or its host's own"
    }
  }

  /// A decision as everyone may see it: which window, and nothing of what is shown there.
  func withoutContent(_ decision: Text) throws -> Text {
    let value = try read { () throws(Fault) in try JSON.value(decision) }
    guard case .dictionary(let whole) = value else { return .empty }
    var shown = UserInfo()
    shown["outcome"] = whole["outcome"]
    let parts: [(Text, Text)] = [("application", "chosen"), ("configuration", "chosen"), ("chosen", "session")]
    for (key, part) in parts {
      guard case .dictionary(let fields)? = whole[key], let value = fields[part] else { continue }
      shown[key] = .dictionary([part: value])
    }
    return JSON.text(of: .dictionary(shown))
  }
}
