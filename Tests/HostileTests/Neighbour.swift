import DBus
import DBusTestSupport
import DaemonTestSupport
import Testing

/// A client that uses the service as everyone does, and notices how long each call takes.
///
/// It runs on the thread of its connection, so the test may wait for a thread of the pool, but the answer does not.
struct Neighbour: Sendable {
  let connection: Connection
  var service = House.name

  struct Noticed: Sendable {
    var gets: [Duration] = []
    var drops: [Duration] = []
    /// How many events happened between one answer and the next, if the call came right after the first: what others did before the call had
    /// its turn. Other work on the machine makes the neighbour wait longer, but does not add events.
    var overtakings: [Int] = []
    /// The errors that the neighbour got, in words.
    var refusals: [String] = []

    var get: Duration { gets.median }
    var drop: Duration { drops.median }
    var overtaking: Int { overtakings.isEmpty ? 0 : overtakings.sorted()[overtakings.count / 2] }
  }

  /// Asks and drops, at most a hundred times a second, until `time` has passed, and five times at least.
  func use(for time: Duration) async -> Noticed {
    let (connection, name, clock) = (connection, service, ContinuousClock())
    return await connection.loop.run { _ in
      var noticed = Noticed()
      func take(_ place: WritableKeyPath<Noticed, [Duration]>, _ call: () async throws(CallError) -> Void) async {
        let begin = clock.now
        do throws(CallError) { try await call() } catch { noticed.refusals.append("\(error)") }
        noticed[keyPath: place].append(clock.now - begin)
      }
      let end = clock.now + time
      let service = connection.object(name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1")
      let properties = connection.object(name, at: "/org/stagedoor/Interchange1", "org.freedesktop.DBus.Properties")
      func eventSequence() async throws(CallError) -> UInt64 {
        let value = try await properties.call(
          "Get", "org.stagedoor.Interchange1", "EventSequence", timeout: usualLimit, returning: Variant.self)
        do { return try UInt64(value) } catch { throw .unexpectedReply(error) }
      }
      // A busy machine has time for two rounds, which are no median.
      var rounds = 0
      while clock.now < end || rounds < 5 {
        rounds += 1
        var sequence: UInt64 = 0
        await take(\.gets) { () async throws(CallError) in sequence = try await eventSequence() }
        await take(\.gets) { () async throws(CallError) in
          noticed.overtakings.append(Int(try await eventSequence() - sequence))
        }
        await take(\.drops) { () async throws(CallError) in
          _ = try await service.call(
            "Drop", "viewCat", "cat1", [String: String](), timeout: usualLimit, returning: ObjectPath.self, String.self,
            String.self)
        }
        await connection.loop.sleep(for: .milliseconds(10))
      }
      return noticed
    }
  }
}

/// A service that answers the neighbour, and does nothing. Under the same attack, it shows how long the bus itself lets the neighbour wait.
enum Idler {
  static let name: BusName = "org.example.Idler"

  /// Returns the connection on which it serves.
  static func serve(on connection: Connection) async throws -> Connection {
    var interface = Interface("org.stagedoor.Interchange1")
    interface.property("EventSequence") { () -> UInt64 in 0 }
    interface.method(
      "Drop", in: "activity_type", "target_content_identifier", "options", out: "session", "outcome", "delivery"
    ) {
      (_: String, _: String, _: [String: String]) -> (ObjectPath, String, String) in ("/", "", "")
    }
    connection.export(interface, at: "/org/stagedoor/Interchange1")
    try #require(try await connection.requestName(name) == .owned)
    return connection
  }
}

/// Several rounds of the same: on a bus that swings between milliseconds and half a second, one round says little.
extension [Neighbour.Noticed] {
  var get: Duration { map(\.get).median }
  var drop: Duration { map(\.drop).median }
}

extension [Duration] {
  fileprivate var median: Duration { isEmpty ? .zero : sorted()[count / 2] }
}

extension Duration {
  /// In milliseconds, with two digits after the point.
  var shown: String {
    let hundredths = (self / .milliseconds(1) * 100).rounded()
    return "\(hundredths / 100) ms"
  }
}
