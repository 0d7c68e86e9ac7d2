import SceneModel

/// A parser that may get bytes from anywhere, and its laws, which hold for all bytes.
///
/// The fuzzers make inputs for it, and a test checks the inputs that were kept, in `Fuzz/Corpus`.
package enum FuzzedParser: String, CaseIterable, Sendable {
  case payload, manifest, predicate, values, expression

  /// The result of an input.
  package enum Outcome: Sendable {
    /// No caller could have handed this in: it is not text, where text is required.
    case unfit
    case refused, taken
  }

  /// Throws if a law is broken. The caller has to see that the parser returns at all, and soon.
  package func check(_ input: [UInt8]) throws(BrokenLaw) -> Outcome {
    switch self {
    case .payload: try PayloadLaws.check(input)
    case .manifest: try ManifestLaws.check(input)
    case .predicate: try PredicateLaws.check(input)
    case .values: try ValueLaws.check(input)
    case .expression: try ExpressionLaws.check(input)
    }
  }

  static let types = TypeCatalog()
}

/// Something that a parser did but may not do.
package struct BrokenLaw: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  /// Checks that a written value can be read, is the same again, and is written in the same way.
  ///
  /// - Parameter mayNotFit: Whether the reader may find the value beyond one of its limits.
  static func check<Value: Equatable, Written: Equatable>(
    _ value: Value, as form: String, mayNotFit: Bool, write: (Value) -> Written, read: (Written) throws(Fault) -> Value
  ) throws(BrokenLaw) {
    let written = write(value)
    do throws(Fault) {
      let again = try read(written)
      if again != value { throw Fault(at: .document, "another value came back: \(again)") }
      if write(again) != written { throw Fault(at: .document, "it is written in two ways") }
    } catch {
      if mayNotFit, error.kind == .limit { return }
      throw BrokenLaw("\(form): \(error): \(value)")
    }
  }
}

/// A document in one of its possible forms.
struct FuzzedDocument {
  enum Form {
    /// `nil` for bytes that are not text.
    case json(Text?)
    case propertyList
  }

  let bytes: [UInt8]
  let form: Form

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let first = bytes[start...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    if bytes.starts(with: "bplist".utf8) || first == UInt8(ascii: "<") {
      form = .propertyList
    } else {
      form = .json(String(validating: bytes, as: UTF8.self).map { Text($0) })
    }
  }

  var isPropertyList: Bool { if case .propertyList = form { true } else { false } }

  /// The document with its tags as written; `nil` if it cannot be parsed.
  var tree: Value? {
    switch form {
    case .json(nil): .none
    case .json: NaiveJSON.tree(of: bytes)
    case .propertyList: try? PropertyList.read(bytes)
    }
  }
}
