/// The document that a sender hands in: items, and options.
package struct Payload: Hashable, Sendable {
  package var items: [Item]
  package var options: PayloadOptions

  package init(items: [Item] = [], options: PayloadOptions = PayloadOptions()) {
    self.items = items
    self.options = options
  }

  /// A payload of one activity, as for a plain drop.
  package init(_ activity: UserActivity, options: PayloadOptions = PayloadOptions()) {
    self.init(items: [Item(activities: [activity])], options: options)
  }
}

extension Payload {
  /// A piece of text, as it was selected somewhere. The arguments are those of `DropText`.
  package init(text: Text, directory: Text, info: [Text: Text]) throws(Fault) {
    let place = Place.document.key("text")
    if text.count > Limits.payload { throw .tooLong(text.count, limit: Limits.payload, at: place) }
    self.init(items: [Item(representations: [Representation(type: .plainText, .text(text))])])
    // A dictionary has each key once.
    options.info = UserInfo(info.map { UserInfo.Entry(key: $0.key, value: .string($0.value)) }) ?? UserInfo()
    if !directory.isEmpty {
      guard directory.hasPrefix("/") else {
        throw .expected("an absolute path", got: quoted(directory.string), at: Place.document.key("directory"))
      }
      options.info["dir"] = .string(directory)
    }
    try options.info.refuseSize(at: Place.document.key("info"))
  }
}

// MARK: - As a document

extension Payload: Document {
  private static let keys: [StaticString] = ["items", "activity", "options"]

  package init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) {
    self.init()
    var rules = rules
    // The options may come last, and still determine how strictly the items are read.
    for (key, node) in try node.requireFields("a payload") where !node.isNull {
      if case "options" = key { options = try PayloadOptions(node, rules) }
    }
    if options.isStrict { rules.isStrict = true }
    var activity: UserActivity?
    for (key, node) in try node.requireFields("a payload", knowing: Payload.keys, rules.isStrict) where !node.isNull {
      switch key {
      case "items": items = try Item.list(node, rules)
      case "activity": activity = try UserActivity(node, rules)
      default: break
      }
    }
    if let activity {
      if !items.isEmpty { throw .expected("either an activity or items", got: "both", at: node.place) }
      items = [Item(activities: [activity])]
    }
    if options.isFromStranger {
      if options.requestingSession != nil {
        throw Payload.notOfStrangers("session", at: node.place.key("options").key("requestingSession"))
      }
      if let activity { try Payload.refuseVisibility(of: activity, at: node.place.key("activity")) }
      try Payload.refuseWhatNoStrangerSends(items, at: node.place.key("items"))
    }
    if items.isEmpty, options.session == nil, options.application == nil {
      throw .expected(
        "an activity or items, or options that name a session or an application",
        got: "none" + node.besideUnknown(among: Payload.keys), at: node.place)
    }
  }

  /// What a stranger sends is for everyone, and leads to nothing of the one who hands it in.
  package static func refuseWhatNoStrangerSends(_ items: [Item], at place: Place) throws(Fault) {
    for (number, item) in items.enumerated() {
      let activities = place.index(number).key("activities")
      for (index, activity) in item.activities.enumerated() {
        try refuseVisibility(of: activity, at: activities.index(index))
      }
      let representations = place.index(number).key("representations")
      for (index, representation) in item.representations.enumerated() {
        if representation.visibility != .all {
          throw notOfStrangers("visibility", at: representations.index(index).key("visibility"))
        }
        if representation.type.isPortalKey {
          throw notOfStrangers("portal's key", at: representations.index(index).key("type"))
        }
        if case .promise = representation.content {
          throw notOfStrangers("promise", at: representations.index(index).key("provider"))
        }
      }
    }
  }

  private static func refuseVisibility(of activity: UserActivity, at place: Place) throws(Fault) {
    if activity.visibility != .all { throw notOfStrangers("visibility", at: place.key("visibility")) }
  }

  private static func notOfStrangers(_ what: String, at place: Place) -> Fault {
    .expected("no \(what) beside asStranger", got: "one", at: place)
  }

  package func write(to fields: inout some DocumentFields) {
    // An activity that was handed in by itself had three levels less: written as an item, it might now be too deep.
    if let onlyActivity { fields["activity"] = onlyActivity } else { fields["items"] = items }
    if options != PayloadOptions() { fields["options"] = options }
  }

  /// The activity, if the payload has nothing else.
  private var onlyActivity: UserActivity? {
    guard items.count == 1, let activity = items[0].activities.first, items[0] == Item(activities: [activity]) else {
      return nil
    }
    return activity
  }
}
