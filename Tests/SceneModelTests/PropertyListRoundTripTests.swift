import SceneModel
import SceneTestSupport
import Testing

@Suite struct PropertyListRoundTripTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `every value comes back as it was`(seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    for _ in 0..<rounds(1250) {
      let value = generator.value()
      for format in PropertyList.Format.allCases {
        let form = TaggedForm.propertyList(format)
        let bytes = PropertyList.write(value, as: format)
        let tree = try PropertyList.read(bytes)
        #expect(tree.format == format)
        #expect(tree.value == value.tagged(in: form))
        #expect(try Value(tagged: tree.value, in: form) == value)
      }
      #expect(try Value(tagged: value.tagged(in: .json), in: .json) == value)
    }
  }

  @Test(arguments: PropertyList.Format.allCases)
  func `the sign of a zero is kept`(format: PropertyList.Format) throws {
    guard case .double(let zero) = try PropertyList.readTagged(PropertyList.write(-0.0, as: format)) else {
      Issue.record("no double")
      return
    }
    #expect(zero.sign == .minus)
  }

  @Test func `XML is laid out as Apple's writers do it`() {
    let value: Value = [
      "a": [1, 1.5, true, false, "<&>\r"], "d": .data(Array(0..<60)), "e": [[], [:], .data([])],
      "t": .date(Instant(microseconds: 0)), "u": .uuid("x"),
    ]
    #expect(
      String(decoding: PropertyList.write(value, as: .xml), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>a</key>
        \t<array>
        \t\t<integer>1</integer>
        \t\t<real>1.5</real>
        \t\t<true/>
        \t\t<false/>
        \t\t<string>&lt;&amp;&gt;&#13;</string>
        \t</array>
        \t<key>d</key>
        \t<data>
        \tAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEy
        \tMzQ1Njc4OTo7
        \t</data>
        \t<key>e</key>
        \t<array>
        \t\t<array/>
        \t\t<dict/>
        \t\t<data>
        \t\t</data>
        \t</array>
        \t<key>t</key>
        \t<date>1970-01-01T00:00:00Z</date>
        \t<key>u</key>
        \t<dict>
        \t\t<key>$uuid</key>
        \t\t<string>x</string>
        \t</dict>
        </dict>
        </plist>

        """)
  }

  @Test func `large binary documents have longer references`() throws {
    for count in [100, 300, 70_000] {
      let value = Value.array((0..<count).map { .integer(Int64($0)) })
      #expect(try PropertyList.readTagged(PropertyList.write(value, as: .binary)) == value)
    }
  }
}
