// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "todo",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "todo",
      dependencies: [
        .product(name: "Cambium", package: "cambium")
      ])
  ],
  swiftLanguageModes: [.v6]
)
