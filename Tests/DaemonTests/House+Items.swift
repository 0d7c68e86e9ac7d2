import DBus
import DBusTestSupport
import Dispatch
import FoundationEssentials
import Glibc
import Testing

/// What a host got for one representation.
struct OpenedItem: Sendable {
  let data: OwnedFileDescriptor
  let size: Int64

  func text() async throws -> String { String(decoding: try await data.everything(), as: UTF8.self) }
}

extension OwnedFileDescriptor {
  /// Reads to the end, on a thread that may block.
  func everything() async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try self.withRawValue(Self.everything(in:)) }) }
    }
  }

  private static func everything(in file: Int32) throws -> [UInt8] {
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 20))
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Refused(number: errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Writes bytes, on a thread that may block, and closes the descriptor.
  func end(with bytes: [UInt8]) {
    DispatchQueue.global().async {
      self.withRawValue { number in
        var rest = bytes[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
          if count < 0, errno == EINTR { continue }
          if count <= 0 { break }
          rest = rest.dropFirst(count)
        }
      }
      self.close()
    }
  }

  /// Whether nobody has the other end of the pipe any more, so that a write fails.
  var hasNoReader: Bool {
    withRawValue { number in
      var one = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
      return poll(&one, 1, 0) == 1 && one.revents & Int16(POLLERR) != 0
    }
  }

  /// Opens a file.
  static func file(_ path: String, _ flags: Int32 = O_RDONLY) throws -> OwnedFileDescriptor {
    let number = open(path, flags | O_CLOEXEC, 0o600)
    if number < 0 { throw Refused(number: errno) }
    return OwnedFileDescriptor(owning: number)
  }

  /// A pipe that contains these bytes.
  static func pipe(of bytes: [UInt8]) throws -> OwnedFileDescriptor {
    let (readEnd, writeEnd) = try pipe()
    writeEnd.end(with: bytes)
    return readEnd
  }

  /// A file without a name that takes no room on the disk.
  static func sparse(of size: Int) throws -> OwnedFileDescriptor {
    var template = Array("/tmp/sparse-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    if number < 0 { throw Refused(number: errno) }
    unlink(template)
    let file = OwnedFileDescriptor(owning: number)
    if ftruncate(number, size) < 0 { throw Refused(number: errno) }
    return file
  }

  struct Refused: Error { let number: Int32 }
}

extension House {
  /// Cats that also take pictures and texts.
  static let pictures = Manifests.application(
    "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main"),
    more: #" "CFBundleDocumentTypes": [{"LSItemContentTypes": ["public.data", "public.url"]}],"#)

  /// The files of the spool, with paths relative to it.
  var spooled: [String] {
    get throws {
      let spool = "\(state)/spool"
      if !FileManager.default.fileExists(atPath: spool) { return [] }
      while true {
        do {
          return try FileManager.default.subpathsOfDirectory(atPath: spool).sorted()
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
          // The service removed a delivery while its directory was read.
        }
      }
    }
  }

  /// The baggage store frees on a thread of its own, and may remove a directory while this looks through it.
  func spoolIsEmptied(but names: [String] = []) async throws {
    try await eventually("an empty spool") { (try? spooled) == names }
  }

  /// Writes a file into the house, and returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    let path = "\(home)/files/\(name)"
    try write(text, to: path)
    return path
  }

  /// Gives the house the desktop's types of files by name.
  func knowFileTypes() throws {
    try write(
      "50:image/png:*.png\n50:text/plain:*.txt\n50:image/webp:*.webp\n",
      to: "\(environment["XDG_DATA_DIRS"] ?? "")/mime/globs2")
  }

  /// Runs `body` with the service, whose contents survive its end, an application that takes data, and its host.
  nonisolated(nonsending) func carrying<Result>(
    _ body: nonisolated(nonsending) (HostPlayer) async throws -> Result
  ) async throws -> Result {
    try write(Self.pictures, to: "\(applications)/org.example.Cats.json")
    return try await serving("--durability", "normal") { _ in try await hosting { try await body($0) } }
  }

  /// Runs `body` with a source.
  nonisolated(nonsending) func sourcing<Result>(
    _ body: nonisolated(nonsending) (SourcePlayer) async throws -> Result
  ) async throws -> Result {
    let source = try await SourcePlayer(in: self)
    return try await source.connection.whileOpen { try await body(source) }
  }

  /// The service, as a program calls it over a connection.
  func service(_ connection: Connection) throws -> RemoteObject {
    try object(Self.root, Self.interchange, over: connection)
  }

  /// One of its objects. A program that says nothing else calls over the watcher's connection.
  func object(_ path: String, _ interface: String, over connection: Connection? = nil) throws -> RemoteObject {
    (connection ?? watcher).object(Self.name, at: try ObjectPath(path), try InterfaceName(interface))
  }

  nonisolated(nonsending) func beginDrag(
    _ items: [[String: Variant]], _ options: [String: Variant] = [:], over connection: Connection
  ) async throws -> (drag: String, ticket: String) {
    let (drag, ticket) = try await service(connection).call(
      "BeginDragItems", items, options, timeout: usualLimit, returning: ObjectPath.self, String.self)
    return (drag.rawValue, ticket)
  }

  nonisolated(nonsending) func deliver(
    _ items: [[String: Variant]], _ options: [String: Variant] = [:], over connection: Connection
  ) async throws -> Landing {
    Landing(
      try await service(connection).call(
        "DeliverItems", items, options, timeout: usualLimit, returning: ObjectPath.self, String.self, String.self))
  }
}

extension HostPlayer {
  nonisolated(nonsending) func open(
    _ delivery: String, _ item: UInt32 = 0, _ type: String = ""
  ) async throws -> OpenedItem {
    let (data, size) = try await house.service(connection).call(
      "OpenItem", delivery, item, type, returning: OwnedFileDescriptor.self, Int64.self)
    return OpenedItem(data: data, size: size)
  }

  nonisolated(nonsending) func text(
    _ delivery: String, _ item: UInt32 = 0, _ type: String = ""
  ) async throws -> String { try await open(delivery, item, type).text() }

  func release(_ delivery: String) async throws {
    try await house.service(connection).call("ReleaseDelivery", delivery)
  }
}

/// Items as dictionaries.
enum Things {
  static func item(_ representations: [String: Variant]..., name: String = "") -> [String: Variant] {
    var item: [String: Variant] = ["representations": representations.variant]
    if !name.isEmpty { item["suggestedName"] = name.variant }
    return item
  }

  static func representation(_ type: String, _ key: String, _ value: Variant) -> [String: Variant] {
    ["type": type.variant, key: value]
  }

  static func text(_ text: String, _ type: String = "text/plain") -> [String: Variant] {
    representation(type, "text", text.variant)
  }

  static func descriptor(_ descriptor: OwnedFileDescriptor, _ type: String = "image/png") -> [String: Variant] {
    representation(type, "fd", descriptor.variant)
  }

  static func promise(_ type: String = "image/png", size: Int64? = nil) -> [String: Variant] {
    var promise = representation(type, "provider", SourcePlayer.path.variant)
    promise["size"] = size.map { Variant($0) }
    return promise
  }
}

/// A source that a test plays: it sends promises, notes its calls, and answers as the test tells it to.
final class SourcePlayer: Sendable {
  enum Manner: Sendable {
    /// Returns a descriptor and its size; -1 for an unknown size.
    case hands(@Sendable () throws -> OwnedFileDescriptor, size: Int64)
    case refuses(ErrorReply)
    case waits
  }

  static let path: ObjectPath = "/org/example/things"

  private struct State {
    var asked: [String] = []
    var manners: [Manner] = []
    var waiting: [Reply<OwnedFileDescriptor, Int64>] = []
  }

  let connection: Connection
  private let house: House
  private let state = Lock(State())

  init(in house: House) async throws {
    // Nobody may read any more what it hands out.
    signal(SIGPIPE, SIG_IGN)
    self.house = house
    connection = try await house.bus.connect()
    connection.export(interface, at: Self.path)
  }

  func leave() async { await connection.close() }

  /// The answers to the next openings. After them the source returns a pipe with a text, of unknown size.
  func next(_ manners: Manner...) { state.withLock { $0.manners += manners } }

  /// The calls to the source, as `Load 0 image/png`.
  var asked: [String] { state.withLock { $0.asked } }

  func isAsked(_ question: String, _ count: Int = 1) async throws {
    try await eventually("the source to be asked: \(question)") { self.asked.count { $0 == question } >= count }
  }

  /// Answers the waiting openings.
  func goOn(_ text: String) throws {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for reply in waiting { reply.send(try .pipe(of: Array(text.utf8)), Int64(text.utf8.count)) }
  }

  func deliver(
    _ items: [String: Variant]..., options: [String: Variant] = [:]
  ) async throws -> Landing { try await house.deliver(items, options, over: connection) }

  private var interface: Interface {
    var interface = Interface("org.stagedoor.ItemProvider1")
    interface.method("Load", in: "item", "type", out: "data", "size") {
      [weak self] (reply: Reply<OwnedFileDescriptor, Int64>, item: UInt32, type: String) in
      self?.load(item, type, reply)
    }
    interface.method("CancelLoad", in: "item", "type") {
      [weak self] (reply: Reply<>, item: UInt32, type: String) in
      self?.note("CancelLoad \(item) \(type)")
      reply.send()
    }
    interface.method("Release") { [weak self] (reply: Reply<>) in
      self?.note("Release")
      reply.send()
    }
    return interface
  }

  private func note(_ question: String) { state.withLock { $0.asked.append(question) } }

  private func load(_ item: UInt32, _ type: String, _ reply: Reply<OwnedFileDescriptor, Int64>) {
    let manner: Manner? = state.withLock { state in
      state.asked.append("Load \(item) \(type)")
      if state.manners.isEmpty { return nil }
      let manner = state.manners.removeFirst()
      if case .waits = manner { state.waiting.append(reply) }
      return manner
    }
    do {
      switch manner {
      case nil: reply.send(try .pipe(of: Array("promised \(item) \(type)".utf8)), -1)
      case .hands(let descriptor, let size): reply.send(try descriptor(), size)
      case .refuses(let error): reply.fail(error)
      case .waits: break
      }
    } catch {
      reply.fail(error)
    }
  }
}

/// Runs `body` in a house with a service that carries contents, and its host.
nonisolated(nonsending) func withHost<Result>(
  _ kind: PrivateBus.Kind = .daemon, limits: [String: Int] = [:], durability: String = "normal",
  _ body: nonisolated(nonsending) (House, HostPlayer, RunningCommand) async throws -> Result
) async throws -> Result {
  try await withDaemon(kind, limits: limits, installing: House.pictures, with: "--durability", durability) {
    house, daemon in try await house.hosting { host in try await body(house, host, daemon) }
  }
}

extension Trait where Self == InHouse {
  /// A service that carries contents, and its host.
  static func host(limits: [String: Int] = [:], durability: String = "normal") -> Self {
    InHouse { test in
      try await withHost(limits: limits, durability: durability) { house, host, daemon in
        try await InHouse.$house.withValue(house) {
          try await InHouse.$daemon.withValue(daemon) { try await Hosts.$host.withValue(host) { try await test() } }
        }
      }
    }
  }

  static var host: Self { host() }
}

private enum Hosts {
  @TaskLocal static var host: HostPlayer?
}

/// The host of the test that runs.
var host: HostPlayer {
  guard let host = Hosts.host else { preconditionFailure("the test has no trait of a host") }
  return host
}
