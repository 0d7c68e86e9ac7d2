import Baggage
import DBus
import Glibc
import SceneModel
// Every test here has a directory.
@_exported import StoreTestSupport
import Testing

let delivery = UniqueIdentifier(high: 1, low: 1)
let other = UniqueIdentifier(high: 2, low: 2)
let place = "items[0].representations[1].file"
/// The silence that a test waits for: the usual one takes a minute.
let silence = getenv("STAGEDOOR_STRESS") == nil ? Duration.seconds(2) : BaggageLimits.silence

/// Stores with a directory of their own, which end with it.
final class BaggageStores: Sendable {
  let directory = TemporaryDirectory(in: "/tmp")
  let first: BaggageStore
  private let others = Lock<[BaggageStore]>([])

  init() { first = BaggageStore(directory: directory.path, isSynced: false) }

  deinit {
    let all = others.withLock(\.self) + [first]
    Task { for store in all { await store.close() } }
  }

  func store(isSynced: Bool = false, silence: Duration = BaggageLimits.silence) -> BaggageStore {
    ending(BaggageStore(directory: directory.path, isSynced: isSynced, silence: silence))
  }

  /// A store that keeps everything in memory.
  func inMemory() -> BaggageStore { ending(BaggageStore(directory: nil, isSynced: false)) }

  private func ending(_ store: BaggageStore) -> BaggageStore {
    others.withLock { $0.append(store) }
    return store
  }

  var spool: String { "\(directory.path)/spool" }

  /// The files of a delivery. A copy is there from its first byte on, under a temporary name.
  func spooled() -> [String] { TemporaryDirectory.names(in: "\(spool)/\(delivery)") }
}

extension BaggageStore {
  func keep(_ bytes: [UInt8], as number: Int = 0, of owner: UniqueIdentifier = delivery) async throws(InterchangeError)
  {
    try await keep(bytes, as: number, of: owner, at: place)
  }

  func copy(
    _ path: String, as number: Int = 0, of owner: UniqueIdentifier = delivery, atMost limit: Int64 = .max
  ) async throws(InterchangeError) -> Int64 {
    try await copy(fileAt: url(path), as: number, of: owner, atMost: limit, at: place)
  }

  func keep(
    _ descriptor: OwnedFileDescriptor, as number: Int = 0, of owner: UniqueIdentifier = delivery
  ) async throws(InterchangeError) -> Int64? {
    try await keep(descriptor, as: number, of: owner, at: place)
  }

  func copy(
    _ descriptor: OwnedFileDescriptor, as number: Int = 0, of owner: UniqueIdentifier = delivery,
    atMost limit: Int64 = .max
  ) async throws(InterchangeError) -> Int64 {
    try await copy(descriptor, as: number, of: owner, atMost: limit, at: place)
  }

  func open(
    _ number: Int = 0, of owner: UniqueIdentifier = delivery, for sandbox: Text? = nil
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    try await open(number, of: owner, for: sandbox, at: place)
  }

  func open(
    _ path: String, for sandbox: Text? = nil
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, size: Int64?) {
    try await open(fileAt: url(path), of: delivery, for: sandbox, at: place)
  }
}

func url(_ path: String) -> Text { Text("file://\(path)") }

/// The error of a call that must fail.
func refusal<Result>(
  of body: @autoclosure () async throws(InterchangeError) -> Result, _ place: SourceLocation = #_sourceLocation
) async -> InterchangeError? {
  let error = await failure(of: try await body())
  if error == nil { Issue.record("nothing was refused", sourceLocation: place) }
  return error
}

func failure<Result>(of body: @autoclosure () async throws(InterchangeError) -> Result) async -> InterchangeError? {
  do throws(InterchangeError) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}

/// A pipe that contains these bytes.
func pipe(_ bytes: String = "", isEnded: Bool = true) throws -> (
  readEnd: OwnedFileDescriptor, writeEnd: OwnedFileDescriptor
) {
  let ends = try OwnedFileDescriptor.pipe()
  #expect(ends.writeEnd.withRawValue { write($0, bytes, bytes.utf8.count) } == bytes.utf8.count)
  if isEnded { ends.writeEnd.close() }
  return ends
}

/// Two ends of a socket.
func socketPair(_ type: __socket_type = SOCK_STREAM) throws -> (OwnedFileDescriptor, OwnedFileDescriptor) {
  var ends: [Int32] = [-1, -1]
  try #require(socketpair(AF_UNIX, Int32(type.rawValue), 0, &ends) == 0)
  return (OwnedFileDescriptor(owning: ends[0]), OwnedFileDescriptor(owning: ends[1]))
}

func opened(_ path: String, _ flags: Int32 = O_RDONLY) throws -> OwnedFileDescriptor {
  let number = open(path, flags | O_CLOEXEC, 0o600)
  try #require(number >= 0, "\(path): \(String(cString: strerror(errno)))")
  return OwnedFileDescriptor(owning: number)
}

extension OwnedFileDescriptor {
  /// Reads to the end. It may wait for a writer.
  func bytes() -> [UInt8] {
    withRawValue { number in
      var (bytes, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
      while case let count = Glibc.read(number, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
      return bytes
    }
  }

  var text: String { String(decoding: bytes(), as: UTF8.self) }
  var accessMode: Int32 { withRawValue { fcntl($0, F_GETFL) & O_ACCMODE } }
  var isOpen: Bool { withRawValue { fcntl($0, F_GETFD) >= 0 } }
}

/// Bytes that repeat, with a period that is not the length of a page.
func pattern(_ count: Int) -> [UInt8] {
  var bytes = [UInt8](0..<251)
  while bytes.count < count { bytes += bytes }
  return Array(bytes.prefix(count))
}
