// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no one else builds what links with libFuzzer; `run` builds and runs it.
//
// The rooms in Sources are links to those of the house: they are built once more, with the instructions that tell libFuzzer
// where an input led, and as targets of this package, since what they have for each other is `package`.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

func fuzzer(_ name: String) -> Target {
  .executableTarget(name: name, dependencies: ["Fuzzing"], swiftSettings: settings)
}

let package = Package(
  name: "stagedoor-fuzz",
  targets: [
    .target(name: "XML", swiftSettings: settings),
    .target(name: "SceneModel", dependencies: ["XML"], swiftSettings: settings),
    .target(name: "SceneTestSupport", dependencies: ["SceneModel"], swiftSettings: settings),
    .target(name: "Fuzzing", dependencies: ["SceneTestSupport"], swiftSettings: settings),
    fuzzer("fuzz-payload"), fuzzer("fuzz-manifest"), fuzzer("fuzz-predicate"), fuzzer("fuzz-values"),
  ]
)
