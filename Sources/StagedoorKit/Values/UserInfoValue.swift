public import FoundationEssentials

/// A value in the `userInfo` of an activity.
///
/// ```swift
/// var activity = UserActivity("org.example.Gallery.openDetail")
/// activity.userInfo = ["photoID": "7", "zoom": 1.5, "marks": [1, 2, 3], "seen": true]
/// if let identifier = activity.userInfo["photoID"]?.string { print(identifier) }
/// ```
///
/// The service keeps the kind of each value: an integer stays an integer, a set stays a set.
public enum UserInfoValue: Sendable, Hashable {
  /// An explicit null.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int)
  /// Any other number. It must be finite: no other number can be written.
  case double(Double)
  /// Text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A moment, to the microsecond.
  case date(Date)
  /// A UUID.
  case uuid(UUID)
  /// An absolute URL.
  case url(URL)
  /// Values in their order.
  case array([UserInfoValue])
  /// Values without an order, each once.
  case set(Set<UserInfoValue>)
  /// Values by name.
  case dictionary([String: UserInfoValue])
}

extension UserInfoValue {
  /// The boolean, if the value is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The whole number, if the value is one.
  public var integer: Int? { if case .integer(let value) = self { value } else { nil } }
  /// The number, if the value is one, whole or not.
  public var double: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
  /// The text, if the value is one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes, if the value holds bytes.
  public var data: Data? { if case .data(let value) = self { value } else { nil } }
  /// The moment, if the value is one.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }
  /// The UUID, if the value is one.
  public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
  /// The URL, if the value is one.
  public var url: URL? { if case .url(let value) = self { value } else { nil } }
  /// The values, if the value is an array.
  public var array: [UserInfoValue]? { if case .array(let values) = self { values } else { nil } }
  /// The values, if the value is a dictionary.
  public var dictionary: [String: UserInfoValue]? { if case .dictionary(let values) = self { values } else { nil } }
}

extension UserInfoValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  public init(arrayLiteral elements: UserInfoValue...) { self = .array(elements) }
  /// A dictionary. A repeated key is a mistake of the program, and traps.
  public init(dictionaryLiteral elements: (String, UserInfoValue)...) {
    self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
  }
}
