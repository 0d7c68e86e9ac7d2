import DBus

let connection = try await Connection.session()
_ = try await connection.owners(of: "org.example.Greeter").first { owner in owner != nil }

let greeter = connection.object("org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter")
let greetings = try await greeter.signals("Greeted")
let answer: String = try await greeter.call("Greet", "Ann")
print(answer)

for await greeting in greetings {
  print("everyone hears of \(try greeting.values(as: String.self))")
  break
}
await connection.close()
