// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package of its own, so that everything it depends on can be built with the counters that guide
// libFuzzer. Built and run by run.sh.
let package = Package(
  name: "uwb-fuzz",
  dependencies: [.package(name: "swift-uwb", path: "../..")],
  targets: [
    .target(name: "Meter", cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Meter",
        .product(name: "AccessoryProtocol", package: "swift-uwb"),
        .product(name: "UWB", package: "swift-uwb"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableExperimentalFeature("Lifetimes"),
      ]),
  ],
  cLanguageStandard: .c11
)
