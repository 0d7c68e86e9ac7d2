/// A compiled expression: instructions that name those that come next.
final class Program: Sendable {
  let source: String
  let ignoresCase: Bool
  let instructions: [Instruction]
  let start: UInt32
  /// For each set its ASCII as two words, and its ranges above as pairs of bounds, between two offsets.
  let sets: [SetPlace]
  let bounds: [UInt32]
  let names: [String]
  let filter: ExpressionFilter
  /// The number of instructions.
  let steps: Int

  init(
    source: String, ignoresCase: Bool, instructions: [Instruction], start: UInt32, sets: [ScalarSet], names: [String],
    filter: ExpressionFilter
  ) {
    self.source = source
    self.ignoresCase = ignoresCase
    self.instructions = instructions
    steps = instructions.count
    self.start = start
    self.names = names
    self.filter = filter
    var bounds: [UInt32] = []
    var places: [SetPlace] = []
    for set in sets {
      var place = SetPlace(start: UInt32(bounds.count), end: 0, low: 0, high: 0)
      for range in set.ranges {
        for scalar in range.clamped(to: 0...127) where range.contains(scalar) {
          if scalar < 64 { place.low |= 1 << UInt64(scalar) } else { place.high |= 1 << UInt64(scalar - 64) }
        }
        if range.upperBound >= 128 { bounds += [max(128, range.lowerBound), range.upperBound] }
      }
      place.end = UInt32(bounds.count)
      places.append(place)
    }
    self.sets = places
    self.bounds = bounds
  }

  /// What is left of a program that is compiled again for each text.
  init(withoutInstructions whole: Program) {
    (source, ignoresCase, names, filter) = (whole.source, whole.ignoresCase, whole.names, whole.filter)
    (instructions, start, sets, bounds, steps) = ([], 0, [], [], whole.steps)
  }

  /// The instructions, and the ranges of sets.
  var size: Int { instructions.count + bounds.count / 2 }

  func contains(_ scalar: UInt32, in set: UInt32) -> Bool {
    let place = sets[Int(set)]
    if scalar < 64 { return place.low >> UInt64(scalar) & 1 != 0 }
    if scalar < 128 { return place.high >> UInt64(scalar - 64) & 1 != 0 }
    // The first range that does not end below.
    var (low, high) = (Int(place.start) / 2, Int(place.end) / 2)
    while low < high {
      let middle = (low + high) / 2
      if bounds[2 * middle + 1] < scalar { low = middle + 1 } else { high = middle }
    }
    return low < Int(place.end) / 2 && bounds[2 * low] <= scalar
  }

  enum Instruction {
    case scalar(UInt32, next: UInt32)
    case set(UInt32, next: UInt32)
    /// Both ways, the first preferred.
    case split(UInt32, UInt32)
    /// Keeps the place in the text.
    case save(slot: UInt32, next: UInt32)
    case assertion(ExpressionNode.Assertion, next: UInt32)
    case match
  }

  struct SetPlace {
    let start: UInt32
    var end: UInt32
    var low: UInt64
    var high: UInt64
  }
}
