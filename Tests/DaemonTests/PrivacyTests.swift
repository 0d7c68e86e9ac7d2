import DBus
import DBusTestSupport
import FoundationEssentials
import Testing

/// The subject of a private delivery, and who must not learn it.
@Suite struct PrivacyTests {
  private static let type = "secret-type"
  private static let manifest = Manifests.application(
    "org.example.Diary", types: "write", type, configurations: Manifests.configuration("Main"), scenes: false)

  private static func document(_ type: String, _ name: String, options: String = "") -> String {
    #"{"items": [{"suggestedName": "\#(name)-name", "activities": [{"activityType": "\#(type)", "#
      + #""targetContentIdentifier": "\#(name)-key", "title": "\#(name)-title", "userInfo": {"\#(name)-info": 1}}]}], "#
      + #""options": {"deadline": 3600\#(options.isEmpty ? "" : ", \(options)")}}"#
  }

  private static let secret = document(type, "secret", options: #""private": true"#)
  private static let plain = document("write", "plain")

  /// Every answer that anyone can ask for.
  private func answers(of house: House) async throws -> [String] {
    var said = ["\(try await Record(of: house))"]
    for session in try await house.sessions() {
      said.append("\(try await house.call("GetAll", "string:\(House.session)", at: session[0], in: House.properties))")
    }
    said.append("\(try await house.call("GetManagedObjects", in: House.manager))")
    said.append(try await house.call("Explain", "string:\(Self.plain)")[0].text)
    return said
  }

  @Test(.service(registering: manifest))
  func `who sent a private delivery sees its decision as long as somebody waits for it`() async throws {
    let service = try house.service(house.watcher)
    let delivery = try await house.deliver(Self.secret, over: house.watcher).delivery
    func decision() async throws -> String {
      try await service.call("GetDelivery", delivery, returning: String.self, String.self).1
    }
    #expect(try await decision().contains("secret-key"))
    #expect(try await !house.call("GetDelivery", "string:\(delivery)")[1].text.contains("secret-key"))
    try await service.call("CancelDelivery", delivery)
    #expect(try await !decision().contains("secret-key"))
  }

  @Test(.host)
  func `its document is not on the disk when its time is over, although nobody calls any more`() async throws {
    // The decision keeps the key, for a sender in a sandbox.
    let payload =
      #"{"activity": {"activityType": "viewCat", "title": "a-secret-title"}, "options": {"private": true, "deadline": 5}}"#
    let session = try await host.deliver(payload).session
    try await host.asked(1, "ConnectScene")
    try await house.destroy(session)
    let folder = URL(filePath: house.state)
    @Sendable func secret() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
        let bytes = (try? Data(contentsOf: folder.appending(path: name))) ?? Data()
        return bytes.firstRange(of: Data("a-secret-title".utf8)) != nil
      }
    }
    #expect(try !secret().isEmpty)
    try await eventually("it to be gone") { try secret().isEmpty }
  }

  private func hasSecret(_ text: String) -> Bool {
    text.replacing(#"value("string", "secret-type")"#, with: "").contains("secret")
  }

  private func expectNoSecret(in answers: [String]) {
    for answer in answers { #expect(!hasSecret(answer), "\(answer)") }
  }

  @Test(.daemon(with: "--durability", "memory", "--log-level", "debug"))
  func `nothing of it is told while it is there, nor when it has been cancelled or handled`() async throws {
    try await house.register(Self.manifest)
    try await house.watched { watch in
      let first = try await house.deliver(Self.plain)
      let landing = try await house.deliver(Self.secret)
      #expect(landing.session == first.session)
      let routed = try #require(try await watch.happenings().last)
      #expect(routed.arguments["delivery"] == landing.delivery)
      #expect(routed.arguments["activity_type"] == "" && routed.arguments["target_content_identifier"] == "")
      for property in ["UserActivity", "TargetContentIdentifier", "Title"] {
        #expect(try await house.property(property, of: landing.session) == "", "\(property)")
      }
      expectNoSecret(in: try await answers(of: house))
      // The title and the values that its host writes tell what the window is about.
      try await house.set("Title", of: landing.session, to: "secret-name")
      try await house.set(
        "UserActivity", of: landing.session,
        to: #"{"activityType": "secret-type", "targetContentIdentifier": "secret-key", "title": "secret-page"}"#)
      expectNoSecret(in: try await answers(of: house))
      let again = try await house.deliver(Self.secret)
      _ = try await house.call("Activate", "string:", at: landing.session, in: House.session)
      expectNoSecret(in: try await answers(of: house))
      _ = try await house.call("CancelDelivery", "string:\(again.delivery)")
      expectNoSecret(in: try await answers(of: house))
      let titles = watch.signals.filter { $0.member == "PropertiesChanged" && $0.path == landing.session }
      #expect(!titles.isEmpty)
      for change in titles { #expect(change.arguments[1]["Title"] == nil, "\(change)") }
      let invalidated = titles.flatMap { $0.arguments[2].elements.map(\.text) }
      #expect(Set(invalidated).isSuperset(of: ["UserActivity", "TargetContentIdentifier", "Title"]))
      try await house.hosting("org.example.Diary") { host in
        let last = try await house.deliver(Self.secret)
        try await house.waitUntil(last.delivery, is: "handled")
        #expect(try #require(host.calls(of: "ContinueScene").last?.arguments.last).contains("secret-key"))
        expectNoSecret(in: try await answers(of: house))
        try await host.settle()
      }
      expectNoSecret(in: try await answers(of: house))
      _ = try await watch.happenings()
      // It is no secret that the application declares the type. The registration announces it.
      for message in watch.messages where message.kind != "method call" {
        #expect(!hasSecret("\(message)"), "\(message)")
      }
    }
    #expect(!hasSecret(daemon.standardError), "\(daemon.standardError)")
  }

  @Test(.service(registering: Manifests.cats))
  func `why a private window would take something is not explained`() async throws {
    let session = try await house.hand("viewCat", "secret-cat", options: #""private": true"#).session
    for predicate in ["", "SELF == 'secret-cat'"] {
      try await house.set("CanActivatePredicate", of: session, to: predicate)
      let why = try await house.call("Explain", "string:\(Payloads.activity("viewCat", "cat1"))")[0].text
      #expect(why.contains("candidates"))
      #expect(!why.contains("secret"), "\(why)")
    }
    // Routing still knows the activity.
    #expect(try await house.drop("viewCat", "secret-cat").session == session)
  }

  @Test(.service(registering: Manifests.mainOnly))
  func `of a private session its host reads what others do not`() async throws {
    try await house.register(Manifests.oneScene)
    try await house.hosting { host in
      let landing = try await house.hand("viewCat", "secret", options: #""private": true, "wait": "handled""#)
      try await host.set("Title", of: landing.session, to: "A secret")
      #expect(try host.calls[0].options["userActivities"]?.elements[0]["targetContentIdentifier"]?.string == "secret")
      try await house.hosting("org.example.Player") { other in
        for (property, value) in [("Title", "A secret"), ("TargetContentIdentifier", "secret")]
          as [(MemberName, String)]
        {
          #expect(try await host.object(landing.session).get(property, as: String.self) == value)
          #expect(try await other.object(landing.session).get(property, as: String.self) == "")
          #expect(try await house.property(property.rawValue, of: landing.session) == "")
        }
        let own = try await host.object(landing.session).get("UserActivity", as: String.self)
        #expect(own.contains("secret"))
        #expect(try await other.object(landing.session).get("UserActivity", as: String.self) == "")
      }
      // Without its host, nobody reads the condition.
      await host.leave()
      #expect(try await house.property("Title", of: landing.session) == "")
    }
  }
}
