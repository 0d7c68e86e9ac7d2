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

  @Test func `large binary documents have longer references`() throws {
    for count in [100, 300, 70_000] {
      let value = Value.array((0..<count).map { .integer(Int64($0)) })
      #expect(try PropertyList.readTagged(PropertyList.write(value, as: .binary)) == value)
    }
  }
}
