/// A binary property list counts seconds from the beginning of 2001, as Apple's dates do.
extension Instant {
  private static let beginningOf2001 = Instant(microseconds: 978_307_200_000_000)

  /// The nearest microsecond; `nil` outside the years of RFC 3339.
  init?(secondsSince2001 seconds: Double) {
    let whole = seconds.rounded(.down)
    // Far beyond those years, and within the range of the arithmetic below.
    guard abs(whole) < 1e12 else { return nil }
    let fraction = ((seconds - whole) * Double(Instant.microsecondsInSecond)).rounded()
    self.init(
      microseconds: Instant.beginningOf2001.microseconds + Int64(whole) * Instant.microsecondsInSecond + Int64(fraction)
    )
    if self < .earliest || self > .latest { return nil }
  }

  /// The nearest double; `nil` outside those years.
  package var secondsSince2001: Double? {
    guard self >= .earliest, self <= .latest else { return nil }
    return Double(microseconds - Instant.beginningOf2001.microseconds) / Double(Instant.microsecondsInSecond)
  }
}
