import DBus
import DBusTestSupport
import Testing

/// A host that passes deliveries on and tells their end later, on the bus.
@Suite struct ForwardingTests {
  private static let manifest = Manifests.application(
    "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Device"),
    more: #" "StagedoorForwards": true,"#)

  @Test func `a deferred delivery is forwarded, and ends as its host says`() async throws {
    try await withService(registering: Self.manifest) { house in
      try await house.hosting { host in
        let device = try await host.adopt("", title: "laptop")
        try await house.watched { watch in
          for error in ["", "org.example.Away"] {
            host.next(
              "ContinueScene",
              .after { host, call in
                let delivery = try #require(try call.options["delivery"]?.text)
                try await host.deferDelivery(delivery, seconds: 60)
              })
            let landing = try await house.deliver(
              #"{"activity": {"activityType": "viewCat"}, "options": {"session": "\#(device)"}}"#)
            try await house.waitUntil(landing.delivery, is: "forwarded")
            try await expectError("org.freedesktop.DBus.Error.InvalidArgs") {
              try await host.finishDelivery(landing.delivery, error: "org.stagedoor.Error.HostRefused", message: "")
            }
            try await host.finishDelivery(landing.delivery, error: error, message: error.isEmpty ? "" : "it is away")
            try await house.waitUntil(landing.delivery, is: error.isEmpty ? "handled" : "failed")
            // A host's own error is no refusal of the service.
            let command = house.command(Command.built("stagedoor").program, arguments: ["wait", landing.delivery])
            #expect(try await command.run().status == .exited(error.isEmpty ? 0 : 6))
          }
          let names = try await watch.happenings().map(\.name).filter { $0 != "SessionStateChanged" }
          #expect(names == ["Routed", "Forwarded", "Handled", "Routed", "Forwarded", "DeliveryFailed"])
        }
        #expect(try await house.property("Title", of: device) == "laptop")
      }
    }
  }

  @Test func `the command lists and cancels a forwarded delivery`() async throws {
    try await withService(registering: Self.manifest) { house in
      try await house.hosting { host in
        let device = try await host.adopt("", title: "laptop")
        host.next(
          "ContinueScene",
          .after { host, call in
            try await host.deferDelivery(try #require(try call.options["delivery"]?.text), seconds: 60)
          })
        let landing = try await house.deliver(
          #"{"activity": {"activityType": "viewCat"}, "options": {"session": "\#(device)"}}"#)
        try await house.waitUntil(landing.delivery, is: "forwarded")
        for (words, output) in [
          (["deliveries", "--print", "delivery", "--state", "forwarded"], landing.delivery),
          (["deliveries", "--print", "delivery", "--state", "held"], ""),
          (["__complete", "fish", "cancel", ""], "\(landing.delivery)\tforwarded org.example.Cats"),
          (["cancel", landing.delivery], "cancelled\t\(landing.delivery)\torg.example.Cats"),
        ] {
          let command = house.command(Command.built("stagedoor").program, arguments: words)
          #expect(try await command.output() == output)
        }
        try await house.waitUntil(landing.delivery, is: "cancelled")
      }
    }
  }
}
