import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import StagedoorKit
import Testing

extension House {
  /// Runs `body` with a client of its own.
  nonisolated(nonsending) func withClient<Result>(
    _ body: nonisolated(nonsending) (Stagedoor) async throws -> Result
  ) async throws -> Result {
    try await body(Stagedoor(on: try await bus.connect()))
  }
}

/// A service that keeps nothing, and a client that has declared an application to it.
nonisolated(nonsending) func withClient<Result>(
  _ manifest: String = Manifests.cats, _ kind: PrivateBus.Kind = .daemon,
  _ body: nonisolated(nonsending) (House, Stagedoor) async throws -> Result
) async throws -> Result {
  try await withService(kind) { house in
    try await house.withClient { stagedoor in
      try await stagedoor.register(manifest: manifest)
      return try await body(house, stagedoor)
    }
  }
}

extension Stagedoor {
  /// Opens an item. While a registered application has no host, anyone may act as its host.
  func opened(
    _ delivery: DeliveryIdentifier, _ item: UInt32 = 0, _ type: String
  ) async throws -> (data: OwnedFileDescriptor, size: Int64) {
    try await connection.call(
      to: House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "OpenItem",
      delivery.description, item, type, returning: OwnedFileDescriptor.self, Int64.self)
  }

  /// Releases the contents of a delivery that has no host.
  func release(_ delivery: DeliveryIdentifier) async throws {
    try await connection.call(
      to: House.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "ReleaseDelivery",
      delivery.description)
  }
}

extension OwnedFileDescriptor {
  /// The bytes of a memory file.
  var text: String {
    withRawValue { number in
      var buffer = [UInt8](repeating: 0, count: 1 << 10)
      return String(decoding: buffer[..<max(0, pread(number, &buffer, buffer.count, 0))], as: UTF8.self)
    }
  }
}

/// The code of the error that a call must throw.
nonisolated(nonsending) func code(
  _ body: nonisolated(nonsending) () async throws -> Void
) async -> StagedoorError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? StagedoorError)?.code
  }
}

/// The error with which a call must be answered.
nonisolated(nonsending) func refusal(_ body: nonisolated(nonsending) () async throws -> Void) async -> ErrorReply? {
  do { try await body() } catch CallError.replied(let reply) { return reply } catch {}
  return nil
}

extension DeliveryOptions {
  /// Longer than any machine is slow: at its deadline a delivery would change.
  static var lasting: DeliveryOptions { DeliveryOptions().with(\.deadline, .seconds(3600)) }

  /// The call returns when the application has the delivery.
  static var handled: DeliveryOptions { DeliveryOptions().with(\.wait, .handled).with(\.deadline, usualLimit) }

  /// The same, with another value of one option.
  func with<Value>(_ option: WritableKeyPath<DeliveryOptions, Value>, _ value: Value) -> DeliveryOptions {
    var options = self
    options[keyPath: option] = value
    return options
  }
}

/// The refusal of a delegate.
struct NoSuchCat: Error {}

func cat(_ name: String) -> UserActivity { UserActivity("viewCat", targetContentIdentifier: name) }

/// A value of each kind that a `userInfo` may hold.
let valuesOfEachKind: [String: UserInfoValue] = [
  "text": "Tom \u{e9} e\u{301} \u{0} \"", "number": 9_007_199_254_740_993, "half": 0.5, "whole": .double(1),
  "true": true, "none": .null, "list": [1, "two", [3.5]], "data": .data(Data([0, 255])),
  "date": .date(Date(timeIntervalSince1970: 1_777_777_777.123456)), "id": .uuid(UUID()),
  "url": .url(URL(string: "https://example.org/a%20b#c")!), "set": .set([1, 2, "three"]),
  "inner": ["$date": "no date", "$literal": ["$x": 1]],
]

extension DragItem {
  init(text: String) {
    var provider = ItemProvider()
    provider.registerText(text)
    self.init(itemProvider: provider)
  }

  /// An item whose data is made when somebody asks for it.
  init(promising type: String, _ load: @escaping ItemProvider.DataLoader) {
    var provider = ItemProvider()
    provider.registerDataRepresentation(as: type, load: load)
    self.init(itemProvider: provider)
  }
}
