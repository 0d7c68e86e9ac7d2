import DBus
import Testing

@Suite struct IntrospectionAnnotationTests {
  @Test func `well-known annotations have names of their own`() {
    let method = Introspection.Method("A", annotations: [.deprecated, .noReply, .unixFD])
    #expect(method.isDeprecated && method.hasNoReply && method.carriesUnixFD)
    #expect(method.annotation("org.freedesktop.DBus.Method.NoReply") == "true")
    let plain = Introspection.Method("A", annotations: [.init("org.freedesktop.DBus.Deprecated", "false")])
    #expect(!plain.isDeprecated && !plain.hasNoReply && !plain.carriesUnixFD)
  }

  @Test func `of two annotations of one name the first counts`() {
    let method = Introspection.Method("A", annotations: [.init("a.b", "1"), .init("a.b", "2")])
    #expect(method.annotation("a.b") == "1")
  }

  @Test(arguments: EmitsChangedSignal.allCases, EmitsChangedSignal.allCases)
  func `a property's annotation goes before its interface's`(own: EmitsChangedSignal, outer: EmitsChangedSignal) {
    let annotated = Introspection.Property("A", "s", annotations: [.emitsChangedSignal(own)])
    let plain = Introspection.Property("B", "s")
    let interface = Introspection.Interface(
      "a.b", annotations: [.emitsChangedSignal(outer)], properties: [annotated, plain])
    #expect(interface.emitsChangedSignal(of: annotated) == own)
    #expect(interface.emitsChangedSignal(of: plain) == outer)
  }

  @Test func `a property announces its value where nothing known is said`() {
    let strange = Introspection.Annotation("org.freedesktop.DBus.Property.EmitsChangedSignal", "perhaps")
    let property = Introspection.Property("A", "s", annotations: [strange])
    #expect(property.emitsChangedSignal == nil)
    #expect(Introspection.Interface("a.b", properties: [property]).emitsChangedSignal(of: property) == .true)
  }

  @Test func `access says what works`() {
    #expect(Introspection.Access.allCases.filter(\.isReadable) == [.read, .readWrite])
    #expect(Introspection.Access.allCases.filter(\.isWritable) == [.write, .readWrite])
  }
}
