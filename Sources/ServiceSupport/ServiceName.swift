package import DBus

/// The bus name of a service. Its owner gets the calls, and other instances can only ask for the name: so the name determines which instance works.
package struct ServiceName: Sendable {
  package let name: BusName
  private let program: String
  private let connection: Connection

  package init(_ name: BusName, of program: String, on connection: Connection) {
    self.name = name
    self.program = program
    self.connection = connection
  }

  /// Takes the name if nobody has it. Another instance may ask for it later.
  package func take() async throws {
    guard try await connection.requestName(name, [.allowReplacement, .doNotQueue]) == .owned else {
      throw Failure("\(name) is taken: another \(program) runs on this bus, and --replace takes over from it")
    }
  }

  /// Takes the name, also from another instance that allows replacement, and returns when that instance has left the bus. By then the other instance
  /// has answered all its calls and released everything.
  ///
  /// Calls come to this instance as soon as it has the name, so the connection must hold them. The other instance may take as long as `limit`.
  package func takeOver(within limit: Duration) async throws {
    // The predecessor is the instance that the bus names before us, however many instances ask at the same time.
    var owners = try await connection.owners(of: name).makeAsyncIterator()
    let own = await connection.uniqueName
    guard try await connection.requestName(name, [.replaceExisting, .allowReplacement, .doNotQueue]) == .owned else {
      let owner = try await connection.owner(of: name)
      throw Failure("\(name) is taken by \(await description(of: owner)), which does not let itself be replaced")
    }
    var predecessor: BusName?
    while let owner = await owners.next(), owner != own { predecessor = owner }
    guard let predecessor else { return }
    if try await hasLeft(predecessor, within: limit) { return }
    throw Failure(
      "\(name) was taken over from \(await description(of: predecessor)), "
        + "which has not ended \(limit.components.seconds) seconds later: end it, and start \(program) again")
  }

  private func hasLeft(_ owner: BusName, within limit: Duration) async throws -> Bool {
    let owners = try await connection.owners(of: owner)
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        if await owners.first(where: { $0 == nil }) != nil { return true }
        throw Failure("the bus has gone")
      }
      group.addTask {
        await connection.loop.sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }

  private func description(of owner: BusName?) async -> String {
    guard let owner else { return "another program" }
    let process = try? await connection.credentials(of: owner).processID
    return process.map { "process \($0)" } ?? "another program"
  }
}
