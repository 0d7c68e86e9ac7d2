import SceneModel
import SceneRouting
import SceneTestSupport

/// Requests of every kind, correct ones and wrong ones.
extension WorldGenerator {
  static let now = Instant(microseconds: 10)
  /// The identifier of a new session, which no generated session has.
  static let newSession = UniqueIdentifier(high: 1, low: 1000)

  mutating func request(_ world: ReferenceWorld) -> Request {
    var payload = Payload(items: items())
    payload.options.isPrivate = random.once(in: 10)
    if random.once(in: 12) {
      payload.options.session = sessionName(world)
    } else {
      choose(&payload.options, world)
    }
    if payload.items.isEmpty, payload.options.session == nil, payload.options.application == nil, !random.once(in: 8) {
      payload.options.application = application(world)
    }
    if random.once(in: 4) { payload.options.requestingSession = sessionName(world) }
    return Request(payload, from: sender(), newSession: WorldGenerator.newSession)
  }

  private mutating func choose(_ options: inout PayloadOptions, _ world: ReferenceWorld) {
    if random.once(in: 3) { options.disposition = random.one(of: PayloadOptions.Disposition.allCases) }
    if random.once(in: 5) { options.application = application(world) }
    if random.once(in: 6) { options.role = random.once(in: 6) ? "Nowhere" : random.one(of: pool.roles) }
    if random.once(in: 5) {
      options.configuration = random.once(in: 8) ? "Nowhere" : random.one(of: pool.configurations)
    }
  }

  private mutating func application(_ world: ReferenceWorld) -> Text {
    random.once(in: 6) ? random.one(of: pool.applications) : random.one(of: world.manifests).identifier
  }

  /// An identifier or a path, of a session that may not exist; or a text that names no session at all.
  private mutating func sessionName(_ world: ReferenceWorld) -> Text {
    if random.once(in: 12) { return random.one(of: ["", "main", "/org/stagedoor/Interchange1/session/"]) }
    let there = world.sessions.isEmpty || random.once(in: 8) ? nil : random.one(of: world.sessions).identifier
    let identifier = there ?? UniqueIdentifier(high: 7, low: 7)
    return random.once(in: 2) ? SessionReference.path(of: identifier) : Text("\(identifier)")
  }

  private mutating func sender() -> Sender {
    Sender(
      hosts: random.once(in: 3) ? random.one(of: pool.applications) : nil, isSandboxed: random.once(in: 4),
      application: random.once(in: 3) ? random.one(of: pool.applications) : nil)
  }

  // MARK: Items

  private mutating func items() -> [Item] {
    switch random.below(12) {
    case 0: return []
    case 1, 2, 3: return [item(activities: 0, representations: 1 + random.below(3))]
    case 4: return (0..<2).map { _ in item(activities: random.below(3), representations: random.below(3)) }
    case 5: return [item(activities: 2, representations: random.below(2))]
    default: return [item(activities: 1, representations: 0)]
    }
  }

  private mutating func item(activities: Int, representations: Int) -> Item {
    var item = Item()
    for _ in 0..<activities {
      var activity = activity()
      activity.visibility = visibility()
      if random.once(in: 10) { activity.expirationDate = Instant(microseconds: Int64(9 + random.below(3))) }
      item.activities.append(activity)
    }
    for type in pool.carried.shuffled(using: &random).prefix(representations) {
      item.representations.append(Representation(type: type, content(of: type), visibility: visibility()))
    }
    return item
  }

  private mutating func visibility() -> Visibility {
    random.once(in: 6) ? random.one(of: Visibility.allCases) : .all
  }

  private mutating func content(of type: ContentType) -> Representation.Content {
    if random.once(in: 4) { return .file("file:///a") }
    let text = random.one(of: [
      "# of a list\r\nhttp://b/\r\nfile:///a\r\n", "http://b/", "HTTP://B:80", "file:///a",
      "file://localhost/x/../%61/", "", "# nothing\n",
    ])
    return random.once(in: 2) ? .text(Text(text)) : .data(Array(text.utf8))
  }
}
