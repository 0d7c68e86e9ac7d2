import DBusTestSupport
import Testing

/// What users see when they look around on the bus.
@Suite struct IntrospectionToolTests {
  @Test func `busctl tree shows every object, and nothing else`() async throws {
    try await withService { house in
      func tree() async throws -> Set<String> {
        let result = try await house.command("busctl", "--user", "tree", "--list", "\(House.name)").run()
        #expect(result.status.isSuccess && result.standardError.isEmpty, "\(result)")
        return Set(result.standardOutput.split(separator: "\n").map(String.init))
      }
      let folders: Set = ["/", "/org", "/org/stagedoor", House.root]
      let all = folders.union(["application", "drag", "session"].map { "\(House.root)/\($0)" })
      // Where there is nothing yet, nothing is wrong either.
      #expect(try await tree() == all)
      try await house.register(Manifests.cats)
      let sessions = [try await house.drop("viewCat", "cat1").session, try await house.drop("viewCat", "cat2").session]
      #expect(try await tree() == all.union([House.cats] + sessions))
      try await house.destroy(sessions[1])
      #expect(try await tree() == all.union([House.cats, sessions[0]]))
    }
  }
}
