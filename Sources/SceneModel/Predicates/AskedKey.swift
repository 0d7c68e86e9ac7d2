/// A key for which conditions are evaluated, with a limit on the work. It is folded once for each combination of options, when a condition first
/// needs it.
package struct AskedKey {
  package let text: Text
  /// The steps that conditions may still take. Below 0 there were too many, and later results have no meaning.
  package private(set) var stepsLeft: Int
  private var withoutCase: Text?
  private var withoutMarks: Text?
  private var withoutEither: Text?

  package init(_ text: Text, steps: Int = .max) {
    self.text = text
    stepsLeft = steps
  }

  package mutating func spend(_ steps: Int) { stepsLeft -= steps }

  mutating func fulfils(_ comparison: Comparison) -> Bool {
    if stepsLeft < 0 { return false }
    return comparison.holds(forFolded: folded(comparison.folding), steps: &stepsLeft)
  }

  private mutating func folded(_ options: Comparison.Options) -> Text {
    switch options {
    case []: text
    case .ignoringCase: kept(\.withoutCase, options)
    case .ignoringMarks: kept(\.withoutMarks, options)
    default: kept(\.withoutEither, options)
    }
  }

  private mutating func kept(_ place: WritableKeyPath<Self, Text?>, _ options: Comparison.Options) -> Text {
    if let known = self[keyPath: place] { return known }
    stepsLeft -= 16 * text.count
    let folded = text.folded(options)
    self[keyPath: place] = folded
    return folded
  }
}
