import SceneModel
import StagedoorKit

enum RegisterCommands {
  static func register(_ invocation: Invocation) async throws -> Status {
    let bytes = try InputFile.read(invocation.arguments[0], limit: Limits.manifest)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Problem.failed("\(invocation.arguments[0].printable) is binary; `plutil` or `plistutil` makes XML of it")
    }
    try await Client(invocation).stagedoor.register(manifest: text)
    return .done
  }

  static func unregister(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    try await client.stagedoor.unregister(try await client.application(invocation.arguments[0]))
    return .done
  }
}
