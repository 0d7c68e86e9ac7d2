import Testing
import TextPatterns

@Suite struct ExpressionFaultTests {
  @Test(arguments: [
    ("a)b", 2, "this parenthesis closes nothing; the character itself is written \\)"),
    ("é(a", 2, "this parenthesis is not closed; the character itself is written \\("),
    ("*a", 1, "there is nothing to repeat before *"),
    ("(?:+)", 4, "there is nothing to repeat before +"),
    ("a|{2}", 3, "there is nothing to repeat before {"),
    ("(?i)*", 5, "there is nothing to repeat before *"),
    ("a^*", 3, "there is nothing to repeat: ^ takes no text"),
    ("\\b{2}", 3, "there is nothing to repeat: \\b takes no text"),
    ("a**", 3, "* repeats a repetition; put the first into parentheses: (?:…)*"),
    ("a{2}{3}", 5, "{ repeats a repetition; put the first into parentheses: (?:…){"),
    ("a*+", 2, "there are no possessive repetitions; leave out the last +"),
    ("a{3,2}", 2, "a repetition has its smaller number first"),
    ("a{1,x}", 5, "expected a number, such as in {2,5}"),
    ("a{1001}", 3, "a repetition goes to 1000 at most"),
    ("a{99999999999999999999}", 3, "a repetition goes to 1000 at most"),
    ("a{2", 2, "a repetition is {m}, {m,} or {m,n}; the character itself is written \\{"),
    ("[a", 1, "this bracket is not closed; the character itself is written \\["),
    ("[]", 1, "this bracket is not closed; the character itself is written \\["),
    ("[b-a]", 2, "a range has its smaller character first"),
    ("[a-\\d]", 2, "a range goes from one character to another; - itself is written \\-"),
    ("[[:alpha:]]", 2, "there are no classes with names; \\d, \\w and \\s stand for digits, letters and space"),
    ("[\\b]", 2, "a class has characters, and \\b is none"),
    ("a\\", 2, "expected something after the backslash; the character itself is written \\\\"),
    ("(a)\\1", 4, "there are no back-references, which take more than one pass over the text"),
    ("\\k<a>", 1, "there are no back-references, which take more than one pass over the text"),
    ("a\\Z", 2, "the ends of the text are written ^ and $"),
    (
      "\\q", 1,
      "\\q is no escape; there are \\d \\w \\s \\D \\W \\S \\b \\n \\r \\t \\f \\v, and signs after a backslash"
    ),
    ("a(?=b)", 2, "there is no look-around, which takes more than one pass over the text"),
    ("(?<!b)", 1, "there is no look-around, which takes more than one pass over the text"),
    ("(?P<a>b)", 1, "a named group is written (?<name>…)"),
    ("(?>a)", 1, "there are no atomic groups; write (?:…)"),
    ("(?i:a)", 1, "to ignore case is written (?i), and holds from there to the end of its group"),
    ("(?x)", 1, "a group begins with (, (?: or (?<name>, and (?i) ignores case"),
    ("(?<1a>b)", 4, "a group's name has letters, digits and _, no digit first, and ends with >"),
    ("(?<a", 4, "a group's name has letters, digits and _, no digit first, and ends with >"),
    ("(?<a>b)(?<a>c)", 11, "there is a group of this name already"),
    ("ab(c{1000}){11}", 12, "written out, the expression has more than 10000 steps"),
  ])
  func `a fault has its column and a remedy`(expression: String, column: Int, reason: String) throws {
    let error = try #require(throws: ExpressionError.self) { try RegularExpression(expression) }
    #expect(error.column == column)
    #expect(error.reason == reason)
  }

  @Test func `each limit holds at its number, and not beyond`() throws {
    func column(_ expression: String) -> Int? {
      do throws(ExpressionError) { _ = try RegularExpression(expression) } catch { return error.column }
      return nil
    }
    #expect(column("é" + String(repeating: "a", count: 4094)) == nil)
    // The scalar with byte 4097.
    #expect(column("é" + String(repeating: "a", count: 4095)) == 4096)
    #expect(column("a{1000}") == nil)
    // The end of a program takes a step too.
    #expect(column("(a{1000}){9}a{999}") == nil)
    #expect(column("(a{1000}){9}a{1000}") == 10)
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a" + String(repeating: ")*", count: depth)
    }
    #expect(column(String(repeating: "(", count: 250) + String(repeating: ")", count: 250)) == nil)
    #expect(column(String(repeating: "(", count: 251) + String(repeating: ")", count: 251)) == 251)
    #expect(column((0..<64).map { "(?<g\($0)>a)" }.joined()) == nil)
    #expect(column((0..<65).map { "(?<g\($0)>a)" }.joined()) != nil)
    // Each level of what may be empty is written twice.
    #expect(column(nested(5)) == nil)
    #expect(column(nested(250)) != nil)
  }
}
