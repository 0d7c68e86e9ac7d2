import SceneModel
import SceneTestSupport
import Testing

/// Documents that are meant to cost more than their length, or to stop their reader.
@Suite struct PropertyListHostileTests {
  // MARK: Limits

  private func xml(_ value: String) -> [UInt8] { Array("<plist>\(value)</plist>".utf8) }

  @Test func `the depth limit holds at n and n + 1`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "<array>", count: depth) + "<true/>" + String(repeating: "</array>", count: depth)
    }
    _ = try PropertyList.read(xml(nested(Limits.depth)))
    let fault = #expect(throws: Fault.self) { try PropertyList.read(xml(nested(Limits.depth + 1))) }
    #expect(fault?.description == "line 1, column 456: expected values to nest at most 64 deep")
    #expect(fault?.kind == .limit)

    func chain(_ depth: Int) -> [UInt8] {
      BinaryPropertyList.file((0..<depth).map { [0xA1, UInt8($0 + 1)] } + [[0x09]])
    }
    _ = try PropertyList.read(chain(Limits.depth))
    let other = #expect(throws: Fault.self) { try PropertyList.read(chain(Limits.depth + 1)) }
    #expect(other?.description == "byte 136: expected values to nest at most 64 deep")
    #expect(other?.kind == .limit)
  }

  @Test(.timeLimit(.minutes(1))) func `the limit of values holds at n and n + 1`() throws {
    func many(_ count: Int) -> [UInt8] { xml("<array>" + String(repeating: "<true/>", count: count - 1) + "</array>") }
    _ = try PropertyList.read(many(Limits.values))
    let fault = #expect(throws: Fault.self) { try PropertyList.read(many(Limits.values + 1)) }
    #expect(fault?.reason == "expected at most 100000 values")
    #expect(fault?.kind == .limit)

    func shared(_ count: Int) -> [UInt8] {
      BinaryPropertyList.file(
        [BinaryPropertyList.array([Int](repeating: 1, count: count - 1)), [0x09]], offsetSize: 4)
    }
    _ = try PropertyList.read(shared(Limits.values))
    let other = #expect(throws: Fault.self) { try PropertyList.read(shared(Limits.values + 1)) }
    #expect(other?.description == "byte 8: expected at most 100000 values")
    #expect(other?.kind == .limit)
  }

  @Test func `the limit of bytes holds at n and n + 1`() throws {
    let document = xml("<true/>")
    let longest = document + [UInt8](repeating: 0x20, count: Limits.manifest - document.count)
    #expect(try PropertyList.read(longest) == true)
    let fault = #expect(throws: Fault.self) { try PropertyList.read(longest + [0x20]) }
    #expect(fault == Fault(.limit, at: "", "expected at most 1048576 bytes, got 1048577"))
  }

  @Test func `text that is referred to often counts as often`() throws {
    func repeated(_ count: Int) -> [UInt8] {
      let text: [UInt8] = [0x5F, 0x11, 0x04, 0x00] + [UInt8](repeating: 0x61, count: 1024)
      return BinaryPropertyList.file(
        [BinaryPropertyList.array([Int](repeating: 1, count: count)), text], offsetSize: 2)
    }
    _ = try PropertyList.read(repeated(1024))
    let fault = #expect(throws: Fault.self) { try PropertyList.read(repeated(1025)) }
    #expect(fault?.description == "byte 1039: expected at most 1048576 bytes of text and data")
    #expect(fault?.kind == .limit)
  }

  // MARK: Bombs

  private static let units: [(start: String, unit: String)] = [
    ("", "<plist>"), ("<plist>", "<array>"), ("<plist>", "<dict>"), ("<plist>", "<dict><key>a</key>"),
    ("<plist><array>", "<true/>"), ("<plist><string>", "a"), ("<plist><string>", "&lt;"),
    ("<plist><string>", "<!---->"),
    ("<plist><dict><key>", "a"), ("<plist><integer>", "1"), ("<plist><integer>0x", "0"), ("<plist><real>", "1"),
    ("<plist><real>0.", "0"), ("<plist><real>1e", "0"), ("<plist><data>", "A"), ("<plist><data>", " "),
    ("<plist><data>", "A="), ("<plist><date>", "2"), ("<plist>", " "), ("<plist>", "<!-- -->"), ("<plist>", "<?a?>"),
    ("", "<"), ("<", "a"), ("<plist a='", "a"), ("<!DOCTYPE plist [", "<!ENTITY a '&a;&a;'>"), ("<!DOCTYPE ", "'"),
    ("<plist><", "\u{301}\u{323}"), ("<plist><a ", "\u{301}\u{323}"), ("<plist><string>", "\u{301}\u{323}"),
    ("", " "), ("<plist><string>", "\r\n"),
  ]

  @Test(.timeLimit(.minutes(1)), arguments: units.indices)
  func `what never ends is refused soon`(index: Int) {
    let (start, unit) = Self.units[index]
    let xml = start + String(repeating: unit, count: (Limits.manifest - start.utf8.count) / unit.utf8.count)
    #expect(throws: Fault.self) { try PropertyList.read(Array(xml.utf8)) }
  }

  private static let endings = [
    ("<integer>", "1", "</integer>"), ("<real>", "1", "</real>"), ("<real>1e-", "0", "1</real>"),
    ("<date>", "2026-05-01T12:00:00Z", "</date>"), ("<data>", "A=", "</data>"), ("<\u{301}", "\u{323}\u{301}", "/>"),
    ("<dict>", "<key>a</key><true/>", "</dict>"),
  ]

  @Test(.timeLimit(.minutes(1)), arguments: endings.indices)
  func `what is too long to mean anything is refused soon`(index: Int) {
    let (start, unit, end) = Self.endings[index]
    let content = String(repeating: unit, count: (Limits.manifest - 100) / unit.utf8.count)
    #expect(throws: Fault.self) { try PropertyList.read(xml(start + content + end)) }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a billion laughs are refused at the limit`() {
    let doubled = (0..<60).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] as [UInt8] } + [[0x09]]
    let wide = (0..<3).map { BinaryPropertyList.array([Int](repeating: $0 + 1, count: 10_000)) } + [[0x09]]
    let keyed = (0..<60).map { [0xD2, 61, 62, UInt8($0 + 1), UInt8($0 + 1)] as [UInt8] }
    let keys: [[UInt8]] = [[0x09], [0x51, 0x61], [0x51, 0x62]]
    for file in [
      BinaryPropertyList.file(doubled), BinaryPropertyList.file(wide, offsetSize: 2),
      BinaryPropertyList.file(keyed + [keys[0]] + keys[1...], offsetSize: 2),
    ] {
      let fault = #expect(throws: Fault.self) { try PropertyList.read(file) }
      #expect(fault?.kind == .limit)
      #expect(fault?.reason == "expected at most 100000 values")
    }
  }

  // MARK: Mutations

  private static func documents() throws -> [[UInt8]] {
    var generator = ValueGenerator(seed: 7)
    let generated = (0..<40).flatMap { _ in
      let value = generator.value()
      return PropertyList.Format.allCases.map { PropertyList.write(value.fitting($0), as: $0) }
    }
    return try Fixture.all.flatMap { [try Fixture.xml($0), try Fixture.binary($0)] } + generated
  }

  @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 3, 4] as [UInt64])
  func `a damaged document is read or refused with a place`(seed: UInt64) throws {
    let documents = try Self.documents()
    var random = SeededRandom(seed: seed)
    var refused = 0
    let count = rounds(1250)
    for _ in 0..<count {
      var bytes = random.one(of: documents)
      for _ in 0...random.below(3) { damage(&bytes, &random) }
      do throws(Fault) {
        let tree = try PropertyList.read(bytes)
        // Every tree that was read can be written and read again.
        #expect(try PropertyList.read(PropertyList.write(tree, as: .binary)) == tree)
      } catch {
        refused += 1
        #expect(!error.place.isEmpty || error.reason.hasPrefix("expected JSON, or a property list"), "\(error)")
      }
    }
    #expect(refused > count / 5)
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    guard bytes.count > 1 else { return }
    // The last bytes of a binary document determine the meaning of all others.
    let place = random.once(in: 4) ? max(0, bytes.count - 1 - random.below(60)) : random.below(bytes.count)
    let end = min(bytes.count, place + 1 + random.below(8))
    switch random.below(6) {
    case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
    case 1: bytes[place] ^= 1 << UInt8(random.below(8))
    case 2: bytes.removeSubrange(place..<end)
    case 3: bytes.insert(contentsOf: bytes[place..<end], at: random.below(bytes.count))
    case 4: bytes.removeLast(min(bytes.count - 1, random.below(20)))
    default: bytes[place] = random.one(of: [0x00, 0xFF, 0x7F, 0x80, 0x0F, 0x13, 0xAF, 0xD1, 0x3C, 0x26, 0x3E, 0x2F])
    }
  }
}
