import XML

/// An introspection document that cannot be read: where it goes wrong, and what was expected there.
///
/// ```swift
/// do throws(IntrospectionError) {
///   _ = try Introspection.Node(xml: "<node>\n</knot>")
/// } catch {
///   print(error.code == .malformed, error.line, error.column)  // true 2 1
///   print(error)  // line 2, column 1: expected </node>, found </knot>
/// }
/// ```
public struct IntrospectionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong, for programs.
  public let code: Code
  /// The line of the place, from 1.
  public let line: Int
  /// The column of the place, from 1, in Unicode scalars.
  public let column: Int
  /// What was expected, and what was found, for people.
  public let reason: String
  /// The name or signature that is wrong, where `code` is ``Code/invalidName``.
  public let invalidName: InvalidName?

  /// One sentence that stands by itself.
  public var description: String { "line \(line), column \(column): \(reason)" }
}

extension IntrospectionError {
  /// The kinds of things that can go wrong. There may be more of them one day.
  ///
  /// ```swift
  /// func isWorthReporting(_ error: IntrospectionError) -> Bool { error.code != .limitExceeded }
  /// ```
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// The document is not well-formed XML.
    public static let malformed = Code(description: "malformed")
    /// The document is longer, deeper or wider than any that is meant well.
    public static let limitExceeded = Code(description: "limitExceeded")
    /// The document is XML but does not say what an introspection document must.
    public static let unexpected = Code(description: "unexpected")
    /// A name or a signature is against the rules of the specification.
    public static let invalidName = Code(description: "invalidName")
  }
}

extension IntrospectionError {
  init(_ error: XMLError) {
    code =
      switch error.kind {
      case .malformed: .malformed
      case .limitExceeded: .limitExceeded
      }
    line = error.position.line
    column = error.position.column
    reason = error.reason
    invalidName = nil
  }

  init(unexpected reason: String, at position: XMLPosition) {
    code = .unexpected
    line = position.line
    column = position.column
    self.reason = reason
    invalidName = nil
  }

  init(_ name: InvalidName, at position: XMLPosition) {
    code = .invalidName
    line = position.line
    column = position.column
    reason = "\(name)"
    invalidName = name
  }
}
