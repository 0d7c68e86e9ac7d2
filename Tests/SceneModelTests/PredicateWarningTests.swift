import SceneModel
import Testing

@Suite struct PredicateWarningTests {
  @Test(arguments: [
    "SELF == 'a' AND SELF == 'b'", "SELF ==''", "SELF IN {}", "SELF IN[c] {}", "SELF IN {'', ''}",
    "SELF IN {'a', 'b'} AND SELF == 'c'", "SELF == 'a' AND SELF ENDSWITH '.png'",
    "SELF ENDSWITH '.png' AND SELF ENDSWITH '.txt'", "SELF ENDSWITH[c] '.png' AND SELF ENDSWITH[c] '.txt'",
    "SELF BEGINSWITH 'file:' AND SELF BEGINSWITH 'https:'", "SELF BEGINSWITH 'a' AND SELF < 'a'",
    "SELF BEGINSWITH 'a' AND SELF >= 'b'", "SELF > 'b' AND SELF < 'a'", "SELF < ''", "SELF > 'a' AND SELF < 'a'",
    "SELF >= 'a' AND SELF <= 'a' AND SELF != 'a'", "SELF != 'a' AND SELF == 'a'",
    "SELF CONTAINS 'x' AND NOT SELF CONTAINS 'x'",
    "(SELF CONTAINS 'x' OR SELF LIKE '*y?') AND NOT (SELF CONTAINS 'x' OR SELF LIKE '*y?')",
    "NOT (SELF CONTAINS 'x' OR NOT SELF CONTAINS 'x')", "SELF LIKE 'a' AND SELF == 'b'",
    "SELF LIKE 'a*' AND SELF LIKE 'b*'", "SELF LIKE '*a' AND SELF LIKE '*b'", "NOT SELF LIKE '*'",
    "NOT SELF BEGINSWITH ''", "NOT SELF CONTAINS ''", "NOT SELF ENDSWITH ''", "SELF == 'a' AND FALSEPREDICATE",
    "(SELF == 'a' AND SELF CONTAINS 'b') OR (SELF == 'b' AND SELF LIKE '??')",
    "(SELF == 'A' AND SELF ==[c] 'b') OR FALSEPREDICATE", "SELF CONTAINS 'b' AND SELF == 'a'",
    "(SELF == 'a' OR SELF == 'b') AND SELF == 'c'", "SELF == 'a' AND NOT (SELF IN {'a', 'b'})",
    "(SELF CONTAINS 'q' OR SELF == 'a') AND SELF == 'b'", "SELF ==[c] 'a' AND SELF ==[c] 'b'",
    "SELF ==[d] 'a' AND SELF BEGINSWITH[d] 'b'",
  ])
  func `a condition that no key fulfils is warned about`(source: String) throws {
    let predicate = try Predicate(Text(source))
    for (conditions, place) in [
      (ActivationConditions(can: predicate), PredicateWarning.Place.can),
      (ActivationConditions(can: try Predicate("TRUEPREDICATE"), prefers: predicate), .prefers),
    ] {
      #expect(conditions.warnings.map(\.kind) == [.neverTrue])
      #expect(conditions.warnings.first?.place == place)
    }
  }

  @Test(arguments: [
    "TRUEPREDICATE", "FALSEPREDICATE", "NOT TRUEPREDICATE", "SELF == 'a'", "SELF != ''", "SELF > ''", "SELF ==[d] ''",
    "SELF ==[c] 'ss' AND SELF == 'ß'", "SELF ==[d] 'e' AND SELF == 'é'", "SELF == 'a' OR SELF == 'a' AND SELF == 'b'",
    "SELF BEGINSWITH 'a' AND SELF BEGINSWITH 'ab'", "SELF BEGINSWITH 'a' AND SELF < 'b'", "SELF > 'a' AND SELF < 'b'",
    "SELF BEGINSWITH 'a' AND SELF ENDSWITH 'b'", "SELF ENDSWITH 'b' AND SELF ENDSWITH 'ab'",
    "SELF LIKE 'a*' AND NOT SELF == 'a'", "NOT SELF LIKE 'a*'", "SELF LIKE '?*'", "NOT SELF LIKE '?'",
    "NOT (SELF == 'a' AND SELF == 'b')", "NOT SELF IN {}", "SELF >= 'a' AND SELF <= 'a'",
    "SELF CONTAINS 'x' AND NOT SELF CONTAINS 'y'", "SELF CONTAINS 'x' AND NOT SELF CONTAINS[c] 'xx'", "SELF == '100%'",
    "(SELF CONTAINS 'x' OR SELF CONTAINS 'y') AND (NOT SELF CONTAINS 'x' OR NOT SELF CONTAINS 'y')",
    "(NOT SELF CONTAINS 'x' OR NOT SELF CONTAINS 'y') AND (SELF CONTAINS 'x' OR SELF CONTAINS 'y')",
    "SELF BEGINSWITH '\u{10FFFF}'", "SELF == 'file:///a%40b'",
  ])
  func `a condition that some key fulfils is not`(source: String) throws {
    let conditions = ActivationConditions(can: try Predicate(Text(source)))
    #expect(conditions.warnings.isEmpty)
  }

  @Test(arguments: [
    ("SELF == '%@'", 9, "%@"), ("SELF == \"%@\"", 9, "%@"), ("SELF ENDSWITH[c] '.%@'", 18, "%@"),
    ("SELF == 'a' OR SELF IN {'é', '%K'}", 30, "%K"), ("SELF == '\\u0025@'", 9, "%@"), ("'%@' = SELF", 1, "%@"),
  ])
  func `a placeholder in quotes is warned about, with its column`(source: String, column: Int, placeholder: String)
    throws
  {
    let conditions = ActivationConditions(can: try Predicate(Text(source)))
    #expect(conditions.warnings.map(\.kind) == [.placeholder])
    #expect(conditions.warnings.first?.column == column)
    #expect(conditions.warnings.first?.message.hasPrefix("\(placeholder) stands in quotes") == true)
  }

  @Test func `a backspace in an expression is warned about`() throws {
    func kinds(_ source: Text) throws -> [PredicateWarning.Kind] {
      ActivationConditions(can: try Predicate(source)).warnings.map(\.kind)
    }
    #expect(try kinds(#"SELF MATCHES '\bcat'"#) == [.backspace])
    #expect(try kinds(#"SELF MATCHES '\\bcat' OR SELF == '\b'"#) == [])
    #expect(try kinds(#"SELF MATCHES '\d' OR SELF == '%@'"#) == [.placeholder])
  }

  @Test func `prefers without can is warned about`() throws {
    let prefers = try Predicate("SELF == 'a'")
    #expect(ActivationConditions(prefers: prefers).warnings.map(\.kind) == [.prefersWithoutCan])
    #expect(ActivationConditions(can: try Predicate("TRUEPREDICATE"), prefers: prefers).warnings.isEmpty)
    #expect(ActivationConditions(can: prefers).warnings.isEmpty)
    #expect(ActivationConditions().warnings.isEmpty)
  }

  @Test func `a warning says where, and what to do`() throws {
    let conditions = ActivationConditions(
      can: try Predicate("SELF == '%@' AND SELF == ''"), prefers: Predicate(Condition.comparison(.equal, "%@")))
    #expect(
      conditions.warnings.map(\.description) == [
        "can, column 9: %@ stands in quotes, so it is compared as it is; the text itself belongs in its place",
        "can: no key makes this true; if that is meant, write FALSEPREDICATE",
        "prefers, column 9: %@ stands in quotes, so it is compared as it is; the text itself belongs in its place",
      ])
  }

  @Test func `an expression says nothing of the keys that are possible, but for those that can be listed`() throws {
    func isNeverTrue(_ source: Text) throws -> Bool { try Predicate(source).condition.isNeverTrue }
    #expect(try isNeverTrue("SELF MATCHES 'a' AND SELF == 'b'"))
    #expect(try isNeverTrue("SELF MATCHES 'a' AND NOT SELF MATCHES 'a'"))
    #expect(try !isNeverTrue("SELF MATCHES 'a' AND SELF == 'a'"))
    #expect(try !isNeverTrue("SELF MATCHES[c] 'a' AND NOT SELF MATCHES 'a'"))
    // More steps than a decision has: it is not known.
    let keys = (0..<100).map { "'\($0)\(String(repeating: "a", count: 20))'" }.joined(separator: ",")
    #expect(try isNeverTrue(Text("SELF IN {'1aa'} AND SELF MATCHES '\\d+((a?){1000}){1}[bc]'")))
    #expect(try !isNeverTrue(Text("SELF IN {\(keys)} AND SELF MATCHES '\\d+((a?){1000}){3}[bc]'")))
  }

  @Test func `a condition with more texts than people write is not judged`() throws {
    func isNeverTrue(_ count: Int) throws -> Bool {
      let keys = (1..<count).map { "'\($0)'" }.joined(separator: ",")
      return try Predicate(Text("SELF IN {\(keys)} AND SELF == 'x'")).condition.isNeverTrue
    }
    #expect(try isNeverTrue(64))
    #expect(try !isNeverTrue(65), "a manifest with a hundred of them would stop the service for seconds")
  }

  @Test func `judging the most tangled predicate that is judged takes no time`() throws {
    let lists = (0..<3).map { list in "SELF IN {" + (0..<20).map { "'\(list)\($0)'" }.joined(separator: ",") + "}" }
    let predicate = try Predicate(Text(lists.joined(separator: " OR ") + " AND SELF CONTAINS[cd] 'x'"))
    let pairs = (0..<32).map { "(SELF!='\($0)'OR SELF>'\($0)')" }.joined(separator: "AND")
    let negated = try Predicate(Text("NOT(\(pairs))"))
    let clock = ContinuousClock()
    let start = clock.now
    #expect(!predicate.condition.isNeverTrue)
    #expect(!negated.condition.isNeverTrue)
    #expect(clock.now - start < .seconds(10))
  }
}
