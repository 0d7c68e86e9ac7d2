/// SplitMix64: the same numbers for the same seed, on every machine.
struct CodingRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension RandomNumberGenerator {
  mutating func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }

  /// True once in `chances`.
  mutating func once(in chances: Int) -> Bool { number(below: chances) == 0 }

  /// Up to `limit` results of `make`.
  mutating func several<Element>(_ limit: Int, _ make: (inout Self) -> Element) -> [Element] {
    var elements: [Element] = []
    for _ in 0..<number(below: limit + 1) { elements.append(make(&self)) }
    return elements
  }
}
