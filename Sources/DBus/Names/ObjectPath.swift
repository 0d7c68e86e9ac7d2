/// The place of an object on its connection: elements of `[A-Za-z0-9_]` after slashes.
///
/// ```swift
/// let root: ObjectPath = "/org/example/Library"
/// let book = try root.appending("book_7")
/// print(book, book.lastElement, book.isDescendant(of: root))
/// ```
public struct ObjectPath: ValidatedName {
  /// The path, in its spelling on the wire.
  public let rawValue: String

  /// Wraps a string that is known to be a valid object path.
  public init(unchecked rawValue: String) { self.rawValue = rawValue }

  /// The path of the topmost object.
  public static let root: ObjectPath = "/"

  /// The message bus itself.
  package static let bus: ObjectPath = "/org/freedesktop/DBus"

  /// "object path"
  public static var kind: String { "object path" }

  /// The fault of `text` as an object path.
  public static func fault(in text: String) -> String? {
    let bytes = text.utf8
    if bytes.isEmpty { return "it is empty" }
    guard bytes.first == UInt8(ascii: "/") else { return "it does not begin with \"/\"" }
    if bytes.count == 1 { return nil }
    var previousIsSlash = false
    for byte in bytes {
      if byte == UInt8(ascii: "/") {
        if previousIsSlash { return "it has an empty element" }
        previousIsSlash = true
      } else {
        if !isNameByte(byte) { return faultOfElement(in: text) }
        previousIsSlash = false
      }
    }
    return previousIsSlash ? "it ends with \"/\"" : nil
  }

  private static func faultOfElement(in text: String) -> String {
    if text.utf8.contains(UInt8(ascii: ".")) { return "it has a \".\"" }
    return DBus.fault(ofByteIn: text, allowSlash: true)
  }
}

extension ObjectPath {
  /// The elements between the slashes, topmost first; none for the root.
  public var elements: [Substring] { rawValue.split(separator: "/") }

  /// The last element; empty for the root.
  public var lastElement: Substring {
    // By bytes, here and below: a path has only ASCII bytes.
    guard let slash = rawValue.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return rawValue[rawValue.utf8.index(after: slash)...]
  }

  /// The path one element up, or `nil` for the root.
  public var parent: ObjectPath? {
    if rawValue == "/" { return nil }
    guard let slash = rawValue.utf8.lastIndex(of: UInt8(ascii: "/")), slash != rawValue.startIndex else { return .root }
    return ObjectPath(unchecked: String(rawValue[..<slash]))
  }

  /// Whether this path lies below `ancestor`. A path is not below itself.
  public func isDescendant(of ancestor: ObjectPath) -> Bool {
    if ancestor.rawValue == "/" { return rawValue != "/" }
    let (own, other) = (rawValue.utf8, ancestor.rawValue.utf8)
    guard own.count > other.count + 1, own.starts(with: other) else { return false }
    return own[own.index(own.startIndex, offsetBy: other.count)] == UInt8(ascii: "/")
  }

  /// The path with one more element, which must consist of `[A-Za-z0-9_]`.
  public func appending(_ element: String) throws(InvalidName) -> ObjectPath {
    if let fault = Self.fault(inElement: element) {
      throw InvalidName(text: element, kind: "element of an object path", fault: fault)
    }
    return ObjectPath(unchecked: rawValue == "/" ? "/\(element)" : "\(rawValue)/\(element)")
  }

  private static func fault(inElement text: String) -> String? {
    if text.isEmpty { return "it is empty" }
    if text.utf8.allSatisfy(isNameByte) { return nil }
    return text.utf8.contains(UInt8(ascii: "/")) ? "it has a \"/\"" : faultOfElement(in: text)
  }

  /// The path with one more element that stands for any string at all.
  ///
  /// Each byte other than `[A-Za-z0-9]`, and a leading digit, becomes `_` and two lower-case hexadecimal digits; the empty string becomes `_`.
  /// `sd_bus_path_encode` does the same.
  ///
  /// ```swift
  /// let path: ObjectPath = "/org/example/application"
  /// print(path.appending(label: "org.example.Gallery"))
  /// // /org/example/application/org_2eexample_2eGallery
  /// ```
  public func appending(label: String) -> ObjectPath {
    let digits = Array("0123456789abcdef".utf8)
    var bytes = Array(rawValue == "/" ? "/".utf8 : "\(rawValue)/".utf8)
    if label.isEmpty { bytes.append(UInt8(ascii: "_")) }
    for (offset, byte) in label.utf8.enumerated() {
      if isNameByte(byte) && byte != UInt8(ascii: "_") && !(offset == 0 && isDigit(byte)) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "_"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return ObjectPath(unchecked: String(decoding: bytes, as: UTF8.self))
  }

  /// The text from which ``appending(label:)`` made the last element; `nil` if it was made in another way.
  public var label: String? {
    let element = Array(lastElement.utf8)
    if element == [UInt8(ascii: "_")] { return "" }
    var bytes: [UInt8] = []
    var index = 0
    while index < element.count {
      if element[index] != UInt8(ascii: "_") {
        bytes.append(element[index])
        index += 1
        continue
      }
      guard index + 2 < element.count,
        let byte = UInt8(String(decoding: element[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
      index += 3
    }
    // The same bytes have other spellings too, and two paths must not stand for the same label.
    guard !bytes.isEmpty, let label = String(validating: bytes, as: UTF8.self),
      ObjectPath.root.appending(label: label).rawValue.utf8.dropFirst().elementsEqual(element)
    else { return nil }
    return label
  }
}
