// swift-tools-version: 6.2
import PackageDescription

// This is a separate package, so that users of the libraries do not build the benchmarks. `run` builds and runs it.

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
    // The package has a name here, because the folder of a clone may have any name.
    .package(name: "stagedoor", path: "..")
  ],
  targets: [
    .executableTarget(name: "echo-swift", dependencies: [binding], swiftSettings: settings),
    .executableTarget(name: "client-swift", dependencies: [binding], swiftSettings: settings),
  ]
)
