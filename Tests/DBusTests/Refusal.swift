import DBus
import Testing

/// The error with which a call was answered; `nil` if it succeeded.
func refusal(_ body: () async throws -> Void) async -> ErrorReply? {
  do {
    try await body()
    return nil
  } catch let CallError.replied(error) {
    return error
  } catch {
    Issue.record("not an error reply: \(error)")
    return nil
  }
}
