import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import StagedoorKit
import Testing

/// Sessions as values, and their changes.
@Suite struct SessionTests {
  @Test(.client()) func `sessions are listed the oldest first, each with what is known of it`() async throws {
    try await stagedoor.register(manifest: Manifests.oneScene)
    let first = try await stagedoor.deliver(cat("cat1"), .lasting)
    let second = try await stagedoor.deliver(UserActivity("play"), .lasting)
    let all = try await stagedoor.sessions()
    #expect(all.map(\.identifier) == [first.session, second.session])
    #expect(try await stagedoor.sessions(of: "org.example.Cats") == [all[0]])
    #expect(try await stagedoor.session(first.session) == all[0])
    #expect(all[0].application == "org.example.Cats")
    #expect(all[0].configuration == SceneConfiguration(name: "Cat Detail"))
    #expect(all[0].targetContentIdentifier == "cat1")
    #expect(all[0].userActivity == cat("cat1"))
    #expect(all[0].activationState == .unattached)
    #expect(!all[0].isConnected)
    #expect(all[0].created.timeIntervalSince1970 > 1_700_000_000)
    #expect(all[0].persistentIdentifier == first.session.description)
  }

  @Test(.client()) func `a session is activated, refreshed, and destroyed for ever`() async throws {
    let window = try await stagedoor.newSession(of: "org.example.Cats")
    #expect(window.outcome == .created)
    let again = try await stagedoor.activate(window.session, userActivity: cat("cat7"))
    #expect(again.session == window.session)
    #expect(again.outcome == .activated)
    #expect(try await stagedoor.session(window.session).targetContentIdentifier == "cat7")
    try await stagedoor.refresh(window.session)
    try await stagedoor.destroy(window.session, animation: .commit)
    #expect(try await stagedoor.sessions().isEmpty)
    #expect(await code { _ = try await stagedoor.session(window.session) } == .noSuchSession)
    #expect(await code { try await stagedoor.activate(window.session) } == .noSuchSession)
    #expect(await code { try await stagedoor.refresh(window.session) } == .noSuchSession)
    #expect(await code { try await stagedoor.destroy(window.session) } == .noSuchSession)
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `sessions are told as they come, change and go`(kind: PrivateBus.Kind) async throws {
    try await withClient(Manifests.cats, kind) { _, stagedoor in
      try await stagedoor.register(manifest: Manifests.oneScene)
      let sessions = try await stagedoor.liveSessions(of: "org.example.Cats")
      let moments = Moments(sessions)
      try await moments.wait("nothing at first") { $0.isEmpty }
      let window = try await stagedoor.newSession(of: "org.example.Cats")
      try await moments.wait("a window") { $0.map(\.identifier) == [window.session] }
      _ = try await stagedoor.deliver(UserActivity("play"), .lasting)
      try await stagedoor.activate(window.session, userActivity: cat("cat7"))
      try await moments.wait("a cat in it") { $0.map(\.userActivity) == [cat("cat7")] }
      try await stagedoor.destroy(window.session)
      try await moments.wait("nothing at last") { $0.isEmpty }
      moments.task.cancel()
    }
  }

  @Test(.house(installing: Manifests.cats))
  func `sessions are told again when the service has been away`() async throws {
    try await house.withClient { stagedoor in
      let (moments, first) = try await house.serving("--durability", "normal") { daemon in
        let moments = Moments(try await stagedoor.liveSessions())
        let first = try await stagedoor.deliver(cat("cat1"), .lasting)
        try await moments.wait("a window") { $0.map(\.identifier) == [first.session] }
        await daemon.stop()
        return (moments, first)
      }
      try await house.serving("--durability", "normal") { _ in
        let second = try await stagedoor.deliver(cat("cat2"), .lasting)
        try await moments.wait("both windows") { $0.map(\.identifier) == [first.session, second.session] }
      }
      // This service knows of no session, and reports nothing.
      try await house.serving("--durability", "memory") { _ in
        try await moments.wait("no window") { $0.isEmpty }
      }
      moments.task.cancel()
    }
  }

  @Test(.played(sessions: [1]))
  func `a reader that lags behind ends with the sessions of the next service, and not of the last`() async throws {
    let first = service
    let sessions = try await stagedoor.liveSessions()
    for number in 2...9 { first.addSession(number) }
    await first.close()
    let second = try await PlayedService(on: bus, sessions: [1])
    // The bus answers in order: all signals are here.
    _ = try await stagedoor.connection.owner(of: House.name)
    let moments = Moments(sessions)
    try await moments.wait("the session that is left") { $0.map(\.identifier) == [PlayedService.session(1)] }
    // By now the reader has taken all of them.
    second.removeSession(PlayedService.session(1))
    second.addSession(0)
    try await moments.wait("the new session") { $0.map(\.identifier) == [PlayedService.session(0)] }
    moments.task.cancel()
  }

  @Test(.played(sessions: [1]))
  func `a wait for sessions that is cancelled while they are read again loses nothing`() async throws {
    let first = service
    let reader = await Reader(try await stagedoor.liveSessions())
    #expect(try await reader.next()?.count == 1)
    await first.close()
    let second = try await PlayedService(on: bus, answering: ["GetManagedObjects": [.later]])
    let cancelled = Task { try await reader.next() }
    try await second.wait(for: "GetManagedObjects")
    cancelled.cancel()
    #expect(try await cancelled.value == nil)
    let next = try await withLimit(usualLimit, "the sessions") { try await reader.next() }
    #expect(next?.isEmpty == true)
  }

  @Test func `a list that is read by pages is read from its beginning when the last session of a page goes`()
    async throws
  {
    let answers: [MemberName: [PlayedService.Answer]] = [
      "GetManagedObjects": ["org.freedesktop.DBus.Error.LimitsExceeded"],
      "ListSessions": [.done, "org.stagedoor.Error.NoSuchSession"],
    ]
    try await withPlayedService(answering: answers) { _, service, stagedoor in
      let sessions = [1, 2].map { service.addSession($0) }
      let listed = try await stagedoor.sessions()
      #expect(listed.map(\.identifier) == sessions)
      #expect(
        service.lines.filter { $0.hasPrefix("ListSessions") } == [
          "ListSessions ", "ListSessions \(sessions[0])", "ListSessions ", "ListSessions \(sessions[0])",
          "ListSessions \(sessions[1])",
        ])
    }
  }
}

/// An iterator that several tasks use, one after the other.
@MainActor final class Reader<Base: AsyncSequence> where Base.Element: Sendable {
  private var iterator: Base.AsyncIterator

  init(_ sequence: Base) { iterator = sequence.makeAsyncIterator() }

  func next() async throws -> Base.Element? {
    var copy = iterator
    defer { iterator = copy }
    return try await copy.next(isolation: MainActor.shared)
  }
}

/// Iterates over a sequence of sessions, for a test that waits for one of its values.
struct Moments: Sendable {
  let task: Task<Void, any Error>
  private let latest: Latest

  private actor Latest {
    var sessions: [SceneSession]?
    func set(_ sessions: [SceneSession]) { self.sessions = sessions }
  }

  init(_ sequence: SessionSequence) {
    let latest = Latest()
    self.latest = latest
    task = Task { for try await sessions in sequence { await latest.set(sessions) } }
  }

  func wait(_ what: String, _ fits: @escaping @Sendable ([SceneSession]) -> Bool) async throws {
    let latest = latest
    try await eventually(what) { await latest.sessions.map(fits) ?? false }
  }
}
