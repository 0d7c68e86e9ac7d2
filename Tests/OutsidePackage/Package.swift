// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else, who has only what is public. `make check-examples` checks it against the modules that are built.
let package = Package(
  name: "outside-package",
  dependencies: [.package(name: "stagedoor", path: "../..")],
  targets: [
    .target(
      name: "OutsidePackage",
      dependencies: [
        .product(name: "DBus", package: "stagedoor"), .product(name: "StagedoorKit", package: "stagedoor"),
        .product(name: "StagedoorTestSupport", package: "stagedoor"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ])
