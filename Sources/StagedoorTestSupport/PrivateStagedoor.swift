public import DBus
public import DBusTestSupport
internal import FoundationEssentials

/// A service on a bus of its own, with an unused home, as on a fresh desktop. Everything ends with this process.
///
/// ```swift
/// import StagedoorKit
/// import Testing
///
/// @Suite struct CatsTests {}
///
/// extension CatsTests {
///   @Test @MainActor func `a cat gets a window`() async throws {
///     try await withPrivateStagedoor { house in
///       try await house.install(
///         manifest: """
///           {
///             "CFBundleIdentifier": "org.example.Cats",
///             "NSUserActivityTypes": ["view"],
///             "UIApplicationSceneManifest": {
///               "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Cat"}]}
///             }
///           }
///           """,
///         of: "org.example.Cats")
///       let cats = Application("org.example.Cats")
///       try await cats.start(on: try await house.connect())
///       let delivery = try await cats.requestSceneSessionActivation(nil, userActivity: UserActivity("view"))
///       #expect(delivery.outcome == .created)
///       await cats.stop()
///     }
///   }
/// }
/// ```
///
/// A test's target depends on the products `StagedoorTestSupport` and `stagedoord` of this package: the second is the service itself.
public final class PrivateStagedoor: Sendable {
  /// The bus.
  public let bus: PrivateBus
  /// The environment for a program that a test starts: its session bus is ``bus``, and its home is the new one.
  public let environment: [String: String]

  private let watcher: Connection
  private let service = Lock<RunningCommand?>(nil)

  private init(_ bus: PrivateBus) async throws {
    self.bus = bus
    var environment = try bus.environmentWithFreshHome()
    environment["XDG_DATA_DIRS"] = "\(environment["HOME"] ?? "")/system"
    self.environment = environment
    watcher = try await bus.connect()
  }

  /// Starts a bus, and the service on it. Call ``stop()`` at the end, or use ``withPrivateStagedoor(_:_:)``, which stops both.
  public static func start(_ kind: PrivateBus.Kind = .daemon) async throws -> PrivateStagedoor {
    let bus = try await PrivateBus.start(kind)
    let house: PrivateStagedoor
    do { house = try await PrivateStagedoor(bus) } catch {
      await bus.stop()
      throw error
    }
    do { try await house.startService() } catch {
      await house.stop()
      throw error
    }
    return house
  }

  /// Opens a connection to the bus. ``stop()`` closes it, if nobody has done so by then.
  public func connect() async throws(ConnectionError) -> Connection { try await bus.connect() }

  /// Ends the service and the bus, and removes the home. A second call does nothing.
  public func stop() async {
    await service.withLock { $0 }?.stop()
    await bus.stop()
  }

  // MARK: The service

  /// Starts the service again after ``killService()``, with its stored data. When this returns, the service answers.
  public func startService() async throws {
    // With this durability, stored data survives the end of the process, and nothing waits for a disk.
    let command = Command.built("stagedoord", "--durability", "normal", environment: environment)
    let running: RunningCommand
    do { running = try await command.start() } catch is ProgramNotFound { throw ServiceNotBuilt(path: command.program) }
    service.withLock { $0 = running }
    let watcher = watcher
    try await withLimit(usualLimit, "the service") {
      _ = try await watcher.owners(of: Self.name).first { $0 != nil }
    }
  }

  /// Kills the service, as a crash would. When this returns, the bus has noticed.
  public func killService() async throws {
    await service.withLock { $0 }?.stop()
    let watcher = watcher
    try await withLimit(usualLimit, "the end of the service") {
      _ = try await watcher.owners(of: Self.name).first { $0 == nil }
    }
  }

  private static let name: BusName = "org.stagedoor.Interchange1"

  // MARK: Applications

  /// Installs the manifest of an application for the user of this home: an `Info.plist`, or the same as JSON. When this returns, the service
  /// has read it.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// try await withPrivateStagedoor { house in
  ///   let manifest = try String(contentsOf: URL(filePath: "Info.plist"), encoding: .utf8)
  ///   try await house.install(manifest: manifest, of: "org.example.Cats")
  /// }
  /// ```
  public func install(manifest: String, of application: String) async throws {
    let isReplaced = try await lists(application)
    try write(manifest, of: application)
    if !isReplaced {
      return try await eventually("the manifest of \(application)") { try await self.lists(application) }
    }
    // The list does not show what a manifest says. The service reads all new manifests together, so it has read this one when it lists one that was
    // written later.
    let later = "org.stagedoor.TestSupport.Later"
    let file = try write(Self.manifest(of: later), of: later)
    try await eventually("a later manifest") { try await self.lists(later) }
    try FileManager.default.removeItem(at: file)
    try await eventually("the end of the later manifest") { try await !self.lists(later) }
  }

  /// Puts the manifest in the place of an earlier one, in either format.
  @discardableResult
  private func write(_ manifest: String, of application: String) throws -> URL {
    let folder = URL(filePath: "\(environment["XDG_DATA_HOME"] ?? "")/stagedoor/applications")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let isJSON = manifest.drop(while: \.isWhitespace).hasPrefix("{")
    let file = folder.appending(path: "\(application).\(isJSON ? "json" : "plist")")
    try Data(manifest.utf8).write(to: file, options: .atomic)
    // Of both, the service would read the JSON.
    if !isJSON { try? FileManager.default.removeItem(at: folder.appending(path: "\(application).json")) }
    return file
  }

  private static func manifest(of application: String) -> String {
    """
    {
      "CFBundleIdentifier": "\(application)",
      "UIApplicationSceneManifest": {
        "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Main"}]}
      }
    }
    """
  }

  private func lists(_ application: String) async throws -> Bool {
    let applications: [Structure<String, ObjectPath, String, Bool>] = try await watcher.call(
      to: Self.name, at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1", "ListApplications")
    return applications.contains { $0.members.0 == application }
  }
}

/// Runs `body` with a service on a bus of its own. Both have ended when this returns or throws.
///
/// ```swift
/// import DBus
/// import StagedoorKit
///
/// try await withPrivateStagedoor { house in
///   let connection = try await house.connect()
///   print(try await Stagedoor(on: connection).sessions().count)  // 0
///   try await house.killService()
///   try await house.startService()
/// }
/// ```
public nonisolated(nonsending) func withPrivateStagedoor<Result>(
  _ kind: PrivateBus.Kind = .daemon, _ body: nonisolated(nonsending) (PrivateStagedoor) async throws -> Result
) async throws -> Result {
  let house = try await PrivateStagedoor.start(kind)
  return try await ending(with: { await house.stop() }) { try await body(house) }
}

/// The service was not built together with the test.
///
/// ```swift
/// do {
///   try await withPrivateStagedoor { _ in }
/// } catch let error as ServiceNotBuilt {
///   print(error)
/// }
/// ```
public struct ServiceNotBuilt: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path where the service should be.
  public let path: String

  /// A sentence that says how to repair this.
  public var description: String {
    """
    there is no \(path): let the test's target depend on .product(name: "stagedoord", package: "stagedoor") as well
    """
  }
}
