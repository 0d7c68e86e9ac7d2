import SceneModel

extension Decider {
  func listCandidates(_ scope: Scope, _ state: State) {}
}
