// swift-tools-version: 6.2
import PackageDescription

// This is a separate package, so that neither the service nor the kit needs GTK.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let kit: Target.Dependency = .product(name: "StagedoorKit", package: "stagedoor")
let bus: Target.Dependency = .product(name: "DBus", package: "stagedoor")

/// The target of an application, without its files for the desktop.
func play(_ folder: String, resources: [Resource] = []) -> Target {
  .executableTarget(
    name: folder.lowercased(), dependencies: ["CGtk4", "StagedoorGTK", kit], path: folder,
    exclude: ["Info.plist", "README.md", "screenshot.png", "org.stagedoor.examples.\(folder).desktop"],
    resources: resources, swiftSettings: settings)
}

let package = Package(
  name: "stagedoor-gtk",
  products: [.library(name: "StagedoorGTK", targets: ["StagedoorGTK"])],
  dependencies: [.package(name: "stagedoor", path: "../..")],
  targets: [
    .systemLibrary(name: "CGtk4", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .target(name: "CStage", dependencies: ["CGtk4"]),
    .target(name: "StagedoorGTK", dependencies: ["CGtk4", "CStage", kit, bus], swiftSettings: settings),
    play("Journalyst"),
    play("Cats", resources: [.copy("Pictures")]),
    play("Dates"),
    play("Gallery", resources: [.copy("Photos")]),
    play("Mail"),
    play("Expose"),
    .executableTarget(
      name: "stagedoor-drag", dependencies: ["CGtk4", "StagedoorGTK", kit], path: "Drag", exclude: ["stagedoor-drag.1"],
      swiftSettings: settings),
    .executableTarget(
      name: "stage-play", dependencies: ["CGtk4", "StagedoorGTK", kit], path: "Tests/StagePlay", swiftSettings: settings
    ),
    .testTarget(
      name: "StageTests",
      dependencies: [
        .product(name: "StagedoorTestSupport", package: "stagedoor"),
        .product(name: "DBusTestSupport", package: "stagedoor"), .product(name: "stagedoord", package: "stagedoor"),
        .product(name: "stagedoor", package: "stagedoor"),
        kit, bus,
        "journalyst", "cats", "dates", "gallery", "mail", "expose", "stagedoor-drag", "stage-play",
      ], exclude: ["Hands"], swiftSettings: settings),
  ]
)
