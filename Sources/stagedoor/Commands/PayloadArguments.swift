import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

/// The arguments of `drop` and `explain`, as a payload.
struct PayloadArguments: Sendable {
  /// The document of --payload.
  private let whole: Value?
  private let activity: Value?
  private(set) var items: [HandedItem] = []
  private var options: Value
  /// The beginning of standard input, if the rest is still to be read.
  private(set) var streamed: [UInt8]?
  /// Whether `drop` would hand in standard input as a file.
  private(set) var isLongText = false
  /// Whether the answer waits until the application has the delivery.
  let waits: Bool
  /// The sender's name for the delivery: a second call with the same token is not carried out again.
  let token: String?

  /// Up to this size input goes into the document, because the bus carries it faster than a descriptor.
  private static let inline = 32 << 10

  /// - Parameter isHandedIn: whether it is handed in, and not only explained: then long input is streamed, and the desktop's token is added.
  init(_ invocation: Invocation, _ names: some Names, isHandedIn: Bool) async throws {
    try PayloadArguments.refuseIdleOptions(invocation)
    var options = try await PayloadArguments.options(invocation, names)
    if isHandedIn, let token = DesktopToken.current { options = options.adding("activationToken", .text(token)) }
    self.options = options
    if let payload = invocation[.payload] {
      activity = nil
      var document = try PayloadArguments.read(payload, adding: options, invocation)
      let merged = document["options"]
      token = merged?["token"]?.string
      // The service answers at once, and the command waits for the delivery in the answer.
      waits = (invocation[.wait] ?? (isHandedIn ? merged?["wait"]?.string : nil)) == "handled"
      if isHandedIn, let merged, merged["wait"] != nil {
        document = document.adding("options", merged.adding("wait", "routed"))
      }
      whole = document
      return
    }
    whole = nil
    (token, waits) = (invocation[.token], invocation[.wait] == "handled")
    let activity = try PayloadArguments.activity(invocation)
    self.activity = activity
    for file in invocation.arguments {
      if file == "-" {
        try readInput(invocation, isHandedIn: isHandedIn)
      } else {
        items.append(try HandedItem(file: file, isCopy: invocation.has(.copy)))
      }
    }
    for text in invocation.all(.text) {
      if text.isEmpty { throw Problem.usage("--text is empty; give it some text") }
      let type = invocation[.contentType] ?? "text/plain"
      items.append(HandedItem(type, .texts([(type, text)])))
    }
    for url in invocation.all(.url) { items.append(try HandedItem(link: url)) }
    if streamed != nil, items.count > 1 {
      throw Problem.usage("streamed standard input cannot be combined with other items; hand them in separately")
    }
    if activity == nil, items.isEmpty, options["session"] == nil, options["application"] == nil {
      throw Problem.usage(
        "nothing is handed in; name a FILE, or give --type, --text, --url or --payload, or a window with --session or --app"
      )
    }
    if !items.isEmpty { items[0].activity = activity }
    // Rules look at texts, and read relative paths in them as the person does.
    if invocation.has(.text) || invocation.arguments.contains("-") {
      var info = activity == nil ? try PayloadArguments.info(invocation) : UserInfo()
      if info["dir"] == nil || invocation[.directory] != nil {
        info["dir"] = .text(try PayloadArguments.directory(invocation))
      }
      self.options = self.options.adding("info", .dictionary(info))
    }
  }

  /// The absolute path of the directory to which relative paths in a text refer.
  private static func directory(_ invocation: Invocation) throws(Problem) -> String {
    let given = invocation[.directory] ?? "."
    guard let real = LinkTarget.last(of: Array(given.utf8)) else {
      throw .failed("\(given.printable): \(InputFile.reason)")
    }
    var status = stat()
    guard stat(given, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .failed("\(given.printable) is no directory")
    }
    guard let path = String(validating: real, as: UTF8.self) else { throw .failed("\(given.printable) is not UTF-8") }
    return path
  }

  var document: Value {
    if let whole { return whole }
    let options = options.isEmpty ? nil : options
    return items.isEmpty
      ? Printed.object([("activity", activity), ("options", options)])
      : Printed.object([("items", .array(items.map(\.json))), ("options", options)])
  }

  /// An activity with a type, a key and texts only. The method `Drop` takes these, and costs less than `Deliver`.
  private var plain: (type: String, target: String, info: [String: String])? {
    guard whole == nil, items.isEmpty, options.isEmpty, let activity, activity["title"] == nil,
      let type = activity["activityType"]?.string
    else { return nil }
    var info: [String: String] = [:]
    if case .dictionary(let fields)? = activity["userInfo"] {
      for entry in fields.entries { info[entry.key.string] = entry.value.string }
    }
    return (type, activity["targetContentIdentifier"]?.string ?? "", info)
  }

  var activityType: String? { activity?["activityType"]?.string }

  /// The type of the activity if there is also data, by which the service may route instead.
  var typeBesideData: String? { items.isEmpty ? nil : activity?["activityType"]?.string }

  var namesFiles: Bool { items.contains { if case .file = $0.content { true } else { false } } }

  /// The same payload with the reading end of a pipe in the place of standard input.
  func reading(_ pipe: OwnedFileDescriptor) -> PayloadArguments {
    var same = self
    same.items[0].content = .descriptor(pipe)
    return same
  }

  /// The same payload for `explain` from a sandbox, which may not name files.
  var withoutFiles: Value {
    var same = self
    for place in same.items.indices {
      if case .file = same.items[place].content { same.items[place].content = .data([]) }
    }
    return same.document
  }

  func deliver(to stagedoor: Stagedoor) async throws -> Delivery {
    if let plain { return try await stagedoor.drop(plain.type, plain.target, userInfo: plain.info) }
    if streamed != nil { return try await deliverDictionaries(to: stagedoor) }
    do {
      return try await stagedoor.deliver(document: Printed.json(document))
    } catch  where error.code == .accessDenied && namesFiles {
      return try await deliverDictionaries(to: stagedoor)
    } catch {
      throw error
    }
  }

  private func deliverDictionaries(to stagedoor: Stagedoor) async throws -> Delivery {
    try await stagedoor.deliver(
      dictionaries: try items.map { item throws(Problem) in try item.dictionary() }, options: options)
  }

  // MARK: Options

  private static func options(_ invocation: Invocation, _ names: some Names) async throws -> Value {
    var options = UserInfo()
    let dispositions: [(Option, Value)] = [(.new, "new"), (.existing, "existing"), (.existingOnly, "existingOnly")]
    options["disposition"] = dispositions.first { invocation.has($0.0) }?.1
    if let text = invocation[.session] { options["session"] = .text(try await names.session(text).description) }
    if let text = invocation[.app] { options["application"] = .text(try await names.application(text)) }
    if let name = invocation[.configuration] { options["configuration"] = .text(name) }
    if let text = invocation[.from] { options["requestingSession"] = .text(try await names.session(text).description) }
    if invocation.has(.isPrivate) { options["private"] = true }
    if let token = invocation[.token] { options["token"] = .text(token) }
    if let deadline = invocation[.deadline].flatMap({ Double($0) }) { options["deadline"] = .double(deadline) }
    return .dictionary(options)
  }

  private static func refuseIdleOptions(_ invocation: Invocation) throws(Problem) {
    if invocation.has(.payload) { return }
    let inputs = invocation.arguments.count { $0 == "-" }
    if inputs > 1 { throw .usage("- is given twice, but there is only one standard input") }
    if inputs == 0, let idle = [Option.fileName, .stream].first(where: { invocation.has($0) }) {
      throw .usage("--\(idle.name) is for standard input; give - for it, or leave --\(idle.name) out")
    }
    if inputs == 0, invocation.has(.contentType), !invocation.has(.text) {
      throw .usage("--content-type is for standard input and --text; a file has the type of its name")
    }
    if inputs == 0, invocation.has(.directory), !invocation.has(.text) {
      throw .usage("--dir is for --text and standard input; leave --dir out")
    }
    if invocation.has(.copy), invocation.arguments.count == inputs {
      throw .usage("--copy is for files; name one, or leave --copy out")
    }
  }

  private static func read(_ path: String, adding options: Value, _ invocation: Invocation) throws(Problem) -> Value {
    let alone: [Option] = [
      .type, .target, .title, .info, .text, .url, .contentType, .fileName, .copy, .stream, .directory,
    ]
    if let other = alone.first(where: { invocation.has($0) }) {
      throw .usage("--\(other.name) cannot be combined with --payload; write it into the payload")
    }
    if !invocation.arguments.isEmpty {
      throw .usage("--payload cannot be combined with files; name them in the payload")
    }
    let text = try InputFile.text(path, limit: Limits.payload)
    do throws(Fault) {
      let payload = Value.dictionary(try JSON.dictionary(Text(text)))
      guard case .dictionary(let given) = options, !given.isEmpty else { return payload }
      var merged = payload["options"] ?? .dictionary(UserInfo())
      for entry in given.entries { merged = merged.adding(entry.key.string, entry.value) }
      return payload.adding("options", merged)
    } catch {
      throw .failed("\(InputFile.name(path)): \(error)")
    }
  }

  // MARK: Contents

  private static func activity(_ invocation: Invocation) throws(Problem) -> Value? {
    guard let type = invocation[.type] else {
      // Rules look at the info of a text.
      let isText = invocation.has(.text) || invocation.arguments.contains("-")
      let orphan = (isText ? [Option.target, .title] : [.target, .title, .info]).first { invocation.has($0) }
      if let orphan { throw .usage("--\(orphan.name) belongs to an activity; say its type with --type") }
      return nil
    }
    let info = try info(invocation)
    return Printed.object([
      ("activityType", .text(type)), ("targetContentIdentifier", invocation[.target].map { .text($0) }),
      ("title", invocation[.title].map { .text($0) }), ("userInfo", info.isEmpty ? nil : .dictionary(info)),
    ])
  }

  private static func info(_ invocation: Invocation) throws(Problem) -> UserInfo {
    var info = UserInfo()
    for pair in invocation.all(.info) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = Text(String(parts[0]))
      if info[key] != nil { throw .usage("--info gives \"\(key.string.printable)\" twice; give it once") }
      info[key] = .text(String(parts[1]))
    }
    return info
  }

  /// Reads standard input: all of it if it is short, and otherwise its beginning.
  private mutating func readInput(_ invocation: Invocation, isHandedIn: Bool) throws(Problem) {
    let name = invocation[.fileName]
    let stated = invocation[.contentType] ?? name.flatMap { LocalFile.types.type(ofName: $0)?.spelling.string }
    var bytes: [UInt8] = []
    var isLong = invocation.has(.stream)
    // The first bytes may be needed to see the type.
    while !isLong || bytes.isEmpty && stated == nil {
      guard let chunk = try InputFile.chunk(of: STDIN_FILENO, "standard input") else { break }
      bytes += chunk
      isLong = isLong || bytes.count > PayloadArguments.inline
    }
    let type = stated ?? FileTypes.type(ofBytes: bytes).spelling.string
    if isLong, isHandedIn { streamed = bytes }
    isLongText = isLong && !isHandedIn
    // Routing does not depend on the content of long input.
    let content = isLong ? [] : bytes
    let text = type.hasPrefix("text/") ? String(validating: content, as: UTF8.self) : nil
    items.append(HandedItem(type, text.map { .texts([(type, $0)]) } ?? .data(content), name: name))
  }
}

/// Resolves shortened identifiers.
protocol Names: Sendable {
  func session(_ text: String) async throws -> SessionIdentifier
  func application(_ text: String) async throws -> String
}

extension Value {
  var isEmpty: Bool { if case .dictionary(let fields) = self { fields.isEmpty } else { false } }

  func adding(_ key: String, _ value: Value) -> Value {
    guard case .dictionary(var fields) = self else { return self }
    fields[Text(key)] = value
    return .dictionary(fields)
  }
}
