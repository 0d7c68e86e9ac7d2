import XML

/// An introspection document that cannot be read: the place of the fault, and the expected text.
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
  /// The kind of the fault, for programs.
  public let code: Code
  /// The line of the place, from 1.
  public let line: Int
  /// The column of the place, from 1, in Unicode scalars.
  public let column: Int
  /// The expected text and the text found, for people.
  public let reason: String
  /// The invalid name or signature, if `code` is ``Code/invalidName``.
  public let invalidName: InvalidName?

  /// One sentence that stands by itself.
  public var description: String { "line \(line), column \(column): \(reason)" }
}

extension IntrospectionError {
  /// The kinds of faults. A later version may have more.
  ///
  /// ```swift
  /// func isWorthReporting(_ error: IntrospectionError) -> Bool { error.code != .limitExceeded }
  /// ```
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// The document is not well-formed XML.
    public static let malformed = Code(description: "malformed")
    /// The document is longer, deeper or wider than any honest document.
    public static let limitExceeded = Code(description: "limitExceeded")
    /// The document is XML, but not an introspection document.
    public static let unexpected = Code(description: "unexpected")
    /// A name or a signature breaks the rules of the specification.
    public static let invalidName = Code(description: "invalidName")
  }
}

extension IntrospectionError {
  init(_ error: XMLError) {
    let code: Code =
      switch error.kind {
      case .malformed: .malformed
      case .limitExceeded: .limitExceeded
      }
    self.init(code, error.reason, at: error.position)
  }

  init(unexpected reason: String, at position: XMLPosition) { self.init(.unexpected, reason, at: position) }

  init(_ name: InvalidName, at position: XMLPosition) { self.init(.invalidName, "\(name)", at: position, name) }

  private init(_ code: Code, _ reason: String, at position: XMLPosition, _ invalidName: InvalidName? = nil) {
    self.init(code: code, line: position.line, column: position.column, reason: reason, invalidName: invalidName)
  }
}
