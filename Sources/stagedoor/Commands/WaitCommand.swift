import DBus
import StagedoorKit

enum WaitCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let delivery = try await client.delivery(invocation.arguments[0])
    let stagedoor = client.stagedoor
    guard let limit = invocation[.waitDeadline].flatMap({ Double($0) }), let loop = invocation.loop else {
      return try say(try await stagedoor.finished(delivery), delivery, invocation)
    }
    let waiting = loop.task { @Sendable () async throws -> StagedoorKit.DeliveryState in
      try await stagedoor.finished(delivery)
    }
    let timer = loop.task { @Sendable () async -> Void in
      await loop.sleep(for: .seconds(limit))
      waiting.cancel()
    }
    do {
      let state = try await waiting.value
      timer.cancel()
      return try say(state, delivery, invocation)
    } catch let error as StagedoorError where error.code == .taskCancelled {
      throw Problem(
        .notInTime, "the delivery \(delivery) is still under way after \(invocation[.waitDeadline] ?? "") s")
    }
  }

  private static func say(
    _ state: StagedoorKit.DeliveryState, _ delivery: DeliveryIdentifier, _ invocation: Invocation
  ) throws(Problem) -> Status {
    if state == .routed {
      throw Problem.nobodyTook(delivery)
    }
    if invocation.has(.json) {
      try Output.line(
        Printed.shown(Printed.object([("delivery", .text(delivery.description)), ("state", .text(state.word))])))
    } else if !invocation.has(.quiet) {
      try Output.line(invocation.screen.styled(state.word, Style(of: state.word)))
    }
    return .done
  }
}
