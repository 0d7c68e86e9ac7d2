import XML

/// Reads the values of attributes, checks each, and names their places in errors.
extension IntrospectionReader {
  func name<Name: ValidatedName>(in tag: XMLTag) throws(IntrospectionError) -> Name {
    try name(try required("name", in: tag))
  }

  func name<Name: ValidatedName>(_ attribute: XMLAttribute) throws(IntrospectionError) -> Name {
    do throws(InvalidName) {
      return try Name(attribute.value)
    } catch {
      throw IntrospectionError(error, at: scanner.position(of: attribute.valueOffset))
    }
  }

  func type(in tag: XMLTag) throws(IntrospectionError) -> Signature {
    let attribute = try required("type", in: tag)
    let type: Signature = try name(attribute)
    if type.isSingleCompleteType { return type }
    let count = type.completeTypes.count
    let fault = count == 0 ? "it is empty" : "it stands for \(count) values"
    throw IntrospectionError(
      InvalidName(text: type.rawValue, kind: "single complete type", fault: fault),
      at: scanner.position(of: attribute.valueOffset))
  }

  /// A node's name is a path; below the root it may be elements of a path.
  func nodeName(_ attribute: XMLAttribute, isRoot: Bool) throws(IntrospectionError) -> String {
    let text = attribute.value
    let isAbsolute = text.utf8.first == UInt8(ascii: "/")
    let fault =
      if isAbsolute {
        isRoot ? ObjectPath.fault(in: text) : "it begins with \"/\""
      } else {
        text.isEmpty ? "it is empty" : ObjectPath.fault(in: "/" + text)
      }
    guard let fault else { return text }
    throw IntrospectionError(
      InvalidName(text: text, kind: isAbsolute && isRoot ? "object path" : "relative object path", fault: fault),
      at: scanner.position(of: attribute.valueOffset))
  }

  func required(_ name: XMLName, in tag: XMLTag) throws(IntrospectionError) -> XMLAttribute {
    guard let attribute = tag[name] else { throw missing(name, in: tag) }
    return attribute
  }

  func missing(_ name: XMLName, in tag: XMLTag) -> IntrospectionError {
    IntrospectionError(
      unexpected: "expected an attribute \"\(name)\" in <\(tag.name)>", at: scanner.position(of: tag.offset))
  }

  func unexpected(_ name: XMLName, in tag: XMLTag, expected: String) -> IntrospectionError {
    let attribute = tag[name]
    return IntrospectionError(
      unexpected: "expected \(expected), found \"\(XMLText.excerpt(attribute?.value ?? ""))\"",
      at: scanner.position(of: attribute?.valueOffset ?? tag.offset))
  }
}
