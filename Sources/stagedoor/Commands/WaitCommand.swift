import DBus
import SceneModel
import ServiceSupport
import StagedoorKit

enum WaitCommand {
  typealias Row = (delivery: DeliveryIdentifier, state: StagedoorKit.DeliveryState)

  private static let fields: [Field<Row>] = [
    Field("delivery", value: { .text($0.delivery.description) }),
    Field("state", .init(title: "STATE") { Style(of: $0) }) { .text($0.state.word) },
  ]

  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let delivery = try await client.delivery(invocation.arguments[0])
    let limit = invocation[.waitDeadline].flatMap { Double($0) }
    let state = try await finished(delivery, client, within: limit, on: invocation.loop)
    if state == .routed { throw Problem.nobodyTook(delivery) }
    try Listing(invocation, fields).answer((delivery, state))
  }

  static func finished(
    _ delivery: DeliveryIdentifier, _ client: Client, within limit: Double?, on loop: EventLoop?
  ) async throws -> StagedoorKit.DeliveryState {
    let stagedoor = client.stagedoor
    guard let limit, let loop else { return try await stagedoor.finished(delivery) }
    let waiting = loop.task { @Sendable () async throws -> StagedoorKit.DeliveryState in
      try await stagedoor.finished(delivery)
    }
    let timer = loop.task { @Sendable () async -> Bool in
      await loop.sleep(for: .seconds(limit))
      waiting.cancel()
      return !Task.isCancelled
    }
    let result = await waiting.result
    timer.cancel()
    guard await timer.value else { return try result.get() }
    // The delivery may have ended in the moment in which the time was over.
    if try await client.hasEnded(delivery) { return try await stagedoor.finished(delivery) }
    throw Problem(.notInTime, "the delivery \(delivery) is still under way after \(limit) s")
  }
}
