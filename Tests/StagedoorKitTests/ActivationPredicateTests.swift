import StagedoorKit
import Testing

@Suite struct ActivationPredicateTests {
  @Test(arguments: ["cat1", "it's", #"say "hi""#, #"back\slash"#, "", "%@", "line\nbreak", "é"])
  func `equals takes just that, whatever is in it`(text: String) throws {
    let predicate = ActivationPredicate.equals(text)
    #expect(predicate.matches(text))
    #expect(!predicate.matches(text + "x"))
    // The service reads the predicate as it was meant.
    #expect(try ActivationPredicate(predicate.source) == predicate)
    #expect(ActivationPredicate.begins(with: text).matches(text + "x"))
    #expect(ActivationPredicate.isOne(of: ["a", text]).matches(text))
  }

  @Test func `a scene of one thing takes that before others, and nothing else`() {
    let conditions = SceneActivationConditions.only("it's \"7\"")
    for condition in [
      conditions.canActivateForTargetContentIdentifierPredicate,
      conditions.prefersToActivateForTargetContentIdentifierPredicate,
    ] {
      #expect(condition?.matches("it's \"7\"") == true)
      #expect(condition?.matches("8") == false)
    }
  }

  @Test func `what is no predicate is refused with its place`() {
    let wrong = "SELF BETWEEN 'x'"
    let error = #expect(throws: StagedoorError.self) { try ActivationPredicate(wrong) }
    #expect(error?.code == .invalidPredicate)
    #expect(!ActivationPredicate.never.matches("x"))
    #expect(ActivationPredicate.always.matches(""))
    #expect(ActivationPredicate.isOne(of: []) == .never)
  }
}
