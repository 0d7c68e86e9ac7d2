import SceneModel
import SceneTestSupport
import Testing

@Suite struct JSONNumberTests {
  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("7", 7), ("-1", -1), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9223372036854775806", .max - 1), ("1000000000000000000", 1_000_000_000_000_000_000),
    ] as [(String, Int64)])
  func `a number without fraction and exponent is an integer`(json: String, integer: Int64) throws {
    #expect(try JSON.value(Text(json)) == .integer(integer))
  }

  @Test(arguments: [
    ("0.0", 0), ("1.0", 1), ("1e0", 1), ("1E5", 1e5), ("1e+5", 1e5), ("1e-5", 1e-5), ("0.1", 0.1), ("-2.5e-3", -0.0025),
    ("0e0", 0), ("0E+1", 0), ("5e-324", .leastNonzeroMagnitude), ("1.7976931348623157e308", .greatestFiniteMagnitude),
    ("1e-400", 0), ("9223372036854775808.0", 0x1p63), ("9223372036854775808e0", 0x1p63), ("1e00000000001", 10),
    ("0.30000000000000004", 0.1 + 0.2), ("123456789012345678901234567890.0", 1.2345678901234568e29),
  ])
  func `any other number is a double`(json: String, double: Double) throws {
    #expect(try JSON.value(Text(json)) == .double(double))
  }

  @Test(arguments: [
    "9223372036854775808", "-9223372036854775809", "10000000000000000000", "18446744073709551616",
    "123456789012345678901234567890",
  ])
  func `an integer beyond 64 bits is refused`(json: String) {
    let fault = #expect(throws: Fault.self) { try JSON.value(Text("{\"n\":[0,\(json)]}")) }
    #expect(
      fault?.description == "n[1]: expected an integer from -2^63 to 2^63 - 1, or a number with a point, got \(json)")
  }

  @Test(arguments: ["1e999", "-1e999", "1.8e308", "1e99999999999999999999", "17976931348623159e292"])
  func `a number beyond a double is refused`(json: String) {
    let fault = #expect(throws: Fault.self) { try JSON.value(Text("[\(json)]")) }
    #expect(fault?.description == "[0]: expected a number that a double can hold, got \(json)")
  }

  @Test func `integers and doubles stay what they are`() throws {
    let one = try JSON.value("1")
    #expect(one != (try JSON.value("1.0")))
    #expect(JSON.text(of: .integer(1)) == "1")
    #expect(JSON.text(of: .double(1)) == "1.0")
    #expect(JSON.text(of: .double(1e16)) == "1e+16")
    #expect(JSON.text(of: .double(0.1)) == "0.1")
    #expect(JSON.text(of: .integer(.min)) == "-9223372036854775808")
  }

  @Test func `the sign of a zero is kept`() throws {
    for json in ["-0.0", "-0e5"] as [Text] {
      guard case .double(let zero) = try JSON.value(json) else {
        Issue.record("no double")
        continue
      }
      #expect(zero.sign == .minus)
      #expect(JSON.text(of: .double(zero)) == "-0.0")
    }
  }

  @Test func `every double comes back from its text, bit by bit`() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<20_000 {
      let double = Double(bitPattern: random.next())
      if !double.isFinite { continue }
      let text = JSON.text(of: .double(double))
      guard case .double(let read) = try JSON.value(text) else {
        Issue.record("\(text) is no double")
        return
      }
      #expect(read.bitPattern == double.bitPattern)
    }
  }

  @Test func `a number may have as many digits as it likes`() throws {
    let nines = String(repeating: "9", count: 1_000_000)
    #expect(try JSON.value(Text("0.\(nines)")) == .double(1))
    #expect(throws: Fault.self) { try JSON.value(Text("\(nines).0")) }
    #expect(throws: Fault.self) { try JSON.value(Text(nines)) }
  }
}
