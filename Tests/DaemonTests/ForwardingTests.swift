import DBus
import DBusTestSupport
import Testing

/// A host that passes deliveries on and tells their end later, on the bus.
@Suite struct ForwardingTests {
  @Test func `a deferred delivery is forwarded, and ends as its host or the command says`() async throws {
    // Paths spell each of these letters in another way.
    let name = "org.example.my-photo_album"
    let manifest = Manifests.application(
      name, types: "viewCat", configurations: Manifests.configuration("Device"), more: #" "StagedoorForwards": true,"#)
    try await withService(registering: manifest) { house in
      try await house.hosting(name) { host in
        let service = try house.service(host.connection)
        let application = try house.object(House.path(of: name), House.application, over: host.connection)
        let device = try await application.call("AdoptSession", "", "", "laptop", returning: ObjectPath.self).rawValue
        func forwarded() async throws -> String {
          host.next(
            "ContinueScene",
            .after { _, call in
              try await service.call("DeferDelivery", try #require(try call.options["delivery"]?.string), UInt32(60))
            })
          let document = #"{"activity": {"activityType": "viewCat"}, "options": {"session": "\#(device)"}}"#
          let delivery = try await house.deliver(document).delivery
          try await house.waitUntil(delivery, is: "forwarded")
          return delivery
        }
        try await house.watched { watch in
          for error in ["", "org.example.Away"] {
            let delivery = try await forwarded()
            try await expectError("org.freedesktop.DBus.Error.InvalidArgs") {
              try await service.call("FinishDelivery", delivery, "org.stagedoor.Error.HostRefused", "")
            }
            try await service.call("FinishDelivery", delivery, error, error.isEmpty ? "" : "it is away")
            try await house.waitUntil(delivery, is: error.isEmpty ? "handled" : "failed")
            // A host's own error is no refusal of the service.
            let command = house.command(Command.built("stagedoor").program, arguments: ["wait", delivery])
            #expect(try await command.run().status == .exited(error.isEmpty ? 0 : 6))
          }
          let names = try await watch.happenings().map(\.name).filter { $0 != "SessionStateChanged" }
          #expect(names == ["Routed", "Forwarded", "Handled", "Routed", "Forwarded", "DeliveryFailed"])
        }
        #expect(try await house.property("Title", of: device) == "laptop")
        let delivery = try await forwarded()
        for (words, output) in [
          (["deliveries", "--print", "delivery", "--state", "forwarded"], delivery),
          (["deliveries", "--print", "delivery", "--state", "held"], ""),
          (["__complete", "fish", "cancel", ""], "\(delivery)\tforwarded \(name)"),
          (["cancel", delivery], "cancelled\t\(delivery)\t\(name)"),
        ] {
          let command = house.command(Command.built("stagedoor").program, arguments: words)
          #expect(try await command.output() == output)
        }
        try await house.waitUntil(delivery, is: "cancelled")
      }
    }
  }
}
