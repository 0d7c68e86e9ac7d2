import SceneModel
import SceneTestSupport
import Testing

@Suite struct InstantTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-05-01T12:00:00Z", 1_777_636_800_000_000),
    ("1969-12-31T23:59:59.999999Z", -1), ("2000-02-29T23:59:60Z", 951_868_800_000_000),
    ("2026-05-01t14:00:00.5+02:00", 1_777_636_800_500_000), ("2026-05-01 06:30:00-05:30", 1_777_636_800_000_000),
    ("2026-05-01T12:00:00.123456789Z", 1_777_636_800_123_456), ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
    ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
  ])
  func `a date is the moment that it names`(text: String, microseconds: Int64) {
    #expect(Instant(rfc3339: Text(text))?.microseconds == microseconds)
  }

  @Test(arguments: [
    "yesterday", "", "2026-05-01", "2026-05-01T12:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-05-01T24:00:00Z",
    "2026-05-01T12:60:00Z", "2026-05-01T12:00:61Z", "2026-05-01T12:00:00.Z", "2026-05-01T12:00:00+2:00",
    "2026-05-01T12:00:00+0200", "2026-05-01T12:00:00Zulu", "+026-05-01T12:00:00Z", "0000-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01", "1900-02-29T00:00:00Z", "2026-5-1T12:00:00Z",
  ])
  func `what is no date of RFC 3339 is none`(text: String) {
    #expect(Instant(rfc3339: Text(text)) == nil)
  }

  @Test func `every moment comes back from its text`() {
    var random = SeededRandom(seed: 1)
    for _ in 0..<20_000 {
      let instant = Instant(
        microseconds: .random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &random))
      #expect(Instant(rfc3339: Text(instant.rfc3339)) == instant)
    }
  }
}
