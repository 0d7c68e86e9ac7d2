import DBus

var greeter = Interface("org.example.Greeter")
let greeted = greeter.signal("Greeted", "name", of: String.self)
greeter.method("Greet", in: "name", out: "greeting") { (call: Call, name: String) in
  try call.connection.emit(greeted, from: call.path, name)
  return "Hello, \(name)!"
}

let connection = try await Connection.session()
connection.export(greeter, at: "/org/example/Greeter")
if try await connection.requestName("org.example.Greeter", .doNotQueue) == .owned {
  print("ready to greet")
  await connection.closed()
} else {
  print("another greeter is at work on this bus")
}
