// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that embedding the library never resolves a web server.
let package = Package(
  name: "cambium-serve",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "cambium-serve", targets: ["cambium-serve"])],
  dependencies: [
    .package(name: "cambium", path: "../..", traits: ["Zstd", "Crypto", "RocksDB"]),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "cambium-serve",
      dependencies: [
        .product(name: "CambiumWeb", package: "cambium"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
