import DBus
import DBusTestSupport
import Glibc
import Testing
import dbus_showcase

/// What the showcase does besides echoing, seen by a client in Swift.
@Suite struct ShowcaseTests {
  @Test func `a method may have no arguments and no result, or several results`() async throws {
    try await withStage { stage in
      try await stage.object.call("DoNothing")
      let (quotient, remainder) = try await stage.object.call(
        "Divide", Int32(-17), Int32(5), returning: Int32.self, Int32.self)
      #expect(quotient == -3)
      #expect(remainder == -2)
      await #expect(throws: CallError.replied(ErrorReply(.invalidArgs, "the quotient does not fit into 32 bits"))) {
        try await stage.object.call("Divide", Int32.min, Int32(-1), returning: Int32.self, Int32.self)
      }
    }
  }

  @Test func `an asynchronous method keeps nobody else waiting`() async throws {
    try await withStage { stage in
      let object = stage.object
      let long: Task<String, any Error> = Task { try await object.call("Rest", UInt32(60_000), timeout: nil) }
      let short: String = try await object.call("Rest", UInt32(1))
      #expect(short == "that was good")
      long.cancel()
      await #expect(throws: CallError.cancelled) { try await long.value }
    }
  }

  @Test func `a deferred reply is given by another call`() async throws {
    try await withStage { stage in
      let object = stage.object
      let waiting: Task<String, any Error> = Task { try await object.call("WaitForAnnouncement") }
      // Each of the two calls may be sent before the other, so this repeats the announcement until somebody hears it.
      try await eventually("somebody waited") { try await object.call("Announce", "curtain up") as UInt32 == 1 }
      #expect(try await waiting.value == "curtain up")
    }
  }

  @Test func `no more callers wait than there may`() async throws {
    try await withStage { stage in
      for _ in 0..<64 {
        let call = try Message.methodCall(
          to: Showcase.busName, at: Showcase.path, "org.stagedoor.Showcase1", "WaitForAnnouncement")
        stage.client.send(call)
      }
      let refusal = CallError.replied(ErrorReply(.limitsExceeded, "64 callers wait already"))
      await #expect(throws: refusal) { try await stage.object.call("WaitForAnnouncement") as String }
      #expect(try await stage.object.call("Announce", "at last") == UInt32(64))
    }
  }

  @Test func `items come and go under their object manager`() async throws {
    try await withStage { stage in
      let manager = stage.client.object(Showcase.busName, at: Showcase.itemsPath, "org.freedesktop.DBus.ObjectManager")
      func labels() async throws -> [String] {
        let objects: [ObjectPath: [String: [String: Variant]]] = try await manager.call("GetManagedObjects")
        return try objects.values.compactMap { try $0["org.stagedoor.Showcase1.Item"]?["Label"].map(String.init) }
          .sorted()
      }
      #expect(try await labels() == ["a lamp", "a mask", "a rope"])
      let path: ObjectPath = try await stage.object.call("CreateItem", "a fan")
      let item = stage.client.object(Showcase.busName, at: path, "org.stagedoor.Showcase1.Item")
      try await item.set("Label", to: "a sword")
      #expect(try await labels() == ["a lamp", "a mask", "a rope", "a sword"])
      try await item.call("Remove")
      #expect(try await labels() == ["a lamp", "a mask", "a rope"])
      await #expect(throws: CallError.replied(ErrorReply(.unknownObject, "there is no object at \(path)"))) {
        try await item.call("Remove")
      }
    }
  }

  @Test func `a number is made up when somebody asks for it`() async throws {
    try await withStage { stage in
      let number = stage.client.object(
        Showcase.busName, at: try Number.path.appending("28"), "org.stagedoor.Showcase1.Number")
      #expect(try await number.call("Factors") == [UInt32(2), 2, 7])
      #expect(try await number.get("Value") == UInt32(28))
      let notANumber = stage.client.object(
        Showcase.busName, at: try Number.path.appending("028"), "org.stagedoor.Showcase1.Number")
      await #expect(throws: CallError.replied(ErrorReply(.unknownObject, "there is no object at \(notANumber.path)"))) {
        try await notANumber.call("Factors") as [UInt32]
      }
    }
  }

  @Test func `a caller is told who it is`() async throws {
    try await withStage { stage in
      let (name, user) = try await stage.object.call("WhoAmI", returning: String.self, UInt32.self)
      #expect(name == (await stage.client.uniqueName)?.rawValue)
      #expect(user == getuid())
    }
  }
}
