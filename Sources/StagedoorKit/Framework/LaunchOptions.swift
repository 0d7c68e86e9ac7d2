/// Why an application was started. See ``Application/didFinishLaunching(with:)``.
///
/// ```swift
/// final class Notes: Application {
///   override func didFinishLaunching(with options: LaunchOptions) {
///     for delivery in options.deliveries { print("\(delivery.identifier) is about to open a window") }
///   }
/// }
/// ```
public struct LaunchOptions: Sendable, Hashable {
  /// The deliveries that wait for the application, the oldest first. If there are none, the program was started by somebody else than the service,
  /// usually its user.
  public let deliveries: [DeliveryRecord]
}
