// The Swift client, with the same arguments and the same output as `load echo … one` in C.
//
//     client-swift BUS-NAME one COUNT WARM-UP TEXT        prints microseconds per call

import DBus
import Glibc

// Swift 6 forbids access to Glibc's `stderr`, which is a variable of C.
func fail(_ status: Int32, _ why: String) -> Never {
  _ = "\(why)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(status)
}

let arguments = CommandLine.arguments
guard arguments.count == 6, arguments[2] == "one", let count = Int(arguments[3]), let warmUp = Int(arguments[4]) else {
  fail(64, "usage: client-swift BUS-NAME one COUNT WARM-UP TEXT")
}
let service = try BusName(arguments[1])
let text = arguments[5]

@Sendable nonisolated(nonsending) func call(
  _ service: BusName, _ text: String, over connection: Connection, times: Int
) async throws {
  for _ in 0..<times {
    let echo: String = try await connection.call(
      to: service, at: "/org/stagedoor/Echo", "org.stagedoor.Echo", "Echo", text)
    guard echo == text else { fail(1, "client-swift: the reply holds another string") }
  }
}

let loop = try EventLoop()
let connection = try await Connection.session(on: loop)
// Runs on the loop's thread, like an actor that lives there: a call and its reply never change threads.
let time = try await loop.run { [service, text, count, warmUp] _ in
  try await call(service, text, over: connection, times: warmUp)
  let start = ContinuousClock.now
  try await call(service, text, over: connection, times: count)
  return ContinuousClock.now - start
}
print(time / .microseconds(1) / Double(count))
await connection.close()
await loop.stop()
