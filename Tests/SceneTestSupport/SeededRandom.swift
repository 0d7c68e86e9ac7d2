import FoundationEssentials

/// A stream of numbers that the seed determines, so that a broken law can be broken again.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// SplitMix64.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension RandomNumberGenerator {
  /// A number from 0 up to, but not including, `bound`.
  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  package mutating func once(in times: Int) -> Bool { below(times) == 0 }

  package mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}

extension RandomNumberGenerator {
  /// The text with one to three small changes: a piece more, some scalars less or replaced, or without its end.
  package mutating func damaged(_ text: String, with pieces: [String]) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0...below(3) {
      let place = below(scalars.count + 1)
      let end = once(in: 6) ? scalars.count : min(place + below(4), scalars.count)
      scalars.replaceSubrange(place..<end, with: once(in: 3) ? [] : Array(one(of: pieces).unicodeScalars))
    }
    return String(String.UnicodeScalarView(scalars))
  }
}

/// How often a law is tried. `make stress`, whose tests are optimised, tries each of them four times as often.
package func rounds(_ count: Int) -> Int {
  isStress ? 4 * count : count
}

package let isStress = ProcessInfo.processInfo.environment["STAGEDOOR_STRESS"] != nil
