struct Chance: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  /// The numbers for one part of a play.
  init(_ seed: UInt64, _ part: UInt64) {
    var mixed = Chance(seed ^ part &* 0xD6E8_FEB8_6659_FD93)
    state = mixed.next()
  }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, but not including, `bound`; 0 if `bound` is 0.
  mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() % UInt64(bound)) }

  /// Other numbers, for a part of a play on which the rest of the play does not depend.
  var aside: Chance {
    var copy = self
    return Chance(copy.next(), 7)
  }

  mutating func once(in times: Int) -> Bool { below(times) == 0 }

  mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }

  mutating func any<Element>(of elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }
}
