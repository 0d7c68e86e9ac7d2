/// The life of a scene as data: its phases, and the calls of its delegate that lead from one phase to the next.
///
/// A phase changes before its call is made. So a delegate that asks for another state during a call, or ends the scene, changes the next call:
/// the newest goal counts, no call is made twice, and none after the end.
package struct SceneLife: Sendable, Hashable {
  package enum Phase: Sendable, Hashable {
    case connecting, connected
    case entering(isFirst: Bool)
    case inactive, active, resigning, hiding, background, ended
  }

  /// The state that the toolkit, the delegate or the service last asked for.
  package enum Goal: Sendable, Hashable, CaseIterable { case inactive, active, background, ended }

  package enum Call: Sendable, Hashable {
    case willEnterForeground, didBecomeActive, willResignActive, didEnterBackground, stateRestorationActivity
    case didDisconnect
  }

  package private(set) var phase = Phase.connecting
  package private(set) var goal = Goal.inactive

  package init() {}

  /// The state that the delegate and the service see. During `sceneWillEnterForeground` and `sceneWillResignActive` it is still the old one.
  package var state: ActivationState {
    switch phase {
    case .connecting, .connected, .ended, .entering(isFirst: true): .unattached
    case .inactive: .foregroundInactive
    case .active, .resigning: .foregroundActive
    case .hiding, .background, .entering(isFirst: false): .background
    }
  }

  /// Whether the scene has ended, or is about to: the delegate gets the calls of its end, and nothing else.
  package var isEnding: Bool { goal == .ended }

  /// The end is final.
  package mutating func want(_ goal: Goal) { if !isEnding { self.goal = goal } }

  /// `willConnectTo` has returned. A scene that was ended during the call has never been connected.
  package mutating func connect() { if phase == .connecting { phase = isEnding ? .ended : .connected } }

  /// `willConnectTo` threw.
  package mutating func refuse() { if phase == .connecting { (phase, goal) = (.ended, .ended) } }

  /// The next call on the way to the goal; `nil` at the goal.
  package mutating func next() -> Call? {
    if phase == .entering(isFirst: true) || phase == .entering(isFirst: false) || phase == .resigning {
      phase = .inactive
    }
    switch (phase, goal) {
    case (.connecting, _), (.ended, _), (.inactive, .inactive), (.active, .active), (.background, .background):
      return nil
    case (.connected, .ended), (.background, .ended): return step(.ended, .didDisconnect)
    case (.connected, _): return step(.entering(isFirst: true), .willEnterForeground)
    case (.background, _): return step(.entering(isFirst: false), .willEnterForeground)
    case (.inactive, .active): return step(.active, .didBecomeActive)
    case (.inactive, _): return step(.hiding, .didEnterBackground)
    case (.active, _): return step(.resigning, .willResignActive)
    case (.hiding, _): return step(.background, .stateRestorationActivity)
    case (.entering, _), (.resigning, _): return nil
    }
  }

  private mutating func step(_ phase: Phase, _ call: Call) -> Call {
    self.phase = phase
    return call
  }
}
