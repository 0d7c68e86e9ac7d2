/// The cost of the parts of a decision, in steps. `mind-benchmark worst` measures the most expensive decisions within the limits: a step takes about
/// four nanoseconds of a release build at most, so `Limits.conditionSteps` take less than 20 milliseconds.
enum Steps {
  static let lookup = 64
  static let conformance = 768
  /// The additional cost of a lookup for each parameter of a content type.
  static let parameter = 32
  /// A content type in question: its canonical name, and the names of the types that it conforms to.
  static let type = 1_024
  /// An application that may take the payload: its route, and its place in the order.
  static let application = 1_024
  /// A session, or conditions that sessions share: each is usually far from the previous one in memory.
  static let visit = 192
  /// A byte of a condition that is printed for an explanation.
  static let printed = 24

  /// Bytes that are hashed or compared.
  static func bytes(_ count: Int) -> Int { count / 2 }
}
