import DBus
import Testing

private struct Job: BusStructure, Equatable {
  var name: String
  var identifier: UInt32
  static let layout = StructureLayout(Job.init(name:identifier:), \.name, \.identifier)
}

private struct Plan: BusStructure, Equatable {
  var jobs: [Job]
  var main: Job
  var moods: [Mood: Level]
  static let layout = StructureLayout(Plan.init(jobs:main:moods:), \.jobs, \.main, \.moods)
}

private enum Mood: String, BasicBusValue { case calm, merry }
private enum Level: UInt8, BasicBusValue { case low = 1, high = 200 }
private struct Flags: OptionSet, BusValue {
  let rawValue: UInt32
  static let loud = Flags(rawValue: 1)
  static let late = Flags(rawValue: 4)
}

/// A hand-written type.
private struct Percent: BusValue, Equatable {
  var value: UInt8
  static var signature: Signature { "y" }
  static func read(from reader: inout MessageReader) throws(CodingError) -> Percent {
    Percent(value: try UInt8.read(from: &reader))
  }
  func write(to writer: inout MessageWriter) throws(CodingError) { try value.write(to: &writer) }
  init(value: UInt8) { self.value = value }
  init(_ variant: Variant) throws(CodingError) { value = try UInt8(variant) }
  var variant: Variant { value.variant }
}

/// The user's own structures and enumerations.
@Suite struct CodingOwnTypesTests {
  private let plan = Plan(
    jobs: [Job(name: "compile", identifier: 7), Job(name: "", identifier: .max)],
    main: Job(name: "link", identifier: 9), moods: [.calm: .low, .merry: .high])

  @Test func `they have the signature of their members or raw value`() {
    #expect(Job.signature == "(su)")
    #expect(Plan.signature == "(a(su)(su)a{sy})")
    #expect(Signature.of([Mood].self, Level.self, Flags.self, [Level: Job].self) == "asyua{y(su)}")
  }

  @Test func `they come back from a message and from a variant`() throws {
    #expect(try signal(plan).values(as: Plan.self) == plan)
    #expect(try Plan(Variant(plan)) == plan)
    #expect(try Plan(signal(Variant(plan)).values(as: Variant.self)) == plan)
    #expect(try signal([Mood.merry, .calm]).values(as: [Mood].self) == [.merry, .calm] as [Mood])
    #expect(try [Level](Variant([Level.high])) == [.high] as [Level])
    #expect(try signal([Flags.late, .loud]).values(as: [Flags].self) == [.late, .loud] as [Flags])
    #expect(try Flags(Variant(Flags.late)) == .late)
  }

  @Test func `they are the same on the wire as what they are made of`() throws {
    #expect(try signal(plan.main).values(as: Structure<String, UInt32>.self) == Structure("link", UInt32(9)))
    #expect(try signal(Mood.merry).values(as: String.self) == "merry")
    #expect(try signal([Level.high, .low]).values(as: [UInt8].self) == [200, 1] as [UInt8])
    #expect(try signal([1, 200] as [UInt8]).values(as: [Level].self) == [.low, .high] as [Level])
    #expect(Variant(plan.main) == .structure(["link", .uint32(9)]))
    #expect(Variant([Level.high]) == .bytes([200]))
    #expect(Variant([Percent(value: 7)]) == .bytes([7]))
    #expect(try [Percent](Variant.bytes([7, 9])) == [Percent(value: 7), Percent(value: 9)])
  }

  @Test func `a raw value that stands for nothing is an error`() throws {
    let wrong = CodingError.invalidValue(#""grim" is no Mood"#)
    #expect(throws: wrong) { try signal("grim").values(as: Mood.self) }
    #expect(throws: wrong) { try signal(["calm", "grim"]).values(as: [Mood].self) }
    #expect(throws: wrong) { try signal(["grim": UInt8(1)]).values(as: [Mood: Level].self) }
    #expect(throws: wrong) { try Mood("grim" as Variant) }
    #expect(throws: wrong) { try [Mood](Variant(["grim"])) }
    #expect(throws: CodingError.invalidValue("2 is no Level")) { try signal([2] as [UInt8]).values(as: [Level].self) }
    #expect(throws: CodingError.invalidValue("2 is no Level")) { try [Level](Variant.bytes([1, 2])) }
    // The error, which may be the answer to a call, shows the beginning of a long text, on one line.
    let long = "\n" + String(repeating: "a", count: 1000)
    let shown = #""\n\#(String(repeating: "a", count: 71))…" is no Mood"#
    #expect(throws: CodingError.invalidValue(shown)) { try signal(long).values(as: Mood.self) }
  }

  @Test(.timeLimit(.minutes(5))) func `a letter without end is no case`() {
    #expect(codingError { _ = try Mood(.string(endlessLetter)) } != nil)
    #expect(codingError { _ = try [Mood](Variant([endlessLetter])) } != nil)
  }

  @Test func `a value of another type is an error`() throws {
    #expect(throws: CodingError.typeMismatch(expected: "s", found: "u")) { try Mood(.uint32(1)) }
    #expect(throws: CodingError.typeMismatch(expected: "(su)", found: "(us)")) {
      try Job(.structure([.uint32(1), "a"]))
    }
    #expect(throws: CodingError.typeMismatch(expected: "(su)", found: "(s)")) { try Job(.structure(["a"])) }
    #expect(throws: CodingError.typeMismatch(expected: "(su)", found: "s")) { try Job("a") }
    #expect(throws: CodingError.typeMismatch(expected: "(su)", found: "(si)")) {
      try signal(Structure("a", Int32(1))).values(as: Job.self)
    }
  }
}
