import DBus
import Testing

@Suite struct InterfaceDocumentationTests {
  /// Arguments that their name explains everywhere, or that the interface's own documentation explains.
  private let plain: Set<String> = [
    "activity_type", "application", "data", "delivery", "identifier", "name", "outcome",
    "payload", "sequence", "session",
  ]

  @Test(arguments: InterfaceFile.allCases)
  func `every interface and member is documented`(file: InterfaceFile) throws {
    let elements = InterfaceFile.elements(of: try file.node())
    #expect(elements.count > 5)
    let bare = elements.filter { $0.documentation?.isEmpty ?? true }.map(\.name)
    #expect(bare == [])
  }

  @Test(arguments: InterfaceFile.allCases)
  func `every argument is documented that its name does not explain`(file: InterfaceFile) throws {
    let arguments = InterfaceFile.arguments(of: try file.node())
    #expect(arguments.count > 5)
    let bare = arguments.filter { $0.documentation?.isEmpty ?? true }.map(\.name)
    let unexplained = bare.filter { !plain.contains(String($0.split(separator: ".").last ?? "")) }
    #expect(unexplained == [])
  }

  @Test(arguments: InterfaceFile.allCases)
  func `a method that carries descriptors says so to code generators`(file: InterfaceFile) throws {
    for interface in try file.node().interfaces {
      for method in interface.methods {
        let types = (method.inArguments + method.outArguments).map(\.type.rawValue)
        // Dictionaries of items hold them inside variants, which no signature shows.
        #expect(
          method.carriesUnixFD == types.contains { $0 == "h" } || types.contains("aa{sv}"),
          "\(interface.name).\(method.name)")
      }
    }
  }
}
