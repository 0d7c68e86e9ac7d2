// swift-tools-version: 6.2
import PackageDescription

// The manifest is the architecture: which room may know which stands here and nowhere else,
// and `make check` builds with `--explicit-target-dependency-import-check error` so that it stays true.

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
    .library(name: "DBusTestSupport", targets: ["DBusTestSupport"]),
  ],
  targets: [
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .target(name: "DBus", dependencies: ["CDBus"], swiftSettings: settings),
    .target(name: "DBusTestSupport", dependencies: ["DBus"], swiftSettings: settings),
    .testTarget(name: "DBusTests", dependencies: ["CDBus", "DBus", "DBusTestSupport"], swiftSettings: settings),
  ]
)
