public import DBus
internal import InterchangeWire

/// The client of the service, for programs that hand things in.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let delivery = try await stagedoor.drop("org.example.Gallery.openDetail", "photo-7", userInfo: ["photoID": "7"])
/// print(delivery.outcome, delivery.session)
/// ```
///
/// A connection that ``connect()`` opened is closed by ``close()``, or when nothing uses it any more: no copy of the client, no sequence, no drag, no
/// promise.
///
/// The service need not run: the bus starts it. A call throws if it gets no answer within ``timeout``, or if its task is cancelled.
public struct Stagedoor: Sendable {
  /// The connection to the bus.
  public let connection: Connection

  /// The longest time that a call may take; `nil` for no limit but the life of the connection. A delivery that waits for its application takes as long
  /// as the service lets it wait: to its deadline, or until the application has finished what it passes on.
  public var timeout: Duration? = .seconds(25)

  /// The service, by its name or by the name of one owner.
  var service = InterchangeNames.bus

  /// The longest time for which the source of a promise may be silent.
  static let silence = Duration.seconds(60)

  /// Closes a connection that was opened for this client.
  private var lease: Lease?

  private final class Lease: Sendable {
    let connection: Connection
    init(_ connection: Connection) { self.connection = connection }

    deinit {
      let connection = connection
      connection.loop.task { await connection.close() }
    }
  }

  /// Uses an existing connection, which its owner closes.
  public init(on connection: Connection) { self.connection = connection }

  /// Connects to the session bus. An application uses ``Application/stagedoor`` instead.
  public static func connect() async throws(StagedoorError) -> Stagedoor {
    do throws(ConnectionError) {
      var stagedoor = Stagedoor(on: try await Connection.session())
      stagedoor.lease = Lease(stagedoor.connection)
      return stagedoor
    } catch {
      throw StagedoorError(error)
    }
  }

  /// Closes the connection now.
  public func close() async { await connection.close() }
}

// MARK: - Calls

extension Stagedoor {
  /// Calls the root object, or another one. The call may take ``timeout`` and `slack`; with `nil` it has no limit.
  func call<each Argument: BusValue, each Value: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument, at path: ObjectPath = InterchangeNames.root,
    in interface: InterfaceName = InterchangeNames.interchange, upTo slack: Duration? = .zero,
    returning types: repeat (each Value).Type
  ) async throws(StagedoorError) -> (repeat each Value) {
    try await answered(
      member, repeat each arguments, at: path, in: interface, upTo: slack, returning: repeat each types
    ).answer
  }

  /// The same, with the name of who has answered.
  func answered<each Argument: BusValue, each Value: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument, at path: ObjectPath = InterchangeNames.root,
    in interface: InterfaceName = InterchangeNames.interchange, upTo slack: Duration? = .zero,
    returning types: repeat (each Value).Type
  ) async throws(StagedoorError) -> (service: BusName?, answer: (repeat each Value)) {
    let call: Message
    do throws(CodingError) {
      call = try Message.methodCall(to: service, at: path, interface, member, repeat each arguments)
    } catch {
      throw StagedoorError(CallError.invalidArguments(error))
    }
    do throws(CallError) {
      let limit = timeout.flatMap { timeout in slack.map { timeout + $0 } }
      let reply =
        call.carriesDescriptors
        ? try await connection.reply(
          to: call, inTurnAt: service, timeout: limit, isAnsweredSoon: slack == .zero
        ).get()
        : try await connection.reply(to: call, timeout: limit)
      do throws(CodingError) { return (reply.sender, try reply.values(as: repeat each types)) } catch {
        throw .unexpectedReply(error)
      }
    } catch {
      throw StagedoorError(error)
    }
  }

  func property<Value: BusValue>(
    _ name: MemberName, at path: ObjectPath = InterchangeNames.root,
    in interface: InterfaceName = InterchangeNames.interchange
  ) async throws(StagedoorError) -> Value {
    try await call(
      "Get", interface.rawValue, name.rawValue, at: path, in: Self.properties, returning: Variant.self
    ).read()
  }

  static var properties: InterfaceName { "org.freedesktop.DBus.Properties" }
}

extension Variant {
  func read<Value: BusValue>() throws(StagedoorError) -> Value {
    do throws(CodingError) { return try Value(self) } catch { throw .unexpectedReply("\(error)") }
  }
}
