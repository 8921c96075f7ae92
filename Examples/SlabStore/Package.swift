// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "slab",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "slab",
      dependencies: [
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumStoreContract", package: "cambium"),
        .product(name: "CambiumStoreKit", package: "cambium"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
