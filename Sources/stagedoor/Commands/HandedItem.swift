import DBus
import Glibc
import SceneModel
import ServiceSupport

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
    guard let real = LinkTarget.last(of: bytes) else { throw .failed("\(shown): \(InputFile.reason)") }
    self.path = real
  }

  /// The path with the present directory before it, if it is relative; `nil` if there is no such directory.
  static func absolute(_ path: [UInt8]) -> [UInt8]? {
    if path.first == UInt8(ascii: "/") { return path }
    guard let folder = getcwd(nil, 0) else { return nil }
    defer { free(folder) }
    return [UInt8](cString: folder) + [UInt8(ascii: "/")] + path
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

struct HandedItem: Sendable {
  enum Content: Sendable {
    /// The same in several types.
    case texts([(type: String, text: String)])
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
    guard let path = try HandedItem.path(of: file) else {
      try self.init(link: file)
      return
    }
    let local = try LocalFile(path)
    self.init(local.type, .file(local, isCopy: isCopy), name: local.name)
  }

  init(link: String) throws(Problem) {
    if !URLText.isValid(Text(link)) {
      throw .usage("\"\(link.printable)\" is not a URL such as https://example.org; --text takes any text")
    }
    let links = Representation.link(to: Text(link)).map { (type: $0.type.spelling.string, text: link) }
    self.init("text/uri-list", .texts(links))
  }

  init(_ type: String, _ content: Content, name: String? = nil) {
    self.type = type
    self.content = content
    self.name = name
  }

  /// As a part of a payload's document. The content of a descriptor is left out: routing does not depend on it.
  var json: Value {
    let representations: [[(String, Value?)]] =
      switch content {
      case .texts(let texts): texts.map { [("type", .text($0.type)), ("text", .text($0.text))] }
      case .data(let bytes): [[("type", .text(type)), ("data", .string(Base64.text(of: bytes)))]]
      case .file(let file, let isCopy):
        [[("type", .text(type)), ("file", .string(file.url)), ("openInPlace", isCopy ? nil : true)]]
      case .descriptor: [[("type", .text(type)), ("data", "")]]
      }
    return Printed.object([
      ("activities", activity.map { [$0] }), ("suggestedName", name.map { .text($0) }),
      ("representations", .array(representations.map(Printed.object))),
    ])
  }

  /// As a dictionary on the bus. A file is sent as its descriptor: a program in a sandbox may not name one.
  func dictionary() throws(Problem) -> [String: Variant] {
    let representations: [[String: Variant]] =
      switch content {
      case .texts(let texts): texts.map { ["type": .string($0.type), "text": .string($0.text)] }
      case .data(let bytes): [["type": .string(type), "data": .bytes(bytes)]]
      case .file(let file, _): [["type": .string(type), "fd": .fileDescriptor(try file.opened())]]
      case .descriptor(let descriptor): [["type": .string(type), "fd": .fileDescriptor(descriptor)]]
      }
    var item: [String: Variant] = ["representations": Variant(representations)]
    if let activity { item["activities"] = Variant([Printed.json(activity)]) }
    if let name { item["suggestedName"] = .string(name) }
    return item
  }

  /// The path that an argument names, itself or as a URL; `nil` for a link.
  static func path(of argument: String) throws(Problem) -> [UInt8]? {
    let argument = NotUTF8.url(in: argument) ?? argument
    guard let scheme = scheme(of: argument) else { return Array(argument.utf8) }
    if scheme != "file" { return nil }
    if let path = FileURL.path(of: Text(argument)) { return path }
    throw .failed("\(argument.printable) is not the URL of a local file")
  }

  /// `https` of `https://example.org`.
  static func scheme(of text: String) -> String? {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 1,
      bytes[colon...].starts(with: Array("://".utf8)),
      bytes[..<colon].allSatisfy({
        MIMESyntax.isLetterOrDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
      })
    else { return nil }
    return String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
  }
}
