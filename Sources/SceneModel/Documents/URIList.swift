/// Files and links in the form of text/uri-list (RFC 2483): one URI a line. Here an absolute path may stand for a file's URL.
package struct URIList: Hashable, Sendable {
  package enum Entry: Hashable, Sendable {
    /// A file on this machine. A path need not be UTF-8.
    case file(url: Text, path: [UInt8])
    case link(Text)
  }

  package let entries: [Entry]
  /// The place of each entry: its line.
  private let places: [String]

  /// Reads a list. Empty lines, and comments, which begin with "#", are ignored.
  package init(_ list: Text) throws(Fault) {
    let name = "uri_list"
    if list.count > Limits.payload { throw .tooLong(list.count, limit: Limits.payload, at: name) }
    var (entries, places): ([Entry], [String]) = ([], [])
    for (number, line) in URIList.lines(of: list) {
      if entries.count == Limits.items {
        throw Fault(.limit, at: name, "expected at most \(Limits.items) files and links")
      }
      let place = "\(name), line \(number)"
      entries.append(try URIList.entry(line, at: place))
      places.append(place)
    }
    if entries.isEmpty { throw Fault(at: name, "expected a URI or an absolute path, got none") }
    (self.entries, self.places) = (entries, places)
  }

  /// The lines that say something, each with its number, and no more of them than show that there are too many. The others take neither memory nor
  /// much time: a list may have millions of them.
  private static func lines(of list: Text) -> [(number: Int, line: Text)] {
    list.withBytes { bytes in
      var lines: [(Int, Text)] = []
      var (number, start) = (1, 0)
      for end in 0...bytes.count where end == bytes.count || bytes[end] == UInt8(ascii: "\n") {
        let begin = start
        (number, start) = (number + 1, end + 1)
        let last = end > begin && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
        var place = begin
        while place < last, MIMESyntax.isSpace(bytes[place]) { place += 1 }
        if place == last || bytes[begin] == UInt8(ascii: "#") { continue }
        let line = bytes[begin..<last]
        lines.append((number - 1, Text(String(decoding: line, as: UTF8.self))))
        if lines.count > Limits.items { break }
      }
      return lines
    }
  }

  private static func entry(_ line: Text, at place: String) throws(Fault) -> Entry {
    let url = line.hasPrefix("/") ? FileURL.text(ofPath: line.string.utf8) : line
    if url.count > Limits.text { throw .tooLong(url.count, limit: Limits.text, at: place) }
    let normal = URLText.normal(url)
    if FileURL.hasScheme(url) {
      guard let path = FileURL.path(of: normal) else { throw fault("a file URL such as file:///home/user/Beach.png") }
      return .file(url: normal, path: path)
    }
    guard URLText.isValid(url) else { throw fault("a URI or an absolute path") }
    return .link(normal)

    func fault(_ expected: String) -> Fault {
      Fault(at: place, "expected \(expected), got \(quoted(line.string))\(URLText.hint(for: line))")
    }
  }

  /// The files of the list, which not every caller may name, each with its place: its sender has numbered no items.
  package var files: [(place: String, url: Text, path: [UInt8])] {
    zip(places, entries).compactMap { place, entry in
      guard case .file(let url, let path) = entry else { return nil }
      return (place, url, path)
    }
  }

  /// Makes one item for each entry.
  /// - Parameters:
  ///   - activityType, key: The activity for the first item; both are "" for none.
  ///   - fileType: Returns the type of the file at a path.
  package func items(
    activityType: Text, key: Text, fileType: (_ path: [UInt8]) -> ContentType
  ) throws(Fault) -> [Item] {
    let activities = try Item.activities(type: activityType, key: key)
    var items: [Item] = []
    items.reserveCapacity(entries.count)
    for entry in entries {
      let activities = items.isEmpty ? activities : []
      switch entry {
      case .file(let url, let path):
        let name = path.split(separator: UInt8(ascii: "/")).last.flatMap { String(validating: $0, as: UTF8.self) }
        items.append(
          Item(
            suggestedName: name.map { Text($0) }, activities: activities,
            representations: [Representation(type: fileType(path), .file(url), openInPlace: true)]))
      case .link(let url):
        items.append(Item(activities: activities, representations: Representation.link(to: url)))
      }
    }
    return items
  }
}

extension Representation {
  /// A link, in its normal form: first as the type of its scheme, which the applications for that scheme take, and then as a list of one.
  package static func link(to url: Text) -> [Representation] {
    let url = URLText.normal(url)
    let list = Representation(type: ContentType(form: .mime, name: "text/uri-list", parameters: []), .text(url))
    // A scheme may be longer than the name of a type.
    guard let scheme = URLText.scheme(of: url), scheme.count <= MIMESyntax.longestName else { return [list] }
    return [Representation(type: .ofLinks(scheme: scheme), .text(url)), list]
  }
}

extension Item {
  /// An item with one descriptor, which has the number 0. The arguments are those of `DropData`; "" stands for none.
  package init(
    ofType type: Text, suggestedName: Text, activityType: Text, key: Text
  ) throws(Fault) {
    let place = Place.document.key("suggested_name")
    if suggestedName.count > Limits.text {
      throw .tooLong(suggestedName.count, limit: Limits.text, at: place)
    }
    self.init(
      suggestedName: suggestedName.isEmpty ? nil : suggestedName,
      activities: try Item.activities(type: activityType, key: key),
      representations: [
        Representation(type: try ContentType(type, as: .carried, at: Place.document.key("type")), .descriptor(0))
      ])
  }

  /// The activity with this type and key; none if both are "". A key without a type is a fault.
  fileprivate static func activities(type: Text, key: Text) throws(Fault) -> [UserActivity] {
    if type.isEmpty {
      if key.isEmpty { return [] }
      throw Fault(at: Place.document.key("target_content_identifier"), "needs an activity_type")
    }
    return [try UserActivity(type: type, key: key, userInfo: UserInfo())]
  }
}

extension URIList {
  /// The names of further types whose contents are lists of URIs, as toolkits and file managers hand them over.
  private static let names: Set<Text> = [
    "text/x-moz-url", "x-special/gnome-copied-files", "x-special/mate-copied-files", "application/x-kde4-urilist",
  ]

  /// The first file that the content of a representation names: by a URL or a path, in a line of a list of URIs.
  package static func firstFile(in representation: Representation) -> String? {
    guard representation.type.isLink || names.contains(representation.type.name) else { return nil }
    let bytes: [UInt8]
    switch representation.content {
    case .data(let data): bytes = data
    case .text(let text): bytes = text.withBytes { [UInt8]($0) }
    default: return nil
    }
    var start = 0
    // Line by line, because there may be millions.
    while start < bytes.count {
      if bytes[start] <= 0x20 {
        start += 1
        continue
      }
      var end = start
      while end < bytes.count, bytes[end] >= 0x20 { end += 1 }
      let scheme = bytes[start..<end].prefix(5)
      if scheme.first == UInt8(ascii: "/") || scheme.lazy.map(MIMESyntax.small).elementsEqual("file:".utf8) {
        return String(decoding: bytes[start..<end], as: UTF8.self)
      }
      start = end
    }
    return nil
  }
}
