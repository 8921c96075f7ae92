// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that embedding the library never resolves what a server uses beside it.
let package = Package(
  name: "cambium-service",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "service", targets: ["service"])],
  dependencies: [
    .package(name: "cambium", path: "../.."),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "service",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
