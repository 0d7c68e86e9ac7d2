// swift-tools-version: 6.2
import PackageDescription

// This is a separate package, so that nobody else builds targets that link with libFuzzer. `run` builds and runs it.
//
// The folders in Sources are links to the modules of the main package. They are built again here, with the instrumentation
// that libFuzzer needs, and as targets of this package, because they share declarations with `package` access.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "stagedoor-fuzz",
  targets: [
    .target(name: "XML", swiftSettings: settings),
    .target(name: "TextPatterns", swiftSettings: settings),
    .target(name: "SceneModel", dependencies: ["TextPatterns", "XML"], swiftSettings: settings),
    .target(name: "SceneTestSupport", dependencies: ["SceneModel", "TextPatterns", "XML"], swiftSettings: settings),
    .executableTarget(name: "fuzz-document", dependencies: ["SceneTestSupport"], swiftSettings: settings),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
    .target(name: "TextRules", dependencies: ["SceneModel", "TextPatterns"], swiftSettings: settings),
    .target(name: "SceneRouting", dependencies: ["SceneModel", "TextRules"], swiftSettings: settings),
    .target(name: "SessionStore", dependencies: ["CSQLite", "SceneModel"], swiftSettings: settings),
    .target(
      name: "InterchangeCore", dependencies: ["SceneModel", "SceneRouting", "TextRules"], swiftSettings: settings),
    .target(
      name: "InterchangeTurns",
      dependencies: ["InterchangeCore", "SceneModel", "SceneRouting", "SessionStore", "TextRules"],
      swiftSettings: settings),
    .target(name: "StoreTestSupport", dependencies: ["CSQLite"], swiftSettings: settings),
    .target(
      name: "DamagedStores",
      dependencies: [
        "CSQLite", "InterchangeCore", "InterchangeTurns", "SceneModel", "SessionStore", "StoreTestSupport",
      ],
      swiftSettings: settings),
    .executableTarget(name: "fuzz-store", dependencies: ["DamagedStores"], swiftSettings: settings),
  ]
)
