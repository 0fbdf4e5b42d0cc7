// swift-tools-version: 6.2
import PackageDescription

/// Settings shared by every target, as in the driver's package.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
]

let database = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let varlink = Target.Dependency.product(name: "Varlink", package: "swift-uwb")
let web = Target.Dependency.product(name: "FlyingFox", package: "FlyingFox")
let sockets = Target.Dependency.product(name: "FlyingSocks", package: "FlyingFox")
/// The files of the page, which become a part of the program.
let page = [
  "chip.html", "chip.js", "draw.js", "edit.js", "icon.svg", "main.js", "map.js", "model.js",
  "page.css", "page.html", "panel.js", "replay.js", "server.js", "units.js",
]
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "Site",
  products: [
    .library(name: "UWBSite", targets: ["UWBSite"]),
    .executable(name: "uwbsite", targets: ["uwbsite"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // The driver's public interface, whatever the folder of the clone is called.
    .package(name: "swift-uwb", path: ".."),
    // Needs the headers of SQLite: libsqlite3-dev.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    // Pure values: no input or output, no threads, no clock.
    .target(name: "UWBSite", swiftSettings: strict),
    // Sources of measurements, the engine's loop, and the receivers of its events.
    .target(
      name: "SiteServer",
      dependencies: [
        "UWBSite", database, sockets, varlink, web, .product(name: "UWB", package: "swift-uwb"),
      ],
      resources: [.embedInCode("Service/org.swift-uwb.Site.varlink")]
        + page.map { .embedInCode("Web/Page/\($0)") },
      swiftSettings: strict),
    .executableTarget(
      name: "uwbsite", dependencies: ["SiteScenarios", "SiteServer", "UWBSite", arguments],
      swiftSettings: strict),
    // Simulated anchors, tags, rooms and doors, for tests, figures and the demo.
    .target(
      name: "SiteScenarios", dependencies: ["SiteServer", "UWBSite"], swiftSettings: strict),
    .executableTarget(
      name: "SiteFigures",
      dependencies: ["SiteScenarios", "SiteServer", "UWBSite", arguments],
      path: "Benchmarks/SiteFigures", swiftSettings: strict),
    .executableTarget(
      name: "SiteWork", dependencies: ["UWBSite"], path: "Benchmarks/SiteWork",
      swiftSettings: strict),
    .testTarget(
      name: "UWBSiteTests", dependencies: ["SiteScenarios", "UWBSite"], swiftSettings: strict),
    .testTarget(
      name: "SiteServerTests",
      dependencies: ["SiteScenarios", "SiteServer", "UWBSite", database, varlink, web],
      exclude: ["Captures"], swiftSettings: strict),
    .testTarget(
      name: "uwbsiteTests",
      dependencies: ["SiteScenarios", "SiteServer", "UWBSite", "uwbsite", arguments],
      swiftSettings: strict),
  ]
)
