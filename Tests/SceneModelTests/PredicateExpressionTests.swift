import SceneModel
import Testing

/// `MATCHES`, whose expressions have tests of their own.
@Suite struct PredicateExpressionTests {
  @Test(arguments: [
    (#"SELF MATCHES '\d\.(png|gif)'"#, "1.gif"),
    (#"SELF MATCHES[c] '\Dß'"#, "Àẞ"), (#"SELF MATCHES '\\\\'"#, "\\"), (#"SELF MATCHES '\\ba.*'"#, "a b"),
    (#"SELF MATCHES '\u00e9\n'"#, "é\n"), (#"SELF MATCHES '"\'\*\?'"#, "\"'*?"), (#"SELF MATCHES '..'"#, "e\u{301}"),
    (#"NOT SELF MATCHES 'a' AND SELF MATCHES[c] 'a'"#, "A"), (#"self matches "\b""#, "\u{8}"),
    (#"SELF MATCHES '(?i)a' AND SELF == 'A'"#, "A"),
  ])
  func `all of a key matches`(predicate: String, subject: String) throws {
    #expect(try Predicate(Text(predicate)).evaluate(Text(subject)))
  }

  @Test(arguments: [
    (#"SELF MATCHES 'at'"#, "cat"), (#"SELF MATCHES 'ca'"#, "cat"),
    (#"SELF MATCHES[c] 'ss'"#, "ß"), (#"SELF MATCHES 'a$'"#, "a\n"), (#"SELF MATCHES '\ba'"#, "a"),
    (#"SELF MATCHES 'é'"#, "e\u{301}"),
  ])
  func `a key does not match`(predicate: String, subject: String) throws {
    #expect(try !Predicate(Text(predicate)).evaluate(Text(subject)))
  }

  @Test(arguments: [
    (#"SELF MATCHES[c] 'é(a'"#, 19, "not closed"),
    (#"SELF MATCHES '\u00e9\d\\d\ud83d\ude00)'"#, 38, "closes nothing"), (#"SELF MATCHES 'a{2'"#, 16, "{m,n}"),
    (#"SELF MATCHES 'a\\'"#, 16, "after the backslash"), (#"SELF MATCHES {'a'}"#, 14, "only IN takes a list"),
    (#"SELF MATCHES '\0'"#, 15, "NUL"), (#"SELF MATCHES 'a\"#, 16, "after the backslash"),
    (#"SELF MATCHES 'a"#, 14, "no end"),
    // Other texts have no more escapes than before.
    (#"SELF MATCHES '\d' AND SELF == '\d'"#, 32, "no escape"),
    (#"SELF MATCHES '(a{1000}){9}' OR SELF MATCHES 'a{1000}'"#, 45, "10000 steps in all"),
  ])
  func `a faulty expression is refused with its column in the predicate`(source: String, column: Int, reason: String) {
    do throws(PredicateError) {
      Issue.record("parsed to \(try Predicate(Text(source)).condition)")
    } catch {
      #expect(error.column == column)
      #expect(error.reason.contains(reason), "\(error)")
    }
  }

  @Test func `a backspace in an expression is warned about`() throws {
    func kinds(_ source: Text) throws -> [PredicateWarning.Kind] {
      ActivationConditions(can: try Predicate(source)).warnings.map(\.kind)
    }
    #expect(try kinds(#"SELF MATCHES '\bcat'"#) == [.backspace])
    #expect(try kinds(#"SELF MATCHES '\\bcat' OR SELF == '\b'"#) == [])
    #expect(try kinds(#"SELF MATCHES '\d' OR SELF == '%@'"#) == [.placeholder])
  }

  @Test func `an expression says nothing of the keys that are possible, but for those that can be listed`() throws {
    func isNeverTrue(_ source: Text) throws -> Bool { try Predicate(source).condition.isNeverTrue }
    #expect(try isNeverTrue("SELF MATCHES 'a' AND SELF == 'b'"))
    #expect(try isNeverTrue("SELF MATCHES 'a' AND NOT SELF MATCHES 'a'"))
    #expect(try !isNeverTrue("SELF MATCHES 'a' AND SELF == 'a'"))
    #expect(try !isNeverTrue("SELF MATCHES[c] 'a' AND NOT SELF MATCHES 'a'"))
    // More steps than a decision has: it is not known.
    let keys = (0..<100).map { "'\($0)\(String(repeating: "a", count: 20))'" }.joined(separator: ",")
    #expect(try isNeverTrue(Text("SELF IN {'1aa'} AND SELF MATCHES '\\d+((a?){1000}){4}[bc]'")))
    #expect(try !isNeverTrue(Text("SELF IN {\(keys)} AND SELF MATCHES '\\d+((a?){1000}){4}[bc]'")))
  }
}
