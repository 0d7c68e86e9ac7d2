/// Unicode's simple case folding, which takes one scalar to one scalar.
package enum CaseFolding {
  package static func folded(_ scalar: UInt32) -> UInt32 {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if Run(runs[middle]).sources.lowerBound <= scalar { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return scalar }
    let run = Run(runs[low - 1])
    guard run.sources.contains(scalar), (scalar - run.sources.lowerBound) % run.step == 0 else { return scalar }
    return run.folded(scalar...scalar).lowerBound
  }

  /// Calls `body` with what the scalars of the range fold to, except what is in the range anyway.
  static func forEachFolding(of range: ClosedRange<UInt32>, _ body: (ClosedRange<UInt32>) -> Void) {
    for run in runs.lazy.map({ Run($0) }) where !range.contains(run.folded(run.sources)) {
      run.forEachStep(from: run.sources, within: range) { body(run.folded($0)) }
    }
  }

  /// Calls `body` with the scalars that fold to one of the range, except those that are in the range anyway.
  static func forEachOrigin(of range: ClosedRange<UInt32>, _ body: (ClosedRange<UInt32>) -> Void) {
    for run in runs.lazy.map({ Run($0) }) where !range.contains(run.sources) {
      run.forEachStep(from: run.folded(run.sources), within: range) { body(run.origin($0)) }
    }
  }

  private struct Run {
    let sources: ClosedRange<UInt32>
    let step: UInt32
    let difference: UInt32

    init(_ packed: UInt64) {
      func bits(_ shift: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: packed >> shift) & 0x1F_FFFF }
      sources = bits(0)...bits(21)
      step = 1 + bits(42) & 1
      difference = bits(43)
    }

    func folded(_ range: ClosedRange<UInt32>) -> ClosedRange<UInt32> { moved(range, difference) }
    func origin(_ range: ClosedRange<UInt32>) -> ClosedRange<UInt32> { moved(range, 0 &- difference) }

    private func moved(_ range: ClosedRange<UInt32>, _ difference: UInt32) -> ClosedRange<UInt32> {
      ((range.lowerBound &+ difference) & 0x1F_FFFF)...((range.upperBound &+ difference) & 0x1F_FFFF)
    }

    /// The scalars of the run, which begins with `run.lowerBound`, that are in `range`: as one range, or each by itself.
    func forEachStep(
      from run: ClosedRange<UInt32>, within range: ClosedRange<UInt32>, _ body: (ClosedRange<UInt32>) -> Void
    ) {
      guard run.overlaps(range) else { return }
      let common = run.clamped(to: range)
      if step == 1 { return body(common) }
      let first = common.lowerBound + (common.lowerBound - run.lowerBound) % step
      for scalar in stride(from: first, through: common.upperBound, by: Int(step)) { body(scalar...scalar) }
    }
  }
}
