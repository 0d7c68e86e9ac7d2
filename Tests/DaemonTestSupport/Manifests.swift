/// The applications that the tests declare, as their authors would write them.
package enum Manifests {
  package static func application(
    _ identifier: String, types: String..., configurations: String, scenes: Bool = true, more: String = ""
  ) -> String {
    """
    {
      "CFBundleIdentifier": "\(identifier)",\(more)
      "NSUserActivityTypes": \(list(types)),
      "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": \(scenes),
        "UISceneConfigurations": { "UIWindowSceneSessionRoleApplication": [\(configurations)] }
      }
    }
    """
  }

  package static func configuration(_ name: String, types: String..., more: String = "") -> String {
    let types = types.isEmpty ? "" : #", "StagedoorActivityTypes": \#(list(types))"#
    return #"{"UISceneConfigurationName": "\#(name)"\#(types)\#(more)}"#
  }

  private static func list(_ texts: [String]) -> String {
    "[" + texts.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
  }

  /// A list and a window for each cat.
  package static let cats = application(
    "org.example.Cats", types: "viewCat",
    configurations: configuration("Default") + ", " + configuration("Cat Detail", types: "viewCat"))

  /// Only a main window.
  package static let mainOnly = application("org.example.Cats", types: "viewCat", configurations: configuration("Main"))

  package static let oneScene = application(
    "org.example.Player", types: "play", "stop", configurations: configuration("Main"), scenes: false)

  package static let gallery = application(
    "org.example.Gallery", types: "openDetail", "openInspector",
    configurations: configuration("Default") + ", " + configuration("Inspector", types: "openInspector"))
}

/// Payload documents. Their deliveries outlast a slow machine, unless a test sets a deadline.
package enum Payloads {
  package static func activity(_ type: String, _ key: String = "", options: String = "") -> String {
    let key = key.isEmpty ? "" : #", "targetContentIdentifier": "\#(key)""#
    let deadline = options.contains("\"deadline\"") ? [] : [#""deadline": 3600"#]
    let options = ((options.isEmpty ? [] : [options]) + deadline).joined(separator: ", ")
    return #"{"activity": {"activityType": "\#(type)"\#(key)}, "options": {\#(options)}}"#
  }
}
