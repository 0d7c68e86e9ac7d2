public import DBus

/// Runs `body` with two connected peers on one loop, and then closes both connections and the loop.
///
/// ```swift
/// import DBus
///
/// let greeting = try await withPeers { server, client in
///   var greeter = Interface("org.example.Greeter")
///   greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
///   server.export(greeter, at: "/org/example/Greeter")
///   return try await client.call(
///     to: nil, at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann", returning: String.self)
/// }
/// print(greeting)
/// ```
public nonisolated(nonsending) func withPeers<Result>(
  _ body: nonisolated(nonsending) (_ server: Connection, _ client: Connection) async throws -> Result
) async throws -> Result {
  let loop = try EventLoop()
  let (server, client) = try await Connection.pair(on: loop)
  func close() async {
    await client.close()
    await server.close()
    await loop.stop()
  }
  return try await ending(with: close) { try await body(server, client) }
}

/// Runs `body`, and then `end`, whether `body` has returned or thrown.
package nonisolated(nonsending) func ending<Result>(
  with end: nonisolated(nonsending) () async -> Void, _ body: nonisolated(nonsending) () async throws -> Result
) async throws -> Result {
  do {
    let result = try await body()
    await end()
    return result
  } catch {
    await end()
    throw error
  }
}
