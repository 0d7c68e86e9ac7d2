// The echo service on the Swift binding, through the full method table: what a program with a plain method writes.
//
//     echo-swift BUS-NAME        prints "ready" when the name is ours

import DBus
import Glibc

guard CommandLine.arguments.count == 2 else {
  fputs("usage: echo-swift BUS-NAME\n", stderr)
  exit(64)
}

var echo = Interface("org.stagedoor.Echo")
echo.method("Echo", in: "text", out: "text") { (text: String) in text }

let connection = try await Connection.session()
connection.export(echo, at: "/org/stagedoor/Echo")
guard try await connection.requestName(BusName(CommandLine.arguments[1]), .doNotQueue) == .owned else {
  fputs("echo-swift: \(CommandLine.arguments[1]) belongs to another\n", stderr)
  exit(1)
}
print("ready")
fflush(nil)
await connection.closed()
