import SceneModel
import StagedoorKit

enum PreferCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    if invocation.has(.none), invocation.arguments.count != 1 {
      throw Problem.usage("--none goes with a TYPE and no APP: \(invocation.command.synopsis)")
    }
    let client = try await Client(invocation)
    guard let type = invocation.argument(0) else {
      return try list(try await client.stagedoor.preferredApplications(), invocation)
    }
    if invocation.has(.none) {
      try await client.stagedoor.setPreferredApplication(nil, for: type)
      return .done
    }
    guard let application = invocation.argument(1) else {
      let chosen = try await client.stagedoor.preferredApplication(for: type)
      return try list(chosen.map { [(type, $0)] } ?? [], invocation)
    }
    try await client.stagedoor.setPreferredApplication(try await client.application(application), for: type)
    return .done
  }

  private static func list(
    _ choices: [(type: String, application: String)], _ invocation: Invocation
  ) throws(Problem) -> Status {
    if invocation.has(.json) {
      var list = Printed.List()
      for (type, application) in choices {
        try list.add(Printed.object([("type", .text(type)), ("application", .text(application))]))
      }
      try list.end()
      return .done
    }
    var table = Table(
      invocation.screen,
      [
        Table.Column(title: "TYPE", minimum: 12),
        Table.Column(title: "APPLICATION", minimum: 12) { _ in .identifier },
      ])
    try table.print(choices.map { [$0.type, $0.application] })
    return .done
  }
}
