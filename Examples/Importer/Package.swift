// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "importer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "importer",
      dependencies: [
        .product(name: "Cambium", package: "cambium")
      ])
  ],
  swiftLanguageModes: [.v6]
)
