import SceneModel

// What a rule makes of a payload.
//
// A rule that says what the payload is about - an activity, a file, a link, an application - puts that before the items that were there. Any other rule
// only adds to what was there.

/// Why a rule could not make its payload: "would make a link that is no URL".
struct Unmakable: Error, CustomStringConvertible {
  let description: String
}

extension Trial {
  mutating func make(_ actions: Actions) throws(Unmakable) -> Payload {
    var payload = handedIn.payload
    payload.options.asksRules = false
    if let application = actions.application { payload.options.application = application }
    // A rule that is about nothing only adds what the sender has not said.
    if let configuration = actions.configuration, actions.isAbout || payload.options.configuration == nil {
      payload.options.configuration = configuration
    }
    if let disposition = actions.disposition, actions.isAbout || payload.options.disposition == .auto {
      payload.options.disposition = disposition
    }
    let title = try actions.title.map { template throws(Unmakable) in
      try text(template, "a title", atMost: Limits.text)
    }
    let info = try info(actions)
    var representations = try contents(actions)
    if !actions.isAbout {
      try add(title, info, representations.first, to: &payload)
      return payload
    }
    var item = Item(suggestedName: fileName(actions))
    if let (type, key) = actions.activity {
      item.activities = [try activity(type, key, title, info)]
    } else {
      try add(title, info, nil, to: &payload)
    }
    // Each type stands once in an item.
    var seen: Set<ContentType> = []
    representations.removeAll { !seen.insert(types.canonical($0.type)).inserted }
    item.representations = representations
    if item == Item() { return payload }
    if payload.items.count == Limits.items { throw Unmakable(description: "would make one item too many") }
    payload.items.insert(item, at: 0)
    return payload
  }

  private mutating func text(
    _ template: Template, _ what: String, isURL: Bool = false, atMost limit: Int
  ) throws(Unmakable) -> Text {
    if let text = template.text(variables, isURL: isURL, atMost: limit, &steps) { return text }
    throw Unmakable(description: "would make \(what) of more than \(limit) bytes")
  }

  private mutating func info(_ actions: Actions) throws(Unmakable) -> UserInfo {
    var info = UserInfo()
    for (name, template) in actions.info {
      // What is not set is left out.
      if let variable = template.onlyVariable, variables[variable] ?? .empty == .empty { continue }
      info[name] = .string(try text(template, "an info", atMost: RuleLimits.text))
    }
    return info
  }

  private mutating func activity(
    _ type: Text, _ key: Template?, _ title: Text?, _ info: UserInfo
  ) throws(Unmakable) -> UserActivity {
    let key = try key.map { key throws(Unmakable) in
      try text(key, "a key", isURL: key.hasScheme, atMost: Limits.text)
    }
    try refuseFileURL(key, "a key")
    var userInfo = handedIn.payload.options.info
    for entry in info.entries { userInfo[entry.key] = entry.value }
    do throws(Fault) {
      var activity = try UserActivity(type: type, key: key ?? .empty, userInfo: userInfo)
      activity.title = title
      return activity
    } catch {
      throw Unmakable(description: "would make an activity that is none: \(error)")
    }
  }

  /// The file, the link and the text.
  private mutating func contents(_ actions: Actions) throws(Unmakable) -> [Representation] {
    var representations: [Representation] = []
    if let template = actions.file {
      guard let path = path(template) else {
        throw Unmakable(description: "would name a file without an absolute path")
      }
      let type: ContentType
      switch disk?[path] {
      case .nothing?: throw Unmakable(description: "would hand in a file that does not exist: \(quoted(path.string))")
      case .directory?: throw Unmakable(description: "would hand in a directory as a file: \(quoted(path.string))")
      case .file(let found)?: type = found
      case nil where disk == nil: type = .anyData
      case nil:
        throw Unmakable(
          description: "would hand in a file about which the disk did not answer in time: \(quoted(path.string))")
      }
      representations.append(
        Representation(type: type, .file(FileURL.text(ofPath: path.string.utf8)), openInPlace: true))
    }
    if let template = actions.link {
      let link = try text(template, "a link", isURL: true, atMost: Limits.text)
      guard URLText.isValid(link) else {
        throw Unmakable(description: "would make a link that is no URL: \(quoted(link.string))")
      }
      // Encoded, the rest of an address would be the name of a host.
      if hasEncodedHost(link) {
        throw Unmakable(description: "would make a link whose host is none: \(quoted(link.string))")
      }
      try refuseFileURL(link, "a link")
      representations += Representation.link(to: link)
    }
    if let template = actions.text {
      representations.append(
        Representation(type: .plainText, .text(try text(template, "a text", atMost: RuleLimits.text))))
    }
    return representations
  }

  private func hasEncodedHost(_ link: Text) -> Bool {
    // A search for "://" would link Swift's regular expressions, which make the start of the service dearer.
    guard let colon = link.string.utf8.firstIndex(of: UInt8(ascii: ":")),
      case let rest = link.string.utf8[colon...].dropFirst(),
      rest.starts(with: "//".utf8)
    else { return false }
    let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
    let host = authority[(authority.lastIndex(of: UInt8(ascii: "@")) ?? authority.startIndex)...]
    return host.contains(UInt8(ascii: "%"))
  }

  private mutating func fileName(_ actions: Actions) -> Text? {
    guard let file = actions.file, let path = path(file), let slash = path.string.utf8.lastIndex(of: UInt8(ascii: "/"))
    else { return nil }
    let name = Text(String(path.string[path.string.utf8.index(after: slash)...]))
    return name.isEmpty ? nil : name
  }

  /// A sandboxed sender would open files.
  private func refuseFileURL(_ url: Text?, _ what: String) throws(Unmakable) {
    if handedIn.isSandboxed, let url, FileURL.hasScheme(url) {
      throw Unmakable(description: "would make \(what) of a file, and the sender is sandboxed")
    }
  }

  /// Adds to the first item and its first activity what they do not have.
  private func add(
    _ title: Text?, _ info: UserInfo, _ text: Representation?, to payload: inout Payload
  ) throws(Unmakable) {
    guard !payload.items.isEmpty else { return }
    if let place = payload.items[0].activities.firstIndex(where: { $0.visibility == .all }) {
      var activity = payload.items[0].activities[place]
      activity.title = activity.title ?? title
      for entry in info.entries where activity.userInfo[entry.key] == nil { activity.userInfo[entry.key] = entry.value }
      do throws(Fault) { try activity.userInfo.refuseSize(at: .document) } catch {
        throw Unmakable(description: "would make an activity that is none: \(error)")
      }
      payload.items[0].activities[place] = activity
    }
    guard let text, payload.items[0].representations.count < Limits.perItem else { return }
    let isThere = payload.items[0].representations.contains { types.isSame($0.type, as: text.type) }
    if !isThere { payload.items[0].representations.append(text) }
  }
}
