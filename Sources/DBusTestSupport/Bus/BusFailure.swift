/// A failure of a private bus, with the output of the bus.
///
/// ```swift
/// do {
///   let bus = try await PrivateBus.start(.broker)
///   await bus.stop()
/// } catch let error as BusFailure {
///   print(error.reason, error.log)
/// }
/// ```
public struct BusFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong.
  public let reason: String
  /// The output of the bus.
  public let log: String

  init(_ reason: String, log: String = "") {
    self.reason = reason
    self.log = log
  }

  /// Both.
  public var description: String { log.isEmpty ? reason : "\(reason); it said:\n\(log)" }
}
