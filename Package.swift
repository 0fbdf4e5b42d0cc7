// swift-tools-version: 6.2
import PackageDescription

/// Settings shared by every Swift target. None of them is an unsafe flag, so that other packages
/// can depend on these libraries.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// For the libraries and programs: each unsafe expression has to be spelled out as `unsafe`.
let memorySafe: [SwiftSetting] = strict + [.strictMemorySafety()]

/// `RawSpan` held in a struct needs lifetime annotations, which 6.x still calls experimental.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

let atomics = Target.Dependency.product(name: "Atomics", package: "swift-atomics")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let benchmark = Target.Dependency.product(name: "Benchmark", package: "swift-benchmark")

let package = Package(
  name: "swift-uwb",
  products: [
    .library(name: "UWB", targets: ["UWB"]),
    .library(name: "Ranging", targets: ["Ranging"]),
    .library(name: "AccessoryProtocol", targets: ["Accessory", "AccessoryProtocol", "Channels"]),
    .library(name: "NearbyInteraction", targets: ["NearbyInteraction"]),
    // For apps that write `import simd`, and bring no module of that name themselves.
    .library(name: "simd", targets: ["simd"]),
    .library(name: "UWBSimulator", targets: ["UWBSimulator"]),
    .library(name: "UWBLab", targets: ["Estimators", "UWBLab"]),
    // Local services and their clients, such as the ones of uwbd and uwbsite.
    .library(name: "Varlink", targets: ["Varlink"]),
    .executable(name: "uwbctl", targets: ["uwbctl"]),
    .executable(name: "uwblab", targets: ["uwblab"]),
    .executable(name: "uwbd", targets: ["uwbd"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/google/swift-benchmark", from: "0.1.2"),
  ],
  targets: [
    // The data path, in the order in which a frame travels it.
    .target(name: "CUWB", path: "CUWB", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "UCI", path: "Sources/Driver/UCI", swiftSettings: memorySafe + lifetimes),
    .target(
      name: "UCIReference", dependencies: ["UCI"], path: "Sources/Driver/UCIReference",
      swiftSettings: memorySafe + lifetimes),
    .target(
      name: "System", dependencies: ["CUWB", atomics, deque, system], path: "Sources/Ground/System",
      swiftSettings: memorySafe),
    .target(name: "JSON", path: "Sources/Ground/JSON", swiftSettings: memorySafe),
    .target(
      name: "UWBLink",
      dependencies: ["CUWB", "System", atomics, deque, system],
      path: "Sources/Driver/UWBLink", swiftSettings: memorySafe + lifetimes),
    .target(name: "Ranging", path: "Sources/Driver/Ranging", swiftSettings: memorySafe),
    .target(
      name: "UWB",
      dependencies: [
        "ChipSharing", "JSON", "UCI", "UCIReference", "UWBLink", "Ranging", "System", system,
        logging,
      ],
      path: "Sources/Driver/UWB", swiftSettings: memorySafe + lifetimes),
    // Bluetooth LE through bluetoothd.
    .target(
      name: "Bluetooth", dependencies: ["System", system], path: "Sources/Nearby/Bluetooth",
      swiftSettings: memorySafe),
    // Channels of messages over sockets and Bluetooth LE, for accessories and peers.
    .target(
      name: "Channels", dependencies: ["Bluetooth", "System", system],
      path: "Sources/Nearby/Channels", swiftSettings: memorySafe),
    // The bytes between accessories and apps.
    .target(
      name: "AccessoryProtocol", dependencies: ["UCI", "UCIReference", "Ranging", "UWB"],
      path: "Sources/Nearby/AccessoryProtocol", swiftSettings: memorySafe + lifetimes),
    .target(
      name: "Accessory",
      dependencies: [
        "AccessoryProtocol", "Bluetooth", "Channels", "UCI", "UCIReference", "Ranging", "UWB",
        "System",
      ],
      path: "Sources/Nearby/Accessory", swiftSettings: memorySafe + lifetimes),
    .target(name: "SIMDMath", path: "Sources/Nearby/SIMDMath", swiftSettings: memorySafe),
    .target(
      name: "simd", dependencies: ["SIMDMath"], path: "Sources/Nearby/simd",
      swiftSettings: memorySafe),
    // Sessions between two Linux machines, which find each other in the network or over Bluetooth LE.
    .target(
      name: "Peers",
      dependencies: [
        "Bluetooth", "Channels", "UCI", "UCIReference", "UWB", "System", system,
      ],
      path: "Sources/Nearby/Peers", swiftSettings: memorySafe + lifetimes),
    .target(
      name: "NearbyInteraction",
      dependencies: [
        "SIMDMath", "AccessoryProtocol", "Channels", "JSON", "Peers", "UCI", "UCIReference",
        "UWBLink", "UWB", "Estimators", "Ranging", "System", deque, system,
      ],
      path: "Sources/Nearby/NearbyInteraction", swiftSettings: memorySafe + lifetimes),

    // The other end of the wire.
    .target(
      name: "UWBSimulator", dependencies: ["UCI", "System", deque, system],
      path: "Sources/Simulator/UWBSimulator", swiftSettings: memorySafe + lifetimes),

    // Text, lines of JSON and files of JSON: measurements, devices and calibrations.
    .target(
      name: "Formats", dependencies: ["JSON", "UCI", "UCIReference", "UWB", "Ranging", "System"],
      path: "Sources/Driver/Formats", swiftSettings: memorySafe + lifetimes),

    // Fits and smoothers of recordings, which no driver needs.
    .target(
      name: "Estimators", dependencies: ["Ranging"], path: "Sources/Lab/Estimators",
      swiftSettings: memorySafe),

    // Tables, plots and calibration procedures.
    .target(
      name: "UWBLab",
      dependencies: [
        "Formats", "JSON", "UCI", "UWB", "UWBLink", "Estimators", "Ranging", "System", system,
      ],
      path: "Sources/Lab/UWBLab", swiftSettings: memorySafe + lifetimes),

    // Messages, servers and clients of local services.
    .target(
      name: "Varlink", dependencies: ["JSON", "System", system], path: "Sources/Ground/Varlink",
      swiftSettings: memorySafe),
    // The interface of the service that shares chips, for the service and for its clients.
    .target(
      name: "ChipSharing", dependencies: ["JSON", "Varlink", system],
      path: "Sources/Driver/ChipSharing", resources: [.embedInCode("org.swift-uwb.Chips.varlink")],
      swiftSettings: memorySafe),

    // The shell.
    .target(
      name: "CVersion", path: "Sources/Shell/CVersion",
      cSettings: [.define("UWB_COMMIT", to: "\"\(Context.environment["UWB_COMMIT"] ?? "")\"")]),
    // Options of devices, endings, messages and statuses of every program at a terminal.
    .target(
      name: "CommandSupport",
      dependencies: [
        "CVersion", "Formats", "UCI", "UCIReference", "UWBLink", "UWB", "UWBSimulator", "System",
        system, logging, arguments,
      ],
      path: "Sources/Shell/CommandSupport", swiftSettings: memorySafe + lifetimes),
    // The diagnoses, packet links and files that the commands of uwbctl print.
    .target(
      name: "UWBTools",
      dependencies: [
        "ChipSharing", "CommandSupport", "JSON", "UCI", "UCIReference", "UWBLink", "UWB", "Ranging",
        "AccessoryProtocol", "Bluetooth", "Channels", "Peers", "UWBSimulator", "Formats", "System",
        "Varlink", system, arguments,
      ],
      path: "Sources/Shell/UWBTools",
      resources: [
        .embedInCode("uwb.rules"), .embedInCode("org.swift-uwb.Range.varlink"),
        .embedInCode("uwbuci.lua"),
      ],
      swiftSettings: memorySafe + lifetimes),
    .executableTarget(
      name: "uwbctl",
      dependencies: [
        "CommandSupport", "UWBTools", "UCI", "UCIReference", "UWBLink", "UWB", "Ranging",
        "UWBSimulator", "Accessory", "AccessoryProtocol", "Bluetooth", "Channels", "Peers",
        "Formats", "System", system, arguments,
      ],
      path: "Sources/Shell/uwbctl", swiftSettings: memorySafe + lifetimes),
    .executableTarget(
      name: "uwblab",
      dependencies: [
        "CommandSupport", "Formats", "UCI", "UWBLink", "UWB", "Estimators", "Ranging",
        "UWBSimulator", "UWBLab", system, arguments,
      ],
      path: "Sources/Lab/uwblab", swiftSettings: memorySafe + lifetimes),

    // The service that shares chips.
    .target(
      name: "UWBService",
      dependencies: [
        "ChipSharing", "JSON", "Varlink", "UCI", "UCIReference", "Ranging", "UWBLink", "UWB",
        "Formats", "System", deque, logging,
      ],
      path: "Sources/Service/UWBService", swiftSettings: memorySafe + lifetimes),
    // Its program: options, systemd, the journal and boards.
    .executableTarget(
      name: "uwbd",
      dependencies: [
        "CVersion", "UWBService", "UCI", "UWBLink", "Ranging", "Formats", "System", "Varlink",
        system, logging, arguments,
      ],
      path: "Sources/Service/uwbd", swiftSettings: memorySafe),

    // Examples of Nearby Interaction, each with an app and simulated chips.
    .target(
      name: "ExampleEnvironment",
      dependencies: ["Accessory", "Channels", "UWB", "UWBLink", "UWBSimulator", system],
      path: "Sources/Examples/Environment", swiftSettings: strict),
    .executableTarget(
      name: "AccessoryRegions",
      dependencies: ["ExampleEnvironment", "NearbyInteraction", "UWBSimulator"],
      path: "Sources/Examples/AccessoryRegions", swiftSettings: strict),
    .executableTarget(
      name: "SeveralAccessories",
      dependencies: [
        "Accessory", "Channels", "ExampleEnvironment", "NearbyInteraction", "UWBSimulator",
      ],
      path: "Sources/Examples/SeveralAccessories", swiftSettings: strict),
    .executableTarget(
      name: "GuidedFinding",
      dependencies: ["ExampleEnvironment", "NearbyInteraction", "UWBSimulator"],
      path: "Sources/Examples/GuidedFinding", swiftSettings: strict),
    .executableTarget(
      name: "PeerRanging",
      dependencies: ["ExampleEnvironment", "NearbyInteraction", "UWBSimulator"],
      path: "Sources/Examples/PeerRanging", swiftSettings: strict),
    .executableTarget(
      name: "AnchorPlaces",
      dependencies: [
        "ExampleEnvironment", "NearbyInteraction", "UCI", "UWB", "UWBSimulator", system,
      ],
      path: "Sources/Examples/AnchorPlaces", swiftSettings: strict),
    .executableTarget(
      name: "BackgroundRanging",
      dependencies: [
        "Accessory", "Channels", "ExampleEnvironment", "NearbyInteraction", "UWBSimulator",
      ],
      path: "Sources/Examples/BackgroundRanging", swiftSettings: strict),

    // Rings that the benchmark compares with; those of other libraries where they are installed.
    .target(name: "RingPeers", dependencies: ["CUWBTestSupport"], path: "Benchmarks/RingPeers"),
    .executableTarget(
      name: "UWBBenchmarks",
      dependencies: [
        "CUWB", "CUWBTestSupport", "Formats", "JSON", "LineSimulation", "RingPeers", "UCI",
        "UWBLink",
        "UWB", "Estimators", "Ranging", "RangingScenes", "UWBSimulator", "NearbyInteraction",
        system,
        benchmark, "System",
      ],
      path: "Benchmarks",
      exclude: [
        "compare", "Instructions/count", "Instructions/Counts", "RingPeers", "Service/clients.py",
      ],
      swiftSettings: strict + lifetimes),

    // Runs inside of the virtual machine of Tests/VirtualBench/run.
    .executableTarget(
      name: "VirtualBench",
      dependencies: [
        "AccessoryProtocol", "Bluetooth", "CUWB", "Channels", "ChipModels", "NearbyInteraction",
        "UCI", "UWB",
        "UWBLink", "UWBSimulator", "System",
      ],
      path: "Tests/VirtualBench",
      exclude: ["run", "check-endings", "Host", "Guest", "Module"], sources: ["Driver"],
      swiftSettings: strict + lifetimes),

    // Tests.
    .target(
      name: "CUWBTestSupport", path: "Tests/CUWBTestSupport",
      cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "ChipModels", dependencies: ["CUWB"], path: "Tests/ChipModels",
      cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "CUWBScenarios", dependencies: ["CUWB", "ChipModels"], path: "Tests/CUWBScenarios",
      cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "UWBTestSupport", dependencies: ["CUWBTestSupport", "System", "UWBLink", system],
      path: "Tests/UWBTestSupport",
      swiftSettings: strict),
    .target(
      name: "DriverTestSupport", dependencies: ["UWB", "UWBTestSupport"],
      path: "Tests/DriverTestSupport", swiftSettings: strict),
    .target(
      name: "LineSimulation", dependencies: ["CUWB"], path: "Tests/LineSimulation",
      swiftSettings: strict),
    .testTarget(
      name: "CUWBTests",
      dependencies: [
        "CUWB", "CUWBTestSupport", "CUWBScenarios", "LineSimulation", "UWBTestSupport",
      ],
      exclude: ["Sanitized"],
      swiftSettings: strict),
    .target(
      name: "UCITestSupport", dependencies: ["UCI"], path: "Tests/UCITestSupport",
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "UCITests", dependencies: ["UCI", "UCIReference", "UCITestSupport", "UWBTestSupport"],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "UCIReferenceTests", dependencies: ["UCI", "UCIReference", "UCITestSupport"],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "SystemTests", dependencies: ["System", "UWBTestSupport", system],
      swiftSettings: strict),
    .testTarget(
      name: "UWBLinkTests",
      dependencies: ["CUWB", "UWBLink", "UWBTestSupport", "System", system],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "UWBTests",
      dependencies: [
        "UCI", "UCIReference", "UWBLink", "UWB", "UWBSimulator", "Ranging", "CUWBTestSupport",
        "UWBTestSupport", "System", system, logging, "DriverTestSupport",
      ],
      swiftSettings: strict + lifetimes),
    .target(
      name: "RangingScenes", dependencies: ["Estimators", "Ranging"], path: "Tests/RangingScenes",
      swiftSettings: strict),
    .testTarget(
      name: "RangingTests", dependencies: ["Ranging", "RangingScenes", "UWBTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "EstimatorsTests",
      dependencies: ["Estimators", "Ranging", "RangingScenes", "UWBTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "UWBSimulatorTests",
      dependencies: ["UCI", "UWBSimulator", "UWBTestSupport", "Ranging", system],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "ChannelsTests", dependencies: ["Channels", "System", system], swiftSettings: strict),
    .testTarget(
      name: "AccessoryProtocolTests",
      dependencies: ["AccessoryProtocol", "UCI", "UCIReference", "UWB"],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "AccessoryTests",
      dependencies: [
        "Accessory", "AccessoryProtocol", "Channels", "UCI", "UCIReference", "UWBLink", "UWB",
        "UWBSimulator", "Ranging", "CUWBTestSupport", "System", "UWBTestSupport", system,
        "DriverTestSupport",
      ],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "BluetoothTests",
      dependencies: [
        "Accessory", "AccessoryProtocol", "Bluetooth", "CUWBTestSupport", "Channels", "System",
        "Peers", "UWB", "UWBSimulator", "UWBTestSupport", system, "DriverTestSupport",
      ],
      swiftSettings: strict),
    // Like apps: the language mode and the settings that most of them have.
    .testTarget(
      name: "NearbyInteractionCompileTests", dependencies: ["NearbyInteraction", "simd"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "NearbyInteractionTests",
      dependencies: [
        "NearbyInteraction", "SIMDMath", "Accessory", "AccessoryProtocol", "Channels", "Peers",
        "UCI", "UCIReference", "UWBLink", "UWB", "Estimators", "Ranging", "UWBSimulator",
        "UWBTestSupport", "CUWBTestSupport", "System", system, "DriverTestSupport",
      ],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "FormatsTests",
      dependencies: ["Formats", "JSON", "UCI", "UWB", "Ranging", "UWBTestSupport"],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "UWBLabTests",
      dependencies: [
        "UWBLab", "UWB", "Estimators", "Ranging", "RangingScenes", "UWBTestSupport",
      ],
      swiftSettings: strict + lifetimes),
    .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
    .testTarget(
      name: "ChipSharingTests",
      dependencies: ["ChipSharing", "JSON", "System", "UWBTestSupport", "Varlink", system],
      swiftSettings: strict),
    .testTarget(
      name: "VarlinkTests", dependencies: ["JSON", "System", "UWBTestSupport", "Varlink", system],
      swiftSettings: strict),
    // Programs in processes of their own.
    .target(
      name: "ProgramTestSupport",
      dependencies: ["UCI", "UWBSimulator", "UWBTestSupport", arguments],
      path: "Tests/ProgramTestSupport", swiftSettings: strict),
    .testTarget(
      name: "uwbctlTests",
      dependencies: [
        "uwbctl", "uwblab", "CommandSupport", "UWBTools", "Formats", "ProgramTestSupport", "UCI",
        "UWB", "UWBLink", "Ranging", "UWBSimulator", "UWBTestSupport", "Accessory",
        "AccessoryProtocol", "Channels", "Peers", "System", arguments, system, "DriverTestSupport",
      ],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "UWBToolsTests",
      dependencies: [
        "ChipSharing", "uwbctl", "CommandSupport", "UWBTools", "Formats", "ProgramTestSupport",
        "JSON", "UCI",
        "UCIReference", "UWB", "UWBLink", "UWBSimulator", "UWBTestSupport", "Channels",
        "AccessoryProtocol", "Ranging", arguments, system, "DriverTestSupport",
      ],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "CommandSupportTests",
      dependencies: [
        "uwbctl", "CommandSupport", "Formats", "ProgramTestSupport", "System", "UCI", "UWB",
        "UWBLink", "UWBSimulator", "UWBTestSupport", arguments,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "uwblabTests",
      dependencies: [
        "uwblab", "CommandSupport", "ProgramTestSupport", "UWB", "UWBLab", "Estimators", "Ranging",
        "UWBSimulator", "UWBTestSupport", arguments,
      ],
      swiftSettings: strict + lifetimes),
    .testTarget(
      name: "uwbdTests",
      dependencies: [
        "ChipSharing", "uwbd", "uwbctl", "UWBService", "JSON", "Varlink", "UCI", "UWB", "Formats",
        "UWBLink",
        "UWBSimulator", "Accessory", "AccessoryProtocol", "Channels", "NearbyInteraction",
        "CommandSupport", "ProgramTestSupport", "UWBTestSupport", "System",
        logging,
        system, "DriverTestSupport",
      ],
      swiftSettings: strict + lifetimes),
  ],
  cLanguageStandard: .c11
)

// Only these tests with their dependencies, and the libraries, which snippets need: a faster build
// for .ci/threads.
if let names = Context.environment["UWB_TESTS"]?.split(separator: "|").map(String.init) {
  func needed(by name: String) -> [String] {
    let dependencies = package.targets.first { $0.name == name }?.dependencies ?? []
    return dependencies.reduce(into: [name]) { names, dependency in
      if case .byNameItem(let name, _) = dependency { names += needed(by: name) }
    }
  }
  package.products.removeAll { $0 is Product.Executable }
  for name in names where !package.targets.contains(where: { $0.name == name }) {
    fatalError("UWB_TESTS: there is no target \(name)")
  }
  let libraries = package.products.compactMap { $0 as? Product.Library }.flatMap(\.targets)
  let needed = Set((names + libraries).flatMap(needed))
  package.targets.removeAll { !needed.contains($0.name) }
}

/// Makes a program a library, whose main function has another name: `uwbctl_main`.
@MainActor func makeLibrary(_ name: String) {
  guard let index = package.targets.firstIndex(where: { $0.name == name }) else { return }
  let program = package.targets[index]
  package.products.removeAll { $0.name == name }
  package.targets[index] = .target(
    name: name, dependencies: program.dependencies, path: program.path,
    resources: program.resources,
    swiftSettings: (program.swiftSettings ?? []) + [
      .unsafeFlags(
        ["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "\(name)_main"])
    ])
}

// All programs in one file, for packaging/debian/rules only: each alone has the libraries in it.
if Context.environment["UWB_PACKAGE"] != nil {
  let programs = ["uwbctl", "uwbd", "uwblab"]
  for name in programs { makeLibrary(name) }
  package.targets.removeAll { $0.type == .test }
  package.products.append(.executable(name: "uwb-programs", targets: ["Programs"]))
  package.targets.append(
    .executableTarget(
      name: "Programs", dependencies: programs.map { .byName(name: $0) },
      path: "packaging/programs"))
}

// The fuzzers, for Tests/Fuzz/run.sh only: libFuzzer brings their main function.
if Context.environment["UWB_FUZZ"] != nil {
  package.targets += [
    .target(
      name: "Meter", path: "Tests/Fuzz/Sources/Meter", cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Meter", "UCI", "UCIReference", "UWB", "AccessoryProtocol", "Ranging", "Formats", "UWBLab",
        "UWBSimulator", "Peers", "JSON", "Varlink", "CommandSupport", "UWBTools",
      ],
      path: "Tests/Fuzz/Sources/Fuzz", swiftSettings: strict + lifetimes),
  ]
}
