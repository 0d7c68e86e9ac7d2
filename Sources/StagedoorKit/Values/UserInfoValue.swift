public import FoundationEssentials

/// What the `userInfo` of an activity may hold.
///
/// ```swift
/// var activity = UserActivity("org.example.Gallery.openDetail")
/// activity.userInfo = ["photoID": "7", "zoom": 1.5, "marks": [1, 2, 3], "seen": true]
/// if let identifier = activity.userInfo["photoID"]?.string { print(identifier) }
/// ```
///
/// Each comes out of the service as it went in: an integer stays an integer, a set a set.
public enum UserInfoValue: Sendable, Hashable {
  /// Nothing, said so.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int)
  /// Any other number. It is finite: nothing else can be written down.
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
  /// Values by their names.
  case dictionary([String: UserInfoValue])
}

extension UserInfoValue {
  /// The truth, where it is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The whole number, where it is one.
  public var integer: Int? { if case .integer(let value) = self { value } else { nil } }
  /// The number, where it is one, whole or not.
  public var double: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
  /// The text, where it is one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes, where it has some.
  public var data: Data? { if case .data(let value) = self { value } else { nil } }
  /// The moment, where it is one.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }
  /// The UUID, where it is one.
  public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
  /// The URL, where it is one.
  public var url: URL? { if case .url(let value) = self { value } else { nil } }
  /// The values, where it is an array.
  public var array: [UserInfoValue]? { if case .array(let values) = self { values } else { nil } }
  /// The values, where it is a dictionary.
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
  /// A dictionary. A key that stands twice is a mistake of the program, and traps.
  public init(dictionaryLiteral elements: (String, UserInfoValue)...) {
    self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
  }
}
