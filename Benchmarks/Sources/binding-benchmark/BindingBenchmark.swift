// The echo service and its client on the binding, with the arguments and the output of those in C. `Benchmarks/run` builds and runs it.
//
//     binding-benchmark echo BUS-NAME                            prints "ready" when it owns the name
//     binding-benchmark client BUS-NAME one COUNT WARM-UP TEXT   prints microseconds per call

import DBus
import Glibc

@main
enum BindingBenchmark {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    let rest = Array(words.dropFirst())
    switch (words.first, rest.count) {
    case ("echo", 1): try await serve(try BusName(rest[0]))
    case ("client", 5):
      guard rest[1] == "one", let count = Int(rest[2]), let warmUp = Int(rest[3]) else { fallthrough }
      try await measure(try BusName(rest[0]), count, warmUp: warmUp, rest[4])
    default: preconditionFailure("usage: see the first lines of this file")
    }
  }

  /// Through the full method table, as in a program with a simple method.
  private static func serve(_ name: BusName) async throws {
    var echo = Interface("org.stagedoor.Echo")
    echo.method("Echo", in: "text", out: "text") { (text: String) in text }
    let connection = try await Connection.session()
    connection.export(echo, at: "/org/stagedoor/Echo")
    guard try await connection.requestName(name, .doNotQueue) == .owned else {
      preconditionFailure("\(name) belongs to another")
    }
    print("ready")
    fflush(nil)
    await connection.closed()
  }

  private static func measure(_ service: BusName, _ count: Int, warmUp: Int, _ text: String) async throws {
    let loop = try EventLoop()
    let connection = try await Connection.session(on: loop)
    // Runs on the loop's thread, like an actor that lives there: a call and its reply never change threads.
    let time = try await loop.run { _ in
      try await call(service, text, over: connection, times: warmUp)
      let start = ContinuousClock.now
      try await call(service, text, over: connection, times: count)
      return ContinuousClock.now - start
    }
    print(time / .microseconds(1) / Double(count))
    await connection.close()
    await loop.stop()
  }

  private nonisolated(nonsending) static func call(
    _ service: BusName, _ text: String, over connection: Connection, times: Int
  ) async throws {
    for _ in 0..<times {
      let echo: String = try await connection.call(
        to: service, at: "/org/stagedoor/Echo", "org.stagedoor.Echo", "Echo", text)
      precondition(echo == text, "the reply holds another string")
    }
  }
}
