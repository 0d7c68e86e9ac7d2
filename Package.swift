// swift-tools-version: 6.2
import PackageDescription

// The manifest is the architecture: it alone declares which module may import which,
// and `make check` enforces this by building with `--explicit-target-dependency-import-check error`.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "stagedoor",
  products: [
    .library(name: "DBus", targets: ["DBus"]),
    .library(name: "DBusFoundation", targets: ["DBusFoundation"]),
    .library(name: "DBusTestSupport", targets: ["DBusTestSupport"]),
    .library(name: "StagedoorKit", targets: ["StagedoorKit"]),
    .library(name: "StagedoorTestSupport", targets: ["StagedoorTestSupport"]),
    // The service, for the tests of other packages.
    .executable(name: "stagedoord", targets: ["stagedoord"]),
    .executable(name: "dbus-showcase", targets: ["dbus-showcase"]),
    .executable(name: "theatre", targets: ["TheatreCommand"]),
    .executable(name: "stagedoor", targets: ["stagedoor"]),
    .executable(name: "stagedoor-understudy", targets: ["stagedoor-understudy"]),
    .executable(name: "private-bus", targets: ["private-bus"]),
  ],
  targets: [
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CFiles"),
    .target(name: "DBus", dependencies: ["CDBus", "CFiles", "XML"], swiftSettings: settings),
    // A module of its own, so that a program without Data does not link Foundation.
    .target(name: "DBusFoundation", dependencies: ["DBus"], swiftSettings: settings),
    .target(name: "XML", swiftSettings: settings),
    // Regular expressions in time linear in the text. Pure.
    .target(name: "TextPatterns", swiftSettings: settings),
    .target(name: "SceneModel", dependencies: ["TextPatterns", "XML"], swiftSettings: settings),
    .target(name: "SceneRouting", dependencies: ["SceneModel", "TextRules"], swiftSettings: settings),
    .target(name: "SessionStore", dependencies: ["CSQLite", "SceneModel"], swiftSettings: settings),
    .target(name: "InterchangeWire", dependencies: ["DBus", "SceneModel"], swiftSettings: settings),
    // The contents of deliveries, on a thread of its own.
    .target(name: "Baggage", dependencies: ["CFiles", "DBus", "SceneModel"], swiftSettings: settings),
    // The service as a pure machine, the turns in which it is stored, and the shell that gives it a bus.
    .target(
      name: "InterchangeCore", dependencies: ["SceneModel", "SceneRouting", "TextRules"],
      path: "Sources/Interchange/Core",
      swiftSettings: settings),
    // The turns, which the shell and the theatre share: the records of a turn are stored together, before anyone hears of it.
    .target(
      name: "InterchangeTurns",
      dependencies: ["InterchangeCore", "SceneModel", "SceneRouting", "SessionStore", "TextRules"],
      path: "Sources/Interchange/Turns", swiftSettings: settings),
    .target(
      name: "Interchange",
      dependencies: [
        "Baggage", "DBus", "InterchangeCore", "InterchangeTurns", "InterchangeWire", "SceneModel", "SceneRouting",
        "ServiceSupport", "SessionStore", "TextRules",
      ],
      path: "Sources/Interchange/Shell", swiftSettings: settings),
    // The core, its turns and the store in a simulated world that a seed decides.
    .target(
      name: "Theatre",
      dependencies: [
        "InterchangeCore", "InterchangeTurns", "SceneModel", "SceneRouting", "SessionStore", "StoreTestSupport",
        "TextRules",
      ],
      swiftSettings: settings),
    .executableTarget(name: "TheatreCommand", dependencies: ["ServiceSupport", "Theatre"], swiftSettings: settings),
    // Functions in place of those of libdbus and Swift, for a quicker start.
    .target(name: "CStart"),
    // What the programs share: how they read command lines, start and stop, and find what is installed.
    .target(
      name: "ServiceSupport", dependencies: ["CStart", "DBus", "SceneModel", "TextRules"], swiftSettings: settings),
    .executableTarget(
      name: "stagedoord",
      dependencies: [
        "Baggage", "CStart", "DBus", "Interchange", "InterchangeCore", "InterchangeWire", "SceneModel",
        "ServiceSupport", "SessionStore", "TextRules",
      ],
      swiftSettings: settings),
    // The applications that are installed, which of them the person prefers, and what is known of their windows.
    .target(
      name: "DesktopFiles", dependencies: ["SceneModel", "ServiceSupport", "WindowEvidence"], swiftSettings: settings),
    // What a person says about texts and links: files of rules, and what they make of a payload. Pure.
    .target(name: "TextRules", dependencies: ["SceneModel", "TextPatterns"], swiftSettings: settings),
    // Which window shows which file: evidence in, a verdict out. Pure.
    .target(name: "WindowEvidence", swiftSettings: settings),
    .systemLibrary(name: "CXCB", pkgConfig: "xcb", providers: [.apt(["libxcb1-dev"])]),
    // It finds the windows of applications that know nothing of the service. The service and the command link no display.
    .executableTarget(
      name: "stagedoor-understudy",
      dependencies: ["CFiles", "CXCB", "DBus", "DesktopFiles", "SceneModel", "ServiceSupport", "WindowEvidence"],
      swiftSettings: settings),
    .systemLibrary(name: "CMainQueue"),
    .target(
      name: "StagedoorKit", dependencies: ["CMainQueue", "DBus", "InterchangeWire", "SceneModel"],
      // A call from the main actor stays there, and does not go through a thread pool.
      swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    // It reaches the service through the kit only. The pure modules are for commands without a service, which check and test manifests.
    .executableTarget(
      name: "stagedoor",
      dependencies: [
        "DBus", "DesktopFiles", "SceneModel", "SceneRouting", "ServiceSupport", "StagedoorKit", "TextRules",
      ],
      resources: ["bash", "zsh", "fish"].map { .embedInCode("Completions/\($0)") },
      swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .target(name: "DBusTestSupport", dependencies: ["CFiles", "DBus"], swiftSettings: settings),
    // For the tests of other packages. They name the product stagedoord too, so that the service is built before they run.
    .target(name: "StagedoorTestSupport", dependencies: ["DBus", "DBusTestSupport"], swiftSettings: settings),
    .executableTarget(name: "private-bus", dependencies: ["DBusTestSupport"], swiftSettings: settings),
    .executableTarget(
      name: "dbus-showcase", dependencies: ["DBus", "DBusFoundation", "ServiceSupport"], path: "examples/showcase",
      swiftSettings: settings),
    .executableTarget(
      name: "greeter-service", dependencies: ["DBus"], path: "examples/greeter", exclude: ["Client.swift"],
      sources: ["Service.swift"], swiftSettings: settings),
    .executableTarget(
      name: "greeter-client", dependencies: ["DBus"], path: "examples/greeter", exclude: ["Service.swift"],
      sources: ["Client.swift"], swiftSettings: settings),
    .executableTarget(
      name: "journal", dependencies: ["StagedoorKit"], path: "examples/journal", swiftSettings: settings),
    .executableTarget(
      name: "binding-benchmark", dependencies: ["DBus"], path: "Benchmarks/Sources/binding-benchmark",
      swiftSettings: settings),
    .executableTarget(
      name: "mind-benchmark", dependencies: ["SceneModel", "SceneRouting", "TextPatterns", "TextRules"],
      path: "Benchmarks/Sources/mind-benchmark", swiftSettings: settings),
    .executableTarget(
      name: "service-benchmark",
      dependencies: [
        "Baggage", "DBus", "Interchange", "InterchangeWire", "SceneModel", "ServiceSupport", "SessionStore",
      ],
      path: "Benchmarks/Sources/service-benchmark", swiftSettings: settings),
    .testTarget(
      name: "BaggageTests",
      dependencies: ["Baggage", "DBus", "DBusTestSupport", "ExitTestSupport", "SceneModel", "StoreTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ClientTests",
      dependencies: [
        "DBus", "DBusTestSupport", "DaemonTestSupport", "dbus-showcase", "greeter-service", "greeter-client",
      ],
      exclude: ["Clients"], swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: ["DBus", "DBusTestSupport", "DaemonTestSupport", "stagedoor", "stagedoord"],
      exclude: ["Snapshots", "reading_host.py", "terminal.py", "press_tab.py"], swiftSettings: settings),
    .testTarget(name: "ContractTests", dependencies: ["DBus", "DaemonTestSupport"], swiftSettings: settings),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "Baggage", "DBus", "DBusTestSupport", "DaemonTestSupport", "Interchange", "InterchangeCore", "SceneModel",
        "ServiceSupport", "SessionStore", "StoreTestSupport", "TheatreCommand",
        "stagedoord",
      ],
      exclude: ["Clients", "Preloads"], swiftSettings: settings),
    .testTarget(
      name: "HostileTests", dependencies: ["DBus", "DBusTestSupport", "DaemonTestSupport", "stagedoord"],
      exclude: ["Clients"], swiftSettings: settings),
    .testTarget(
      name: "StagedoorKitTests",
      dependencies: [
        "DBus", "DBusTestSupport", "DaemonTestSupport", "ExitTestSupport", "SceneTestSupport", "StagedoorKit",
        "StagedoorTestSupport", "kit-stage-async", "kit-stage-glib", "kit-stage-plain", "journal", "stagedoord",
      ],
      swiftSettings: settings),
    .target(
      name: "KitStage", dependencies: ["StagedoorKit"], path: "Tests/KitStage/Shared", swiftSettings: settings),
    .executableTarget(
      name: "kit-stage-async", dependencies: ["KitStage", "StagedoorKit"], path: "Tests/KitStage/Async",
      swiftSettings: settings),
    .executableTarget(
      name: "kit-stage-plain", dependencies: ["KitStage", "StagedoorKit"], path: "Tests/KitStage/Plain",
      swiftSettings: settings),
    .executableTarget(
      name: "kit-stage-glib", dependencies: ["KitStage", "StagedoorKit"], path: "Tests/KitStage/GLib",
      swiftSettings: settings),
    .target(
      name: "DaemonTestSupport", dependencies: ["DBus", "DBusTestSupport"], path: "Tests/DaemonTestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "DBusTests",
      dependencies: [
        "CDBus", "DBus", "DBusFoundation", "DBusTestSupport", "ExitTestSupport", "SceneTestSupport", "XML",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "InterchangeCoreTests",
      dependencies: [
        "CSQLite", "DamagedStores", "InterchangeCore", "InterchangeTurns", "SceneModel", "SceneRouting",
        "SceneTestSupport", "SessionStore", "StoreTestSupport", "TextRules", "Theatre",
      ],
      swiftSettings: settings),
    // The fuzzer damages the same stores.
    .target(
      name: "DamagedStores",
      dependencies: [
        "CSQLite", "InterchangeCore", "InterchangeTurns", "SceneModel", "SessionStore", "StoreTestSupport",
      ],
      path: "Tests/DamagedStores", swiftSettings: settings),
    .testTarget(
      name: "InterchangeWireTests", dependencies: ["DBus", "InterchangeWire", "SceneModel", "SceneTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "SceneModelTests", dependencies: ["SceneModel", "SceneTestSupport", "TextPatterns", "XML"],
      exclude: ["Fixtures"],
      swiftSettings: settings),
    .testTarget(
      name: "SceneRoutingTests", dependencies: ["SceneModel", "SceneRouting", "SceneTestSupport", "TextRules"],
      swiftSettings: settings),
    .testTarget(
      name: "SessionStoreTests",
      dependencies: ["CSQLite", "SceneModel", "SceneTestSupport", "SessionStore", "StoreTestSupport"],
      swiftSettings: settings),
    // The tests of the service make disks fail, as the tests of the store do. All of them need directories of their own.
    .target(
      name: "StoreTestSupport", dependencies: ["CSQLite"], path: "Tests/StoreTestSupport", swiftSettings: settings),
    .target(
      name: "SceneTestSupport", dependencies: ["SceneModel", "TextPatterns", "XML"], path: "Tests/SceneTestSupport",
      swiftSettings: settings),
    // Each play is a process of its own, because the theatre puts its own disk under SQLite.
    .testTarget(
      name: "TheatreTests", dependencies: ["DBusTestSupport", "TheatreCommand"], exclude: ["Stories"],
      swiftSettings: settings),
    .testTarget(
      name: "DesktopFilesTests", dependencies: ["DesktopFiles", "SceneModel", "SceneTestSupport", "WindowEvidence"],
      swiftSettings: settings),
    .testTarget(
      name: "UnderstudyTests",
      dependencies: [
        "CXCB", "DBus", "DBusTestSupport", "DaemonTestSupport", "DesktopFiles", "SceneModel", "ServiceSupport",
        "WindowEvidence", "stagedoor", "stagedoor-understudy", "stagedoord",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DBusTestSupportTests", dependencies: ["DBus", "DBusTestSupport", "ExitTestSupport", "private-bus"],
      swiftSettings: settings),
    .testTarget(
      name: "TextPatternsTests", dependencies: ["DBusTestSupport", "SceneTestSupport", "TextPatterns"],
      exclude: ["judge.py"], swiftSettings: settings),
    .testTarget(
      name: "TextRulesTests", dependencies: ["SceneModel", "SceneTestSupport", "TextRules"], swiftSettings: settings),
    .testTarget(
      name: "WindowEvidenceTests", dependencies: ["SceneTestSupport", "WindowEvidence"], swiftSettings: settings),
    .target(
      name: "ExitTestSupport", dependencies: ["DBusTestSupport"], path: "Tests/ExitTestSupport", swiftSettings: settings
    ),
  ]
)
