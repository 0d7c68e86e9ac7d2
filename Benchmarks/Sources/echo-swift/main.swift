// The echo service on the Swift binding, through the full method table, as in a program with a simple method.
//
//     echo-swift BUS-NAME        prints "ready" when it owns the name

import DBus
import Glibc

// Swift 6 forbids access to Glibc's `stderr`, which is a variable of C.
func fail(_ status: Int32, _ why: String) -> Never {
  _ = "\(why)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(status)
}

guard CommandLine.arguments.count == 2 else { fail(64, "usage: echo-swift BUS-NAME") }
let name = try BusName(CommandLine.arguments[1])

var echo = Interface("org.stagedoor.Echo")
echo.method("Echo", in: "text", out: "text") { (text: String) in text }

let connection = try await Connection.session()
connection.export(echo, at: "/org/stagedoor/Echo")
guard try await connection.requestName(name, .doNotQueue) == .owned else {
  fail(1, "echo-swift: \(name) belongs to another")
}
print("ready")
fflush(nil)
await connection.closed()
