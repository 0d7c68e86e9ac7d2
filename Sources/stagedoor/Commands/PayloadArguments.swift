import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

/// The arguments of `drop` and `explain`, as a payload.
struct PayloadArguments {
  /// The simplest form, for which the bus has a call of its own.
  struct Plain {
    let type: String
    let target: String
    let info: [String: String]
  }

  /// Data that standard input still has to deliver.
  struct Stream {
    let type: String
    let name: String?
    /// The part that was read to find out the length and the type.
    let beginning: [UInt8]
  }

  let plain: Plain?
  private(set) var document: Value
  let stream: Stream?
  private let options: Value
  let activity: Value?
  /// Whether the answer waits until the application has the delivery.
  let waits: Bool
  /// The sender's name for the delivery: a second call with the same token is not carried out again.
  let token: String?

  /// Up to this size input goes into the document, because the bus carries it faster than a descriptor.
  private static let inline = 32 << 10

  /// - Parameter isHandedIn: whether it is handed in, and not only explained: then long input becomes a stream, and the desktop's token is added.
  init(_ invocation: Invocation, _ client: Client, isHandedIn: Bool) async throws {
    try PayloadArguments.refuseIdleOptions(invocation)
    var options = try await PayloadArguments.options(invocation, client)
    if isHandedIn, let token = DesktopToken.current { options = options.adding("activationToken", .text(token)) }
    self.options = options
    if let payload = invocation[.payload] {
      (plain, stream, activity) = (nil, nil, nil)
      document = try PayloadArguments.read(payload, adding: options, invocation)
      let merged = document["options"]
      token = merged?["token"]?.string
      // The service answers at once, and the command waits for the delivery in the answer.
      waits = invocation[.wait] == "handled" || isHandedIn && merged?["wait"]?.string == "handled"
      if waits, let merged { document = document.adding("options", merged.adding("wait", "routed")) }
      return
    }
    (token, waits) = (invocation[.token], invocation[.wait] == "handled")
    activity = try PayloadArguments.activity(invocation)
    var items: [Value] = []
    var stream: Stream?
    for file in invocation.arguments {
      guard file == "-" else {
        items.append(try PayloadArguments.item(file: file, copies: invocation.has(.copy)))
        continue
      }
      let input = try PayloadArguments.input(invocation)
      if isHandedIn, input.isLong {
        stream = Stream(type: input.type, name: input.name, beginning: input.bytes)
      } else {
        items.append(PayloadArguments.item(input: input))
      }
    }
    for text in invocation.all(.text) {
      let type = invocation[.contentType] ?? "text/plain"
      items.append(
        Printed.object([("representations", [Printed.object([("text", .text(text)), ("type", .text(type))])])]))
    }
    for url in invocation.all(.url) { items.append(try PayloadArguments.item(link: url)) }
    if stream != nil, !items.isEmpty {
      throw Problem.usage("long standard input goes alone; hand the other things in by themselves")
    }
    self.stream = stream
    if items.isEmpty {
      document = Printed.object([("activity", activity), ("options", options.isEmpty ? nil : options)])
    } else {
      if let activity { items[0] = items[0].adding("activities", [activity]) }
      document = Printed.object([("items", .array(items)), ("options", options.isEmpty ? nil : options)])
    }
    if activity == nil, items.isEmpty, stream == nil, options["session"] == nil, options["application"] == nil {
      throw Problem.usage(
        "nothing is handed in; name a FILE, or give --type, --text, --url or --payload, or a window with --session or --app"
      )
    }
    let isPlain = items.isEmpty && stream == nil && options.isEmpty && !invocation.has(.title)
    plain =
      isPlain
      ? try invocation[.type].map { type throws(Problem) in
        Plain(type: type, target: invocation[.target] ?? "", info: try PayloadArguments.info(invocation))
      } : nil
  }

  /// The options by name, as the bus takes them with data.
  var streamOptions: [String: String] {
    guard case .dictionary(let fields) = options else { return [:] }
    var texts: [String: String] = [:]
    for entry in fields.entries {
      if case .string(let text) = entry.value { texts[entry.key.string] = text.string }
    }
    return texts
  }

  // MARK: Options

  private static func options(_ invocation: Invocation, _ client: Client) async throws -> Value {
    var options = UserInfo()
    if invocation.has(.new) { options["disposition"] = "new" }
    if invocation.has(.existing) { options["disposition"] = "existing" }
    if invocation.has(.existingOnly) { options["disposition"] = "existingOnly" }
    if let text = invocation[.session] { options["session"] = .text(try await client.session(text).description) }
    if let text = invocation[.app] { options["application"] = .text(try await client.application(text)) }
    if let name = invocation[.configuration] { options["configuration"] = .text(name) }
    if let text = invocation[.from] { options["requestingSession"] = .text(try await client.session(text).description) }
    if invocation.has(.isPrivate) { options["private"] = true }
    if let token = invocation[.token] { options["token"] = .text(token) }
    if let deadline = invocation[.deadline].flatMap({ Double($0) }) { options["deadline"] = .double(deadline) }
    return .dictionary(options)
  }

  /// Refuses options without effect.
  private static func refuseIdleOptions(_ invocation: Invocation) throws(Problem) {
    if invocation.has(.payload) { return }
    let inputs = invocation.arguments.count { $0 == "-" }
    if inputs > 1 { throw .usage("- is given twice, but there is only one standard input") }
    if inputs == 0, invocation.has(.fileName) {
      throw .usage("--name is for standard input; give - for it, or leave --name out")
    }
    if inputs == 0, invocation.has(.contentType), !invocation.has(.text) {
      throw .usage("--content-type is for standard input and --text; a file has the type of its name")
    }
    if invocation.has(.copy), invocation.arguments.count == inputs {
      throw .usage("--copy is for files; name one, or leave --copy out")
    }
  }

  private static func read(_ path: String, adding options: Value, _ invocation: Invocation) throws(Problem) -> Value {
    let alone: [OptionEntry] = [.type, .target, .title, .info, .text, .url, .contentType, .fileName, .copy]
    if let other = alone.first(where: { invocation.has($0) }) {
      throw .usage("--\(other.name) does not go with --payload; write it into the payload")
    }
    if !invocation.arguments.isEmpty {
      throw .usage("a whole payload goes alone; leave the files out, or name them in it")
    }
    let bytes = try InputFile.read(path, limit: Limits.payload)
    let name = path == "-" ? "standard input" : path.printable
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .failed("\(name) is not UTF-8") }
    do throws(Fault) {
      var payload = try JSON.dictionary(Text(text))
      guard case .dictionary(let given) = options, !given.isEmpty else { return .dictionary(payload) }
      var merged = UserInfo()
      if case .dictionary(let own)? = payload["options"] { merged = own }
      for entry in given.entries { merged[entry.key] = entry.value }
      payload["options"] = .dictionary(merged)
      return .dictionary(payload)
    } catch {
      throw .failed("\(name): \(error)")
    }
  }

  // MARK: Contents

  private static func activity(_ invocation: Invocation) throws(Problem) -> Value? {
    let info = try info(invocation)
    guard let type = invocation[.type] else {
      let orphan = [OptionEntry.target, .title, .info].first { invocation.has($0) }
      if let orphan { throw .usage("--\(orphan.name) belongs to an activity; say its type with --type") }
      return nil
    }
    var fields = UserInfo()
    for (key, value) in info { fields[Text(key)] = .text(value) }
    return Printed.object([
      ("activityType", .text(type)), ("targetContentIdentifier", invocation[.target].map { .text($0) }),
      ("title", invocation[.title].map { .text($0) }), ("userInfo", info.isEmpty ? nil : .dictionary(fields)),
    ])
  }

  private static func info(_ invocation: Invocation) throws(Problem) -> [String: String] {
    var info: [String: String] = [:]
    for pair in invocation.all(.info) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = String(parts[0])
      if info[key] != nil { throw .usage("--info gives \"\(key.printable)\" twice; give it once") }
      info[key] = String(parts[1])
    }
    return info
  }

  /// An item from a file's path or from any URL, as file managers pass them.
  private static func item(file: String, copies: Bool) throws(Problem) -> Value {
    let file = NotUTF8.url(in: file) ?? file
    var bytes = Array(file.utf8)
    if let scheme = scheme(of: file) {
      guard scheme == "file" else { return try item(link: file) }
      guard let path = FileURL.path(of: Text(file)) else {
        throw .failed("\(file.printable) is not the URL of a local file")
      }
      bytes = path
    }
    let whole = try regularFile(bytes)
    let name = whole.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Printed.object([
      ("suggestedName", .text(name)),
      (
        "representations",
        [
          Printed.object([
            ("file", .string(FileURL.text(ofPath: whole))), ("openInPlace", copies ? nil : true),
            ("type", .text(types.type(ofFile: whole).spelling.string)),
          ])
        ]
      ),
    ])
  }

  /// The absolute path of a file, without links.
  private static func regularFile(_ bytes: [UInt8]) throws(Problem) -> [UInt8] {
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
    return UnsafeBufferPointer(start: real, count: strlen(real)).map { UInt8(bitPattern: $0) }
  }

  /// The type that a file has when it is handed in.
  static func type(ofFile path: String) throws(Problem) -> String {
    types.type(ofFile: try regularFile(Array(path.utf8))).spelling.string
  }

  private static func item(link: String) throws(Problem) -> Value {
    if !URLText.isValid(Text(link)) {
      throw .usage("\"\(link.printable)\" is not a URL such as https://example.org; --text takes any text")
    }
    let representations = Representation.link(to: Text(link)).map { representation in
      Printed.object([("text", .text(link)), ("type", .string(representation.type.spelling))])
    }
    return Printed.object([("representations", .array(representations))])
  }

  /// `https` of `https://example.org`.
  private static func scheme(of text: String) -> String? {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 1,
      bytes[colon...].starts(with: Array("://".utf8)),
      bytes[..<colon].allSatisfy({ isLetterOrDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") })
    else { return nil }
    return String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Standard input: all of it if it is short, otherwise its beginning.
  private struct Input {
    let type: String
    let name: String?
    let bytes: [UInt8]
    let isLong: Bool
  }

  private static let types = InstalledFileTypes(in: Directories.data())

  private static func input(_ invocation: Invocation) throws(Problem) -> Input {
    let name = invocation[.fileName]
    var bytes: [UInt8] = []
    while bytes.count <= inline, let chunk = try InputFile.chunk(of: STDIN_FILENO, "standard input") { bytes += chunk }
    let type =
      invocation[.contentType] ?? name.flatMap { types.type(ofName: $0)?.spelling.string }
      ?? FileTypes.type(ofBytes: bytes).spelling.string
    return Input(type: type, name: name, bytes: bytes, isLong: bytes.count > inline)
  }

  /// The content of long input is left out: routing does not depend on it.
  private static func item(input: Input) -> Value {
    let bytes = input.isLong ? [] : input.bytes
    let text = input.type.hasPrefix("text/") ? String(validating: bytes, as: UTF8.self) : nil
    return Printed.object([
      (
        "representations",
        [
          Printed.object([
            ("type", .text(input.type)), ("text", text.map { .text($0) }),
            ("data", text == nil ? .string(Base64.text(of: bytes)) : nil),
          ])
        ]
      ), ("suggestedName", input.name.map { .text($0) }),
    ])
  }
}

extension Value {
  var isEmpty: Bool { if case .dictionary(let fields) = self { fields.isEmpty } else { false } }

  func adding(_ key: String, _ value: Value) -> Value {
    guard case .dictionary(var fields) = self else { return self }
    fields[Text(key)] = value
    return .dictionary(fields)
  }
}
