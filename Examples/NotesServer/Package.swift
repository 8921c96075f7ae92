// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "notes-server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: "../.."),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "notes-server",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
