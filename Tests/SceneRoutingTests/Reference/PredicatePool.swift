import SceneModel
import SceneTestSupport

/// Conditions of all kinds on a few keys: alone, combined and negated.
enum PredicatePool {
  static func texts(about keys: [Text]) -> [Text] {
    var random = SeededRandom(seed: 0x5EED)
    return (0..<240).map { number in Text(text(number % 8, keys, &random)) }
  }

  private static func text(_ kind: Int, _ keys: [Text], _ random: inout SeededRandom) -> String {
    let (one, two, three) = (atom(keys, &random), atom(keys, &random), atom(keys, &random))
    return switch kind {
    case 0...3: one
    case 4: "NOT \(one)"
    case 5: "\(one) OR \(two)"
    case 6: "\(one) AND NOT \(two)"
    default:
      random.one(of: ["(\(one) OR \(two)) AND \(three)", "NOT (\(one) AND \(two))", "NOT (\(one) OR NOT \(two))"])
    }
  }

  private static func atom(_ keys: [Text], _ random: inout SeededRandom) -> String {
    let (one, other) = ("'\(random.one(of: keys))'", "'\(random.one(of: keys))'")
    let options = random.one(of: ["", "", "", "[c]", "[d]", "[cd]"])
    return switch random.below(12) {
    case 0, 1, 2: "SELF ==\(options) \(one)"
    case 3, 4: "SELF IN\(options) {\(one), \(other)}"
    case 5, 6: "SELF BEGINSWITH\(options) \(one)"
    case 7: "SELF LIKE\(options) '\(random.one(of: ["a*", "ab?", "*", "f*a", "?b*", "abc", "é*"]))'"
    case 8: "SELF ENDSWITH\(options) \(one)"
    case 9: "SELF CONTAINS\(options) \(one)"
    case 10: "SELF \(random.one(of: ["!=", "<", "<=", ">", ">="]))\(options) \(one)"
    default: random.one(of: ["TRUEPREDICATE", "TRUEPREDICATE", "FALSEPREDICATE"])
    }
  }
}
