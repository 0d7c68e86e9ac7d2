import DBus
import Testing

@Suite struct IntrospectionMutationTests {
  @Test(arguments: 0..<8)
  func `a damaged document is read or refused`(seed: Int) throws {
    var generator = IntrospectionGenerator(seed: UInt64(seed))
    let documents = [
      IntrospectionReaderTests.busDriver,
      generator.node(name: nil).xml,
      "\u{FEFF}<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><node><!-- d --><node name='e'><![CDATA[f]]></node></node>",
    ]
    for _ in 0..<500 {
      let damaged = damage(generator.pick(documents), &generator)
      do throws(IntrospectionError) {
        let node = try Introspection.Node(xml: damaged)
        // Every document that was read can also be printed.
        #expect(try Introspection.Node(xml: node.xml) == node)
      } catch {
        #expect(error.line > 0 && error.column > 0)
        #expect(error.line <= damaged.utf8.count + 1 && error.column <= damaged.utf8.count + 1)
      }
    }
  }

  private func damage(_ document: String, _ generator: inout IntrospectionGenerator) -> String {
    let markup = Array("<>/&;'\"=-!?[]# \n\r\t".utf8)
    var bytes = Array(document.utf8)
    for _ in 0...generator.number(below: 3) where !bytes.isEmpty {
      let place = generator.number(below: bytes.count)
      switch generator.number(below: 6) {
      case 0: bytes[place] ^= 1 << UInt8(generator.number(below: 8))
      case 1: bytes[place] = generator.pick(markup)
      case 2: bytes.insert(generator.pick(markup), at: place)
      case 3: bytes.remove(at: place)
      case 4: bytes.removeSubrange(place...)
      default:
        let length = min(generator.number(below: 40), bytes.count - place)
        bytes.insert(contentsOf: bytes[place..<(place + length)], at: generator.number(below: bytes.count))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
