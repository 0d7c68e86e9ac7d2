import DBus
import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

// The commands that show lists.

enum SessionsCommand {
  /// A session whose application has no manifest at present takes no part in routing.
  typealias Row = (session: SessionSummary, hasManifest: Bool)

  static let fields: [Field<Row>] = [
    Field(identifier: "session") { $0.session.session.description },
    Field("path", value: { .text($0.session.session.path.rawValue) }),
    Field("application", .init(title: "APPLICATION", minimum: 12, keepsEnd: true, rank: 3)) {
      .text($0.session.application)
    },
    Field("configuration", .init(title: "KIND", minimum: 8, rank: 4)) { .text($0.session.configuration) },
    Field("hasManifest", value: { .bool($0.hasManifest) }),
    Field(
      "state", .init(title: "STATE", rank: 2) { Style(of: $0) }, value: { .text($0.session.activationState.rawValue) }
    ) {
      $0.hasManifest ? $0.session.activationState.rawValue : "no manifest"
    },
    Field("targetContentIdentifier", .init(title: "SHOWS", minimum: 8)) { .text($0.session.targetContentIdentifier) },
    Field("title", .init(title: "TITLE", minimum: 8, rank: 1)) { .text($0.session.title) },
    Field(
      "lastActivated", .init(title: "USED", rank: 5) { _ in .aside },
      value: { .text(Moment.rfc3339($0.session.lastActivated)) }, short: { Moment.age($0.session.lastActivated) }),
  ]

  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let application = try await client.application(of: invocation)
    let known = try await client.stagedoor.applications().map(\.identifier)
    var listing = Listing(invocation, fields)
    for try await page in client.stagedoor.sessionPages(
      of: application, atMost: invocation[.limit].flatMap { UInt32($0) })
    {
      try listing.add(page.map { ($0, known.contains($0.application)) })
    }
    try listing.end(orSay: application == nil ? "no windows yet" : "no windows of this application yet")
  }
}

enum DeliveriesCommand {
  static let fields: [Field<DeliveryRecord>] = [
    Field(identifier: "delivery") { $0.identifier.description },
    Field("state", .init(title: "STATE") { Style(of: $0) }) { .text($0.state.word) },
    Field("application", .init(title: "APPLICATION", minimum: 12, keepsEnd: true, rank: 1)) { .text($0.application) },
    Field(identifier: "session", rank: 2) { $0.session?.description },
  ]

  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let isUnclaimed = invocation.has(.unclaimed)
    let filter = isUnclaimed ? .routed : invocation[.state].flatMap { Stagedoor.DeliveryFilter(rawValue: $0) } ?? .all
    let application = try await client.application(of: invocation)
    // The service refuses an application that it does not know.
    if let application { _ = try await client.stagedoor.sessionList(of: application, limit: 1) }
    var rest = invocation[.limit].flatMap { Int($0) } ?? .max
    var listing = Listing(invocation, fields)
    // The service counts before this command chooses.
    let isChosen = isUnclaimed || application != nil
    let limit = isChosen ? nil : UInt32(exactly: rest)
    for try await page in client.stagedoor.deliveryPages(in: filter, atMost: limit) {
      var rows: [DeliveryRecord] = []
      for row in page where rows.count < rest && (application ?? row.application) == row.application {
        if isUnclaimed, try await !client.hasEnded(row.identifier) { continue }
        rows.append(row)
      }
      try listing.add(rows)
      rest -= rows.count
      if rest == 0 { break }
    }
    let isFiltered = isChosen || filter != .all
    try listing.end(orSay: isFiltered ? "no such deliveries" : "no deliveries yet")
  }
}

enum AppsCommand {
  static let fields: [Field<ApplicationSummary>] = [
    Field("application", .init(title: "APPLICATION", minimum: 12, keepsEnd: true) { _ in .identifier }) {
      .text($0.identifier)
    },
    Field("name", .init(title: "NAME", minimum: 8, rank: 1)) { .text($0.name) },
    Field("hostAttached", .init(title: "RUNS", rank: 2) { $0 == "yes" ? .good : .aside }) { .bool($0.isHostAttached) },
  ]

  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let all = try await client.stagedoor.applications()
    var shown = all
    if let type = try type(invocation) {
      shown = try await client.stagedoor.handlers(of: type).compactMap { handler in
        all.first { $0.identifier == handler.identifier }
      }
      // A word without a slash is the type of an activity, and no application takes this type.
      if shown.isEmpty, !type.utf8.contains(UInt8(ascii: "/")) {
        throw Problem(.refused, "no application takes \"\(type.printable)\"; `stagedoor apps` lists the applications")
      }
    }
    try Listing(invocation, fields).list(
      shown,
      orSay: all.isEmpty
        ? "no applications yet; `stagedoor install-manifest` installs one" : "no application takes this")
  }

  private static func type(_ invocation: Invocation) throws(Problem) -> String? {
    if let file = invocation[.ofFile] {
      if invocation.argument(0) != nil { throw .usage("--file says the type; leave TYPE out") }
      return try LocalFile(Array(file.utf8)).type
    }
    guard let type = invocation.argument(0) else { return nil }
    let isContent = type.utf8.contains(UInt8(ascii: "/"))
    if isContent ? ContentType(Text(type)) == nil : type.isEmpty {
      throw .usage("\"\(type.printable)\" is no type such as image/png or org.example.Gallery.openDetail")
    }
    if access(type, F_OK) == 0 { throw .usage("\(type.printable) is a file; write --file \(type.printable)") }
    return type
  }
}

enum PreferCommand {
  typealias Row = (type: String, application: String)

  static let fields: [Field<Row>] = [
    Field("type", .init(title: "TYPE", minimum: 12)) { .text($0.type) },
    Field("application", .init(title: "APPLICATION", minimum: 12) { _ in .identifier }) { .text($0.application) },
  ]

  static func run(_ invocation: Invocation) async throws {
    if invocation.has(.none), invocation.arguments.count != 1 {
      throw Problem.usage("--none takes a TYPE and no APP: \(invocation.command.usage.synopsis)")
    }
    let client = try await Client(invocation)
    guard let type = invocation.argument(0) else {
      let choices = try await client.stagedoor.preferredApplications()
      try Listing(invocation, fields).list(choices, orSay: "no choices yet")
      return
    }
    if invocation.has(.none) {
      try await client.stagedoor.setPreferredApplication(nil, for: type)
      try Change.say("forgotten", type, "", invocation)
    } else if let application = invocation.argument(1) {
      let application = try await client.application(application)
      try await client.stagedoor.setPreferredApplication(application, for: type)
      try Change.say("preferred", type, application, invocation)
    } else {
      let choice = try await client.stagedoor.preferredApplication(for: type).map { [(type: type, application: $0)] }
      try Listing(invocation, fields).list(choice ?? [], orSay: "no choice for \(type)")
    }
  }
}
