/// What the parts of a decision take of its steps. `mind-benchmark worst` measures the dearest decisions that fit into the limits: a step is at
/// most some four nanoseconds of a release build there, so that `Limits.conditionSteps` is less than 20 milliseconds.
enum Steps {
  /// A lookup in a table.
  static let lookup = 64
  /// To ask whether one type conforms to another.
  static let conformance = 768
  /// What a parameter of a content type adds to a lookup.
  static let parameter = 32
  /// A content type that is asked about: its canonical name, and those of its kinds.
  static let type = 1_024
  /// An application that may take the payload: its route, and its place in the order.
  static let application = 1_024
  /// A session, or conditions that sessions share: each is most often far from the last one in memory.
  static let visit = 192
  /// A byte of a condition that is printed, for an explanation.
  static let printed = 24

  /// Bytes that are hashed, or compared.
  static func bytes(_ count: Int) -> Int { count / 2 }
}
