import DBus
import SceneModel
import WindowEvidence

/// Windows found by typing: GNOME Shell asks `org.gnome.Shell.SearchProvider2`, and KDE's KRunner asks `org.kde.krunner1`.
enum SearchProviders {
  static let path: ObjectPath = "/org/stagedoor/Understudy1/Search"

  /// The windows that have every word in their title, their document's path or their application's name, as they were listed.
  static func found(_ words: [String], in windows: [Understudy.ListedWindow]) -> [Understudy.ListedWindow] {
    let words = words.map { $0.lowercased() }.filter { !$0.isEmpty }
    if words.isEmpty { return [] }
    return windows.filter { window in
      let text = "\(window.title)\n\(window.name)\n\(path(of: window))".lowercased()
      return words.allSatisfy(text.contains)
    }
  }

  /// The path of the window's document, for people.
  private static func path(of window: Understudy.ListedWindow) -> String {
    window.document.flatMap { FileURL.path(of: Text($0)) }.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func detail(of window: Understudy.ListedWindow) -> String {
    [window.name, path(of: window)].filter { !$0.isEmpty }.joined(separator: " — ")
  }

  static func gnome(for understudy: Understudy) -> Interface {
    var interface = Interface("org.gnome.Shell.SearchProvider2")
    interface.method("GetInitialResultSet", in: "terms", out: "results") { (terms: [String]) async in
      found(terms, in: await understudy.list()).map { "\($0.number)" }
    }
    interface.method("GetSubsearchResultSet", in: "previous_results", "terms", out: "results") {
      (previous: [String], terms: [String]) async in
      found(terms, in: await understudy.list()).map { "\($0.number)" }.filter(previous.contains)
    }
    interface.method("GetResultMetas", in: "identifiers", out: "metas") { (identifiers: [String]) async in
      let windows = await understudy.list()
      return identifiers.compactMap { identifier in windows.first { "\($0.number)" == identifier } }.map(meta)
    }
    interface.method("ActivateResult", in: "identifier", "terms", "timestamp") {
      (identifier: String, terms: [String], timestamp: UInt32) async throws in
      try await understudy.activate(identifier, at: timestamp)
    }
    // The person has chosen the provider and none of its results.
    interface.method("LaunchSearch", in: "terms", "timestamp") { (terms: [String], timestamp: UInt32) async throws in
      if let first = found(terms, in: await understudy.list()).first {
        try await understudy.activate("\(first.number)", at: timestamp)
      }
    }
    UnderstudyInterface.refuseSandboxes(in: &interface)
    return interface
  }

  private static func meta(_ window: Understudy.ListedWindow) -> [String: Variant] {
    var meta: [String: Variant] = [
      "id": Variant("\(window.number)"), "name": Variant(window.title), "description": Variant(detail(of: window)),
    ]
    if !window.icon.isEmpty { meta["gicon"] = Variant(window.icon) }
    return meta
  }

  /// Its identifier, text, icon, kind, relevance from 0 to 1, and properties.
  typealias Match = Structure<String, String, String, Int32, Double, [String: Variant]>

  static func krunner(for understudy: Understudy) -> Interface {
    var interface = Interface("org.kde.krunner1")
    interface.method("Match", in: "query", out: "matches") { (query: String) async in
      let windows = found(query.split(whereSeparator: \.isWhitespace).map(String.init), in: await understudy.list())
      return windows.enumerated().map { place, window in match(window, place) }
    }
    interface.method("Actions", out: "actions") { [Structure<String, String, String>]() }
    interface.method("Run", in: "match", "action") { (match: String, action: String) async throws in
      try await understudy.activate(match, nil)
    }
    interface.method("Config", out: "config") { ["MinLetterCount": Variant(Int32(2))] }
    interface.method("Teardown") {}
    UnderstudyInterface.refuseSandboxes(in: &interface)
    return interface
  }

  private static func match(_ window: Understudy.ListedWindow, _ place: Int) -> Match {
    // KRunner sorts by relevance; 70 says that the match helps, and 100 that it is exact.
    let relevance = max(0.5, 0.9 - Double(place) / 100)
    let properties: [String: Variant] = ["subtext": Variant(detail(of: window)), "actions": Variant([String]())]
    return Match("\(window.number)", window.title, window.icon, 70, relevance, properties)
  }
}
