// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ranging",
  dependencies: [
    .package(url: "https://github.com/swift-uwb/swift-uwb", from: "0.1.0")
  ],
  targets: [
    .executableTarget(
      name: "ranging",
      dependencies: [.product(name: "UWB", package: "swift-uwb")])
  ]
)
