import SceneModel
import ServiceSupport
import StagedoorKit

enum RegisterCommands {
  static func register(_ invocation: Invocation) async throws -> Status {
    let path = invocation.arguments[0]
    let file = try ManifestFile(path, defining: invocation.all(.define))
    guard let text = String(validating: file.bytes, as: UTF8.self) else {
      throw Problem.failed("\(path.printable) is binary; `plutil` or `plistutil` makes XML of it")
    }
    let client = try await Client(invocation)
    // The service has the last word. But only here one can define a variable, so the fault is looked for here too.
    if case .failure(let faults) = file.parsed, case let sentences = file.sentences(faults),
      sentences != faults.all.map({ "\($0)" })
    {
      throw Problem(.refused, sentences.joined(separator: "\n"))
    }
    try await client.stagedoor.register(manifest: text)
    if case .success(let manifest) = file.parsed {
      try Change.say("registered", manifest.identifier.string, manifest.name.string, invocation)
    }
    return .done
  }

  static func unregister(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let application = try await client.application(invocation.arguments[0])
    try await client.stagedoor.unregister(application)
    try Change.say("unregistered", application, "", invocation)
    return .done
  }
}
