/// A point in time: microseconds since 1970, in UTC.
///
/// Other dates are a number of seconds as a double, which does not determine the microsecond.
package struct Instant: Hashable, Comparable, Sendable {
  package var microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }

  package static func < (one: Instant, other: Instant) -> Bool { one.microseconds < other.microseconds }
}

// MARK: - RFC 3339

extension Instant {
  static let microsecondsInSecond: Int64 = 1_000_000
  private static let secondsInDay: Int64 = 86_400

  /// The years of RFC 3339: 0000-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z.
  package static let earliest = Instant(microseconds: -62_167_219_200_000_000)
  package static let latest = Instant(microseconds: 253_402_300_799_999_999)

  /// Reads a date of RFC 3339, with its zone. Digits beyond the microsecond are cut off, and a leap second becomes the first second of the next
  /// minute; `nil` for anything else.
  package init?(rfc3339 text: Text) {
    guard let instant = text.withBytes({ bytes in Instant.parsed(bytes) }) else { return nil }
    self = instant
  }

  private static func parsed(_ bytes: UnsafeRawBufferPointer) -> Instant? {
    func number(_ offset: Int, _ count: Int) -> Int64? {
      guard offset + count <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[offset..<(offset + count)] {
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      return value
    }
    func sees(_ character: Unicode.Scalar, at offset: Int) -> Bool {
      offset < bytes.count && bytes[offset] == UInt8(ascii: character)
    }

    guard let year = number(0, 4), sees("-", at: 4), let month = number(5, 2), sees("-", at: 7),
      let day = number(8, 2), sees("T", at: 10) || sees("t", at: 10) || sees(" ", at: 10),
      let hour = number(11, 2), sees(":", at: 13), let minute = number(14, 2), sees(":", at: 16),
      let second = number(17, 2),
      (1...12).contains(month), day >= 1, day <= days(in: month, of: year), hour < 24, minute < 60, second <= 60
    else { return nil }

    var offset = 19
    var fraction: Int64 = 0
    if sees(".", at: offset) {
      offset += 1
      let start = offset
      while offset < bytes.count, bytes[offset] >= 0x30, bytes[offset] <= 0x39 {
        if offset - start < 6 { fraction = fraction * 10 + Int64(bytes[offset] - 0x30) }
        offset += 1
      }
      if offset == start { return nil }
      for _ in min(offset - start, 6)..<6 { fraction *= 10 }
    }

    var zone: Int64 = 0
    if sees("Z", at: offset) || sees("z", at: offset) {
      offset += 1
    } else if sees("+", at: offset) || sees("-", at: offset) {
      guard let hours = number(offset + 1, 2), sees(":", at: offset + 3), let minutes = number(offset + 4, 2),
        hours < 24, minutes < 60
      else { return nil }
      zone = (hours * 60 + minutes) * (sees("-", at: offset) ? -60 : 60)
      offset += 6
    } else {
      return nil
    }
    guard offset == bytes.count else { return nil }

    let seconds =
      daysSince1970(year: year, month: month, day: day) * secondsInDay + hour * 3600 + minute * 60 + second - zone
    let instant = Instant(microseconds: seconds * microsecondsInSecond + fraction)
    return instant >= earliest && instant <= latest ? instant : nil
  }

  /// In UTC, with as many digits of a second as it needs. A time outside the years of RFC 3339 is shown as the nearest inside; no reader produces
  /// such a time.
  package var rfc3339: String {
    let shown = min(max(self, .earliest), .latest)
    let (seconds, fraction) = shown.microseconds.flooredDivision(by: Instant.microsecondsInSecond)
    let (days, secondOfDay) = seconds.flooredDivision(by: Instant.secondsInDay)
    let (year, month, day) = Instant.date(daysSince1970: days)
    return String(unsafeUninitializedCapacity: 27) { buffer in
      var count = 0
      func put(_ number: Int64, _ width: Int, _ end: Unicode.Scalar) {
        var rest = number
        for place in (count..<count + width).reversed() {
          buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        buffer[count + width] = UInt8(ascii: end)
        count += width + 1
      }
      put(year, 4, "-")
      put(month, 2, "-")
      put(day, 2, "T")
      put(secondOfDay / 3600, 2, ":")
      put(secondOfDay / 60 % 60, 2, ":")
      put(secondOfDay % 60, 2, fraction == 0 ? "Z" : ".")
      if fraction == 0 { return count }
      var (digits, width) = (fraction, 6)
      while digits % 10 == 0 { (digits, width) = (digits / 10, width - 1) }
      put(digits, width, "Z")
      return count
    }
  }

  // MARK: The calendar, by eras of 400 years that begin in March, so that a leap day is a year's last

  private static let daysInEra: Int64 = 146_097
  /// From 0000-03-01 to 1970-01-01.
  private static let daysTo1970: Int64 = 719_468

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let (era, yearOfEra) = marchYear.flooredDivision(by: 400)
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return era * daysInEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - daysTo1970
  }

  private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + daysTo1970).flooredDivision(by: daysInEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (
      year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    )
  }
}

extension Int64 {
  fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
