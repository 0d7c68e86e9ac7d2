import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import StagedoorKit
import Testing

/// Deliveries: their results and errors.
@Suite struct DeliveringTests {
  private static let pictures = Manifests.application(
    "org.example.Pictures", types: "show", configurations: Manifests.configuration("Main"),
    more: #""CFBundleDocumentTypes": [{"LSItemContentTypes": ["public.image"]}],"#)

  @Test(arguments: PrivateBus.Kind.available)
  func `a drop makes a window, and the same again finds it`(kind: PrivateBus.Kind) async throws {
    try await withClient(Manifests.cats, kind) { _, stagedoor in
      let first = try await stagedoor.drop("viewCat", "cat1", userInfo: ["name": "Tom"])
      #expect(first.outcome == .created)
      let again = try await stagedoor.deliver(cat("cat1"), .lasting)
      #expect(again.outcome == .activated)
      #expect(again.session == first.session)
      #expect(again.identifier != first.identifier)
      let other = try await stagedoor.deliver([DragItem(cat("cat1"))], .lasting.with(\.disposition, .new))
      #expect(other.outcome == .created)
      #expect(other.session != first.session)
    }
  }

  @Test(.client()) func `an activity comes back as it went in`() async throws {
    var activity = cat("cat1")
    activity.title = "Tom"
    activity.webpageURL = URL(string: "https://example.org/cats?name=Tom")
    activity.requiredUserInfoKeys = ["name"]
    activity.keywords = ["sea", "beach"]
    activity.persistentIdentifier = "tom"
    activity.expirationDate = Date(timeIntervalSince1970: 4_000_000_000.25)
    activity.userInfo = valuesOfEachKind
    let delivery = try await stagedoor.deliver(activity, .lasting)
    #expect(try await stagedoor.session(delivery.session).userActivity == activity)
  }

  @Test(.client()) func `what is refused says why, by its name`() async throws {
    #expect(await code { try await stagedoor.drop("viewDog") } == .activityTypeNotDeclared)
    #expect(await code { try await stagedoor.drop("") } == .invalidPayload)
    let existing = DeliveryOptions().with(\.disposition, .existingOnly)
    #expect(await code { try await stagedoor.deliver(cat("cat1"), existing) } == .noMatchingSession)
    let stranger = DeliveryOptions().with(\.application, "org.example.Dogs")
    #expect(await code { try await stagedoor.deliver(cat("cat1"), stranger) } == .noSuchApplication)
    var late = cat("cat1")
    late.expirationDate = Date(timeIntervalSince1970: 1)
    #expect(await code { try await stagedoor.deliver(late) } == .activityExpired)
    #expect(await code { try await stagedoor.register(manifest: "{") } == .invalidManifest)
    #expect(await code { try await stagedoor.newSession(of: "org.example.Dogs") } == .noSuchApplication)
  }

  @Test(.client()) func `what cannot be written down is refused before it is sent`() async throws {
    let before = try await stagedoor.eventSequence()
    for (value, place): (UserInfoValue, String) in [
      (.double(.infinity), "items[0].activities[0].userInfo.wrong"),
      ([1, .date(Date(timeIntervalSince1970: 1e18))], "items[0].activities[0].userInfo.wrong[1]"),
    ] {
      var activity = cat("cat1")
      activity.userInfo = ["wrong": value]
      let error = await #expect(throws: StagedoorError.self) { try await stagedoor.deliver(activity) }
      #expect(error?.code == .invalidPayload)
      #expect(error?.message.hasPrefix("\(place): expected") == true, "\(error as Any)")
    }
    let options = DeliveryOptions().with(\.deadline, .seconds(3601))
    #expect(await code { try await stagedoor.deliver(cat("cat1"), options) } == .invalidPayload)
    #expect(try await stagedoor.eventSequence() == before)
  }

  @Test(.client(pictures))
  func `what an item promises is loaded when the host opens it, and again after a failure`() async throws {
    let loads = Lock(0)
    struct Torn: Error {}
    var provider = ItemProvider()
    provider.registerText("a beach")
    provider.registerDataRepresentation(as: "image/png") { _ in
      let isFirst = loads.withLock { loads in
        loads += 1
        return loads == 1
      }
      if isFirst { throw Torn() }
      return Data([1, 2, 3])
    }
    // No error on the bus can have this name.
    provider.registerDataRepresentation(as: "image/gif") { _ in throw StagedoorError(.init(rawValue: "7"), "") }
    provider.registerFileRepresentation(as: "image/webp") { _ in URL(filePath: Repository.path + "/LICENSE") }
    #expect(provider.registeredTypes == ["text/plain", "image/png", "image/gif", "image/webp"])
    #expect(provider.hasItem(conformingTo: "public.image"))
    #expect(!provider.hasItem(conformingTo: "video/*"))
    let delivery = try await stagedoor.deliver([DragItem(itemProvider: provider)], .lasting)
    #expect(delivery.outcome == .created)
    #expect(loads.withLock(\.self) == 0)
    func size(_ type: String) async throws -> Int64 {
      let opened = try await stagedoor.opened(delivery.identifier, 0, type)
      return opened.size
    }
    await #expect(throws: CallError.self) { try await size("image/png") }
    await #expect(throws: CallError.self) { try await size("image/gif") }
    #expect(try await size("image/*") == 3)
    #expect(try await size("text/plain") == 7)
    #expect(try await size("image/webp") == Repository.text(of: "LICENSE").utf8.count)
    #expect(loads.withLock(\.self) == 2)
    #expect(try await provider.loadDataRepresentation(as: "image/*") == Data([1, 2, 3]))
  }

  @Test(.client(pictures))
  func `nobody but the service may ask for what an item promises, or say that nobody asks any more`() async throws {
    let loads = Lock(0)
    let item = DragItem(promising: "image/png") { _ in
      loads.withLock { $0 += 1 }
      return Data([1, 2, 3])
    }
    let delivery = try await stagedoor.deliver([item], .lasting)
    let thief = try await house.bus.connect()
    let owner = try #require(await stagedoor.connection.uniqueName)
    // The number of the object is easy to guess.
    var denied = 0
    for number in 1...200 {
      let object = thief.object(
        owner, at: ObjectPath(unchecked: "/org/stagedoor/items/\(number)/0"), "org.stagedoor.ItemProvider1")
      let refusals = [
        await refusal { try await object.call("Load", UInt32(0), "image/png") },
        await refusal { try await object.call("CancelLoad", UInt32(0), "image/png") },
        await refusal { try await object.call("Release") },
      ].map { $0?.name }
      if refusals == [.accessDenied, .accessDenied, .accessDenied] { denied += 1 }
      #expect(!refusals.contains(nil))
    }
    #expect(denied >= 1)
    #expect(loads.withLock(\.self) == 0)
    #expect(try await stagedoor.opened(delivery.identifier, 0, "image/png").size == 3)
    #expect(loads.withLock(\.self) == 1)
  }

  @Test(.client()) func `each item goes where it belongs, all of them or as many as can`() async throws {
    let items = ["cat1", "cat2", "cat1"].map { DragItem(cat($0)) }
    let sessions = try await stagedoor.deliverEach(items, .lasting).map { try $0.get().session }
    #expect(sessions[0] == sessions[2])
    #expect(sessions[0] != sessions[1])

    let mixed = [DragItem(UserActivity("viewDog")), DragItem(cat("cat1"))]
    #expect(await code { _ = try await stagedoor.deliverEach(mixed) } == .activityTypeNotDeclared)
    let results = try await stagedoor.deliverEach(mixed, .lasting, bestEffort: true)
    #expect(throws: StagedoorError.self) { try results[0].get() }
    #expect(try results[1].get().session == sessions[0])
  }

  @Test(.client()) func `explain says what a delivery would do, and does not do it`() async throws {
    let payload = Payload(cat("cat1"), .lasting)
    let before = try await stagedoor.explain(payload)
    #expect(before.outcome == .delivered(.created))
    #expect(before.session == nil)
    #expect(before.application?.value == "org.example.Cats")
    #expect(before.configuration?.value == "Cat Detail")
    #expect(before.key?.value == "cat1")
    #expect(try await stagedoor.sessions().isEmpty)
    let delivery = try await stagedoor.deliver(payload)
    let after = try await stagedoor.explain(payload)
    #expect(after.outcome == .delivered(.activated))
    #expect(after.session == delivery.session)
    #expect(after.candidates.first?.session == delivery.session)
    #expect(after.candidates.first?.tier == "prefers")
    let refused = try await stagedoor.explain(Payload(UserActivity("viewDog")))
    #expect(refused.outcome == .refused(.activityTypeNotDeclared))
    #expect(refused.message.contains("viewDog"))
  }

  @Test(.played(answering: ["Deliver": [.later]]))
  func `who waits for an application that passes the delivery on waits longer than the deadline`() async throws {
    service.states.withLock { $0 = ["handled"] }
    var hurried = stagedoor
    hurried.timeout = .milliseconds(50)
    let client = hurried
    let options = DeliveryOptions.handled.with(\.deadline, .milliseconds(50))
    let waiting = Task { await code { try await client.deliver(cat("cat1"), options) } }
    try await eventually("the call") { service.lines.contains { $0.hasPrefix("Deliver ") } }
    try await ContinuousClock().sleep(for: .milliseconds(300))
    service.answerNow("Deliver")
    #expect(await waiting.value == nil)
  }

  @Test(.played(answering: ["Deliver": [.later, .later, .later]]))
  func `a call ends with its deadline, its task, the service, and the connection`() async throws {
    let silent = service
    let call = #"Deliver {"activity":{"activityType":"viewCat","targetContentIdentifier":"cat1"}}"#
    var hurried = stagedoor
    hurried.timeout = .milliseconds(50)
    let client = hurried
    #expect(await code { try await client.deliver(cat("cat1")) } == .timedOut)
    let cancelled = Task { await code { try await stagedoor.deliver(cat("cat1")) } }
    try await silent.wait(for: call, 2)
    cancelled.cancel()
    #expect(await cancelled.value == .taskCancelled)
    let left = Task { await code { try await stagedoor.deliver(cat("cat1")) } }
    try await silent.wait(for: call, 3)
    await silent.close()
    #expect(await left.value == .noReply)
    await stagedoor.close()
    #expect(await code { try await stagedoor.deliver(cat("cat1")) } == .disconnected)
  }

  @Test(.house(installing: Manifests.cats)) func `the service need not run`() async throws {
    try await house.withClient { stagedoor in
      let error = await #expect(throws: StagedoorError.self) { try await stagedoor.drop("viewCat") }
      #expect(error?.code == .serviceUnknown)
      #expect(error?.message.hasSuffix("; `stagedoor doctor` says what is missing") == true)
      try await house.installService("--durability", "memory")
      #expect(try await stagedoor.drop("viewCat", "cat1").outcome == .created)
    }
  }
}
