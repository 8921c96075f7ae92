// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "quota",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "quota",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumCore", package: "cambium"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
