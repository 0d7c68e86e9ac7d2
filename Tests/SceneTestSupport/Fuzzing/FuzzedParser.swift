import SceneModel

/// A parser that bytes from anywhere may reach, and what has to hold of it whatever those bytes are.
///
/// The fuzzers make up inputs for it, and a test goes through those that were kept, in `Fuzz/Corpus`.
package enum FuzzedParser: String, CaseIterable, Sendable {
  case payload, manifest, predicate, values

  /// What became of an input.
  package enum Outcome: Sendable {
    /// No caller could have handed this in: it is no text where there has to be one.
    case unfit
    case refused, taken
  }

  /// Throws where a law is broken. That the parser comes back at all, and soon, is for the caller to see.
  package func check(_ input: [UInt8]) throws(BrokenLaw) -> Outcome {
    switch self {
    case .payload: try PayloadLaws.check(input)
    case .manifest: try ManifestLaws.check(input)
    case .predicate: try PredicateLaws.check(input)
    case .values: try ValueLaws.check(input)
    }
  }

  static let types = TypeCatalog()
}

/// Something that a parser did and may not do.
package struct BrokenLaw: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// A document in one of the forms that it may have.
struct FuzzedDocument {
  enum Form {
    /// `nil` for bytes that are no text.
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

  /// The document with its tags as they stand there; `nil` where it cannot be taken apart.
  var tree: Value? {
    switch form {
    case .json(nil): .none
    case .json: NaiveJSON.tree(of: bytes)
    case .propertyList: try? PropertyList.read(bytes).value
    }
  }
}
