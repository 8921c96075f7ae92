// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because its programs only link with the fuzzer: `make fuzz` builds them.
let package = Package(
  name: "cambium-fuzz",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "fuzz", targets: ["fuzz"])],
  dependencies: [.package(name: "cambium", path: "../..", traits: ["Zstd", "Crypto"])],
  targets: [
    // The tests of the library replay the corpus through the same code.
    .target(
      name: "FuzzTargets",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumFile", package: "cambium"),
        .product(name: "CambiumZstd", package: "cambium"),
        .product(name: "CambiumCrypto", package: "cambium"),
        .product(name: "CambiumRealmFile", package: "cambium"),
      ],
      swiftSettings: [.define("Zstd"), .define("Crypto")]),
    .executableTarget(name: "fuzz", dependencies: ["FuzzTargets"]),
  ],
  swiftLanguageModes: [.v6]
)
