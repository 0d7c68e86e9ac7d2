import DBus
import DBusTestSupport
import Glibc
import Testing

/// A library that replaces functions of the C library in the service, built from a file in `Preloads`, and the numbers that control it.
struct Preload {
  private let library: String
  private let path: String
  private let numbers: OwnedFileDescriptor

  /// Builds the library into the house, with the compiler that comes with Swift.
  init(_ name: String, in house: House) async throws {
    let home = house.home
    library = "\(home)/\(name).so"
    path = "\(home)/\(name).numbers"
    let source = "\(Repository.path)/Tests/DaemonTests/Preloads/\(name).c"
    _ = try await Command("clang", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source).output()
    try house.write(String(repeating: "\0", count: 64), to: path)
    numbers = try .file(path, O_RDWR)
  }

  /// The number at a place.
  subscript(_ place: Int) -> Int64 {
    var value: Int64 = 0
    let count = numbers.withRawValue { pread($0, &value, 8, off_t(8 * place)) }
    #expect(count == 8)
    return value
  }

  func put(_ value: Int64, at place: Int) {
    var value = value
    let count = numbers.withRawValue { pwrite($0, &value, 8, off_t(8 * place)) }
    #expect(count == 8)
  }

  var environment: [String: String] { ["LD_PRELOAD": library, "PRELOAD_NUMBERS": path] }
}

extension House {
  /// Runs `body` while the service runs with such a library, as soon as the service has its name. The service keeps nothing on the disk unless a test
  /// asks for more.
  nonisolated(nonsending) func serving(
    behind preload: Preload, durability: String = "memory", _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    var daemon = daemon("--durability", durability)
    daemon.environment.merge(preload.environment) { $1 }
    try await serving(daemon) { running in
      try await body()
      #expect(running.status == nil, "\(running.standardError)")
    }
  }
}
