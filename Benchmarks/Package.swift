// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no one who uses the libraries builds the benchmarks; `run` builds and runs it.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

let binding: Target.Dependency = .product(name: "DBus", package: "stagedoor")

let package = Package(
  name: "stagedoor-benchmarks",
  dependencies: [
    // Named, because a clone's folder may be called anything.
    .package(name: "stagedoor", path: "..")
  ],
  targets: [
    .executableTarget(name: "echo-swift", dependencies: [binding], swiftSettings: settings),
    .executableTarget(name: "client-swift", dependencies: [binding], swiftSettings: settings),
  ]
)
