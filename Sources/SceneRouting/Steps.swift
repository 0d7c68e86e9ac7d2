/// What the parts of a decision take of its steps. A step is about two nanoseconds of a release build, so that `Limits.conditionSteps` is
/// less than 20 milliseconds.
enum Steps {
  /// A lookup in a table.
  static let lookup = 32
  /// To ask whether one type conforms to another.
  static let conformance = 256
  /// A content type that is asked about: its canonical name, and those of its kinds.
  static let type = 1_024
  /// An application that may take the payload: its route, and its place in the order.
  static let application = 512
  /// A session, or conditions that sessions share: each is most often far from the last one in memory.
  static let visit = 96

  /// Bytes that are hashed, or compared.
  static func bytes(_ count: Int) -> Int { count / 2 }
}
