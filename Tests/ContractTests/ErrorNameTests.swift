import DBus
import DaemonTestSupport
import Testing

@Suite struct ErrorNameTests {
  /// The names that have a row in `docs/errors.md`.
  private func documentedErrors() throws -> Set<String> {
    var names: Set<String> = []
    for line in try Repository.text(of: "docs/errors.md").split(separator: "\n") where line.hasPrefix("| `") {
      guard let cell = line.split(separator: "|").first else { continue }
      names.formUnion(cell.split(separator: "`").filter { $0.first?.isUppercase == true }.map(String.init))
    }
    return names
  }

  /// The words of a text that look like a name: `NoSuchSession`, but not `Session`.
  private func names(in text: String) -> Set<String> {
    let words = text.split { !$0.isLetter && !$0.isNumber }
    return Set(
      words.filter { word in
        word.first?.isUppercase == true && word.dropFirst().contains { $0.isUppercase }
          && word.contains { $0.isLowercase }
      }.map(String.init))
  }

  /// The names in the documents besides errors and their own members.
  private let others: Set<String> = [
    "ObjectManager", "GetManagedObjects", "InterfacesAdded", "InterfacesRemoved",
    "PropertiesChanged", "GetAll", "AlbumsChanged",
    "DBus", "MiB", "UUIDs", "UIWindowSceneSessionRoleApplication", "StagedoorDynamicConfiguration",
    "StagedoorUnderstudy",
    "StagedoorForwards",
  ]

  @Test func `every error that an interface document names has a row in the page of errors`() throws {
    let nodes = try InterfaceFile.allCases.map { try $0.node() }
    let elements = nodes.flatMap { InterfaceFile.elements(of: $0) + InterfaceFile.arguments(of: $0) }
    let own = Set(elements.flatMap { $0.name.split(separator: ".").map(String.init) })
    let named = elements.reduce(into: Set<String>()) { $0.formUnion(names(in: $1.documentation ?? "")) }
    #expect(named.contains("NoSuchSession"))
    let unknown = named.subtracting(own).subtracting(others).subtracting(try documentedErrors())
    #expect(unknown.sorted() == [])
  }

  @Test func `every error that the code has a name for has a row in the page of errors`() throws {
    let named = try Repository.texts(below: "Sources", ending: ".swift").reduce(into: Set<String>()) { names, text in
      for match in text.matches(of: /org\.stagedoor\.Error\.([A-Za-z]+)/) { names.insert(String(match.output.1)) }
    }
    #expect(named.count > 10)
    #expect(named.subtracting(try documentedErrors()).sorted() == [])
  }

  @Test func `every error of Stagedoor's own is named where it can happen`() throws {
    let text = try InterfaceFile.allCases.map { try Repository.text(of: $0.rawValue) }.joined()
    let documented = try documentedErrors()
    #expect(documented.count > 25)
    let fromElsewhere: Set = ["NoReply", "ServiceUnknown", "Timeout", "UnknownProperty"]
    let unnamed = documented.subtracting(fromElsewhere).filter { !text.contains($0) }
    #expect(unnamed.sorted() == [])
  }
}
