import SceneModel
import XML

/// Lays out values as Apple's writers do.
struct XMLPropertyListWriter {
  private var text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """

  static func document(of tree: Value) -> [UInt8] {
    var writer = XMLPropertyListWriter()
    writer.write(tree, depth: 0)
    writer.text += "</plist>\n"
    return Array(writer.text.utf8)
  }

  private mutating func write(_ value: Value, depth: Int) {
    switch value {
    case .bool(let bool): line(bool ? "<true/>" : "<false/>", depth)
    case .integer(let integer): line("<integer>\(integer)</integer>", depth)
    case .double(let double): line("<real>\(double)</real>", depth)
    case .string(let string): write("string", string, depth)
    case .date(let date): line("<date>\(date.rfc3339)</date>", depth)
    case .data(let bytes): write(bytes, depth)
    case .array(let elements):
      container("array", isEmpty: elements.isEmpty, depth) { writer in
        for element in elements { writer.write(element, depth: depth + 1) }
      }
    case .dictionary(let entries):
      container("dict", isEmpty: entries.isEmpty, depth) { writer in
        for entry in entries.entries {
          writer.write("key", entry.key, depth + 1)
          writer.write(entry.value, depth: depth + 1)
        }
      }
    case .null, .uuid, .url, .set:
      preconditionFailure("\(value) is tagged before it is written to a property list")
    }
  }

  private mutating func write(_ element: String, _ content: Text, _ depth: Int) {
    indent(depth)
    text += "<\(element)>"
    XMLText.append(content: content.string, to: &text)
    text += "</\(element)>\n"
  }

  /// Writes lines of less than 76 columns, where a tab counts as eight.
  private mutating func write(_ bytes: [UInt8], _ depth: Int) {
    line("<data>", depth)
    let encoded = Base64.encode(bytes)
    let length = max(16, 76 - 8 * depth) / 4 * 4
    for start in stride(from: 0, to: encoded.count, by: length) {
      line(String(decoding: encoded[start..<min(start + length, encoded.count)], as: UTF8.self), depth)
    }
    line("</data>", depth)
  }

  private mutating func container(
    _ element: String, isEmpty: Bool, _ depth: Int, _ content: (inout XMLPropertyListWriter) -> Void
  ) {
    if isEmpty { return line("<\(element)/>", depth) }
    line("<\(element)>", depth)
    content(&self)
    line("</\(element)>", depth)
  }

  private mutating func line(_ content: String, _ depth: Int) {
    indent(depth)
    text += content
    text += "\n"
  }

  private mutating func indent(_ depth: Int) {
    for _ in 0..<depth { text += "\t" }
  }
}
