/// What a user activity's `userInfo` may hold.
///
/// Each comes back from JSON and from a property list as it went in: an integer stays an integer and a double a double,
/// a set a set. Two values are equal when they are exactly the same; texts count by their bytes.
package enum Value: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Finite: JSON cannot write anything else, and nothing reads it.
  case double(Double)
  case string(Text)
  case data([UInt8])
  case date(Instant)
  /// As it was spelled. `UniqueIdentifier` reads it.
  case uuid(Text)
  /// As it was spelled. `URLText` says what is one.
  case url(Text)
  case array([Value])
  case set(Set<Value>)
  case dictionary(UserInfo)
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  package init(stringLiteral value: String) { self = .string(Text(value)) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: Value...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (Text, Value)...) { self = .dictionary(UserInfo(distinct: elements)) }
  package init(nilLiteral: ()) { self = .null }
}

extension Value {
  /// What a person would call it, with its article.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer: "an integer"
    case .double: "a number"
    case .string: "text"
    case .data: "data"
    case .date: "a date"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .array: "an array"
    case .set: "a set"
    case .dictionary: "a dictionary"
    }
  }
}
