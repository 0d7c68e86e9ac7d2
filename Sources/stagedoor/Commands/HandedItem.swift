import DBus
import Glibc
import SceneModel
import ServiceSupport

/// A regular file on this machine.
struct LocalFile: Sendable {
  static let types = InstalledFileTypes(in: Directories.data())

  /// The absolute path, without links.
  let path: [UInt8]

  /// - Parameter bytes: a path in any bytes.
  init(_ bytes: [UInt8]) throws(Problem) {
    let shown = String(decoding: bytes, as: UTF8.self).printable
    let path = bytes.map { CChar(bitPattern: $0) } + [0]
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw .failed("\(shown): \(InputFile.reason)") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .failed("\(shown) is a directory; hand in the files that are in it")
    case S_IFIFO: throw .failed("\(shown) is a pipe; hand it in as standard input: - <\(shown)")
    default: throw .failed("\(shown) is a device, and no file; hand it in as standard input: - <\(shown)")
    }
    guard let real = realpath(path, nil) else { throw .failed("\(shown): \(InputFile.reason)") }
    defer { free(real) }
    self.path = UnsafeBufferPointer(start: real, count: strlen(real)).map { UInt8(bitPattern: $0) }
  }

  var name: String { path.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? "" }
  var url: Text { FileURL.text(ofPath: path) }
  /// The type that the file has when it is handed in.
  var type: String { LocalFile.types.type(ofFile: path).spelling.string }

  func opened() throws(Problem) -> OwnedFileDescriptor {
    let descriptor = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NOCTTY)
    if descriptor < 0 { throw .failed("\(name.printable): \(InputFile.reason)") }
    return OwnedFileDescriptor(owning: descriptor)
  }
}

/// One of the things that are handed in together.
struct HandedItem: Sendable {
  enum Content: Sendable {
    case text(String)
    case link(String)
    case data([UInt8])
    case file(LocalFile, isCopy: Bool)
    case descriptor(OwnedFileDescriptor)
  }

  var activity: Value?
  var name: String?
  let type: String
  var content: Content

  /// The item from a path, or from any URL, as file managers pass them.
  init(file: String, isCopy: Bool) throws(Problem) {
    let file = NotUTF8.url(in: file) ?? file
    guard let scheme = HandedItem.scheme(of: file) else {
      self.init(try LocalFile(Array(file.utf8)), isCopy: isCopy)
      return
    }
    guard scheme == "file" else {
      try self.init(link: file)
      return
    }
    guard let path = FileURL.path(of: Text(file)) else {
      throw .failed("\(file.printable) is not the URL of a local file")
    }
    self.init(try LocalFile(path), isCopy: isCopy)
  }

  private init(_ file: LocalFile, isCopy: Bool) {
    self.init(file.type, .file(file, isCopy: isCopy), name: file.name)
  }

  init(link: String) throws(Problem) {
    if !URLText.isValid(Text(link)) {
      throw .usage("\"\(link.printable)\" is not a URL such as https://example.org; --text takes any text")
    }
    self.init("text/uri-list", .link(link))
  }

  init(_ type: String, _ content: Content, name: String? = nil) {
    self.type = type
    self.content = content
    self.name = name
  }

  /// As a part of a payload's document. The content of a descriptor is left out: routing does not depend on it.
  var json: Value {
    let representations: [Value] =
      switch content {
      case .text(let text): [represented(("text", .text(text)))]
      case .link(let link):
        Representation.link(to: Text(link)).map {
          Printed.object([("type", .string($0.type.spelling)), ("text", .text(link))])
        }
      case .data(let bytes): [represented(("data", .string(Base64.text(of: bytes))))]
      case .file(let file, let isCopy): [represented(("file", .string(file.url)), ("openInPlace", isCopy ? nil : true))]
      case .descriptor: [represented(("data", ""))]
      }
    return Printed.object([
      ("activities", activity.map { [$0] }), ("suggestedName", name.map { .text($0) }),
      ("representations", .array(representations)),
    ])
  }

  private func represented(_ content: (String, Value?)...) -> Value {
    Printed.object([("type", .text(type))] + content)
  }

  /// As a dictionary on the bus. A file is sent as its descriptor: a program in a sandbox may not name one.
  func dictionary() throws(Problem) -> [String: Variant] {
    func represented(_ key: String, _ content: Variant) -> [String: Variant] { ["type": .string(type), key: content] }
    let representations: [[String: Variant]] =
      switch content {
      case .text(let text): [represented("text", .string(text))]
      case .link(let link):
        Representation.link(to: Text(link)).map {
          ["type": .string($0.type.spelling.string), "text": .string(link)]
        }
      case .data(let bytes): [represented("data", .bytes(bytes))]
      case .file(let file, _): [represented("fd", .fileDescriptor(try file.opened()))]
      case .descriptor(let descriptor): [represented("fd", .fileDescriptor(descriptor))]
      }
    var item: [String: Variant] = ["representations": Variant(representations)]
    if let activity { item["activities"] = Variant([Printed.json(activity)]) }
    if let name { item["suggestedName"] = .string(name) }
    return item
  }

  /// `https` of `https://example.org`.
  static func scheme(of text: String) -> String? {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 1,
      bytes[colon...].starts(with: Array("://".utf8)),
      bytes[..<colon].allSatisfy({ isLetterOrDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") })
    else { return nil }
    return String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
  }
}

/// Whether a byte is an ASCII letter or digit.
func isLetterOrDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}
